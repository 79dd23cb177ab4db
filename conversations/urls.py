from django.urls import URLPattern, URLResolver

app_name = "conversations"

urlpatterns: list[URLPattern | URLResolver] = []
