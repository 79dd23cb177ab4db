from django.urls import URLPattern, URLResolver

app_name = "ledger"

urlpatterns: list[URLPattern | URLResolver] = []
