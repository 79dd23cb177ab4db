from django.urls import URLPattern, URLResolver

app_name = "console"

urlpatterns: list[URLPattern | URLResolver] = []
