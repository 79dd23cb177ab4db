from django.urls import URLPattern, URLResolver

app_name = "retention"

urlpatterns: list[URLPattern | URLResolver] = []
