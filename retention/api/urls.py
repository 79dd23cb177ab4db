"""The addresses of holds and erasure requests under the API's version."""

from django.urls import path

from retention.api.erasures import ErasuresView, ErasureView, ReceiptView
from retention.api.holds import HoldsView, HoldView, ReleaseRequestView

urlpatterns = [
    path("holds", HoldsView.as_view(), name="holds"),
    path("holds/<uuid:hold_id>", HoldView.as_view(), name="hold"),
    path("holds/<uuid:hold_id>/release-request", ReleaseRequestView.as_view(), name="release-request"),
    path("erasures", ErasuresView.as_view(), name="erasures"),
    path("erasures/<slug:number>", ErasureView.as_view(), name="erasure"),
    path("erasures/<slug:number>/receipt", ReceiptView.as_view(), name="erasure-receipt"),
]
