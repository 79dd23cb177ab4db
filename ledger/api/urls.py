"""The addresses of effects under the API's version."""

from django.urls import path

from ledger.api.effects import EffectsView, EffectView, HistoryView
from ledger.api.questions import QuestionsView, QuestionView
from ledger.api.sending import SentView, SettleView

urlpatterns = [
    path("effects", EffectsView.as_view(), name="effects"),
    path("effects/<uuid:effect_id>", EffectView.as_view(), name="effect"),
    path("effects/<uuid:effect_id>/sent", SentView.as_view(), name="effect-sent"),
    path("effects/<uuid:effect_id>/settle", SettleView.as_view(), name="effect-settle"),
    path("effects/<uuid:effect_id>/history", HistoryView.as_view(), name="effect-history"),
    path("questions", QuestionsView.as_view(), name="questions"),
    path("questions/<uuid:question_id>", QuestionView.as_view(), name="question"),
]
