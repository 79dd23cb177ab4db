from django.urls import URLPattern, URLResolver, path

from ledger import views

app_name = "ledger"

urlpatterns: list[URLPattern | URLResolver] = [
    path("webhooks/stripe", views.stripe_webhook, name="stripe_webhook"),
]
