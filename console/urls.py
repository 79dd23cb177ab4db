from django.urls import URLPattern, URLResolver, path

from console.views.keys import single_keys

app_name = "console"

urlpatterns: list[URLPattern | URLResolver] = [
    path("keys/", single_keys, name="single-keys"),
]
