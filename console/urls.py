from django.urls import URLPattern, URLResolver, include, path

from console.views import (
    access_log,
    accounts,
    bodies,
    compare,
    conversation,
    conversations,
    home,
    jobs,
    notes,
)
from console.views.keys import single_keys
from console.views.search import search

app_name = "console"

# Addresses within one conversation; `conversation` itself is first.
CONVERSATION: list[URLPattern | URLResolver] = [
    path("", conversation.conversation, name="conversation"),
    path("thread/", conversation.thread_piece, name="thread-piece"),
    path("open/", conversation.open_conversation, name="open-conversation"),
    path("close/", conversation.close_conversation, name="close-conversation"),
    path("compare/", compare.compare, name="compare"),
    path("notes/", notes.add_note, name="write-note"),
    path("reveal/", notes.reveal_personal, name="reveal-personal"),
    path("messages/<int:seq>/blocks/<int:ordinal>/", bodies.part, name="part"),
    path("messages/<int:seq>/blocks/<int:ordinal>/file", bodies.attachment, name="attachment"),
    path("messages/<int:seq>/next-body/", bodies.next_body, name="next-body"),
    path("attempts/<int:number>/", bodies.attempt, name="attempt"),
    path("attempts/<int:number>/body", bodies.replay_body, name="replay-body"),
    path("raw/<uuid:raw_id>/", bodies.raw_body, name="raw-body"),
]

JOBS: list[URLPattern | URLResolver] = [
    path("", jobs.jobs, name="jobs"),
    path("start/<str:name>/", jobs.start, name="start-job"),
    path("runs/", jobs.runs, name="job-runs"),
    path("runs/<uuid:run_id>/", jobs.run, name="job-run"),
    path("runs/<uuid:run_id>/progress/", jobs.progress, name="job-progress"),
    path("runs/<uuid:run_id>/stop/", jobs.stop, name="stop-job"),
    path("runs/<uuid:run_id>/resume/", jobs.go_on, name="resume-job"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("search/", search, name="search"),
    path("keys/", single_keys, name="single-keys"),
    path("conversations/", conversations.conversations, name="conversations"),
    path("conversations/list.csv", conversations.conversations_csv, name="conversations-csv"),
    path("conversations/<uuid:conversation_id>/", include(CONVERSATION)),
    path("accounts/", accounts.accounts, name="accounts"),
    path("accounts/<uuid:account_id>/", accounts.account, name="account"),
    path("accounts/<uuid:account_id>/reveal/", accounts.reveal_account, name="reveal-account"),
    path("jobs/", include(JOBS)),
    path("access-log/", access_log.access_log, name="access-log"),
    path("access-log/lines.csv", access_log.access_log_csv, name="access-log-csv"),
]
