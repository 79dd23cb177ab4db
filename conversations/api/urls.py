"""The addresses of conversations, below /api/v1/."""

from django.urls import URLPattern, path

from conversations.api import bodies, conversations, endings, generations, heads, messages, paths, summaries

_CONVERSATION = "conversations/<uuid:conversation_id>"
_MESSAGE = f"{_CONVERSATION}/messages/<int:seq>"
_GENERATION = "generations/<str:generation_id>"

urlpatterns: list[URLPattern] = [
    path("conversations", conversations.ConversationsView.as_view(), name="conversations"),
    path(_CONVERSATION, paths.ConversationView.as_view(), name="conversation"),
    path(f"{_CONVERSATION}/tree", paths.TreeView.as_view(), name="tree"),
    path(f"{_CONVERSATION}/head", heads.HeadView.as_view(), name="head"),
    path(f"{_CONVERSATION}/head-moves", paths.HeadMovesView.as_view(), name="head-moves"),
    path(f"{_CONVERSATION}/fork", conversations.ForkView.as_view(), name="fork"),
    path(f"{_CONVERSATION}/messages", messages.MessagesView.as_view(), name="messages"),
    path(_MESSAGE, messages.MessageView.as_view(), name="message"),
    path(f"{_MESSAGE}/edit", messages.EditView.as_view(), name="edit-message"),
    path(f"{_CONVERSATION}/tool-results", messages.ToolResultsView.as_view(), name="tool-results"),
    path(f"{_CONVERSATION}/generations", generations.GenerationsView.as_view(), name="generations"),
    path(f"{_CONVERSATION}/next-body", bodies.NextBodyView.as_view(), name="next-body"),
    path(f"{_CONVERSATION}/context", bodies.ContextView.as_view(), name="context"),
    path(f"{_CONVERSATION}/summaries", summaries.SummariesView.as_view(), name="summaries"),
    path(f"{_CONVERSATION}/chunks", summaries.ChunksView.as_view(), name="chunks"),
    path(
        f"{_CONVERSATION}/chunks/<uuid:chunk_id>/citation", summaries.CitationView.as_view(), name="citation"
    ),
    path(_GENERATION, generations.GenerationView.as_view(), name="generation"),
    path(f"{_GENERATION}/regenerate", generations.RegenerateView.as_view(), name="regenerate"),
    path(f"{_GENERATION}/finish", endings.FinishView.as_view(), name="finish-generation"),
    path(f"{_GENERATION}/fail", endings.FailView.as_view(), name="fail-generation"),
    path(f"{_GENERATION}/cancel", endings.CancelView.as_view(), name="cancel-generation"),
    path(f"{_GENERATION}/usage", endings.UsageView.as_view(), name="usage-of-generation"),
    path(f"{_GENERATION}/replay-body", bodies.ReplayBodyView.as_view(), name="replay-body"),
]
