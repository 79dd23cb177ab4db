from django.urls import URLPattern, URLResolver, include, path

from console.views import (
    abandoned,
    access_log,
    accounts,
    api_keys,
    bodies,
    compare,
    conversation,
    conversations,
    costs,
    desks,
    effects,
    erasures,
    findings,
    holds,
    home,
    jobs,
    notes,
    person_export,
    policies,
    reconciliations,
    redaction,
    standing,
    statement,
    statements,
    tool_registry,
    tools,
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
    path("compare.csv", compare.compare_csv, name="compare-csv"),
    path("notes/", notes.add_note, name="write-note"),
    path("reveal/", notes.reveal_personal, name="reveal-personal"),
    path("messages/<int:seq>/blocks/<int:ordinal>/", bodies.part, name="part"),
    path("messages/<int:seq>/blocks/<int:ordinal>/file", bodies.attachment, name="attachment"),
    path("messages/<int:seq>/next-body/", bodies.next_body, name="next-body"),
    path("attempts/<int:number>/", bodies.attempt, name="attempt"),
    path("attempts/<int:number>/body", bodies.replay_body, name="replay-body"),
    path("raw/<uuid:raw_id>/", bodies.raw_body, name="raw-body"),
    path("retention/", standing.standing, name="standing"),
    path("redact/", redaction.redact, name="redact"),
    path("retention/return/", standing.return_from_archive, name="return-from-archive"),
]

RETENTION: list[URLPattern | URLResolver] = [
    path("policies/", policies.policies, name="policies"),
    path("policies/change/", policies.change, name="change-policy"),
    path("redaction/", redaction.redactions, name="redactions"),
    path("redaction/<slug:slug>/", redaction.realm_redaction, name="realm-redaction"),
    path("holds/", holds.holds, name="holds"),
    path("holds/place/", holds.place, name="place-hold"),
    path("holds/<uuid:hold_id>/", holds.hold, name="hold"),
    path("holds/<uuid:hold_id>/ask/", holds.ask_release, name="ask-release"),
    path("holds/<uuid:hold_id>/decide/", holds.decide_release, name="decide-release"),
    path("erasures/", erasures.erasures, name="erasures"),
    path("erasures/intake/", erasures.intake, name="erasure-intake"),
    path("erasures/<uuid:request_id>/", erasures.erasure, name="erasure"),
    path("erasures/<uuid:request_id>/copies.csv", erasures.copies_csv, name="erasure-copies"),
    path("erasures/<uuid:request_id>/copies/<int:copy_id>/", erasures.answer_copy, name="erasure-copy"),
    path("erasures/<uuid:request_id>/receipt/", erasures.receipt, name="erasure-receipt"),
    path("erasures/<uuid:request_id>/receipt.json", erasures.receipt_json, name="erasure-receipt-json"),
    path("erasures/<uuid:request_id>/<slug:action>/", erasures.act, name="erasure-act"),
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

API_KEYS: list[URLPattern | URLResolver] = [
    path("", api_keys.api_keys, name="api-keys"),
    path("new/", api_keys.new_api_key, name="new-api-key"),
    path("<int:key_id>/", api_keys.api_key, name="api-key"),
    path("<int:key_id>/exchange/", api_keys.exchange_api_key, name="exchange-api-key"),
    path("<int:key_id>/revoke/", api_keys.revoke_api_key, name="revoke-api-key"),
]

MONEY: list[URLPattern | URLResolver] = [
    path("effects/", effects.effects, name="effects"),
    path("effects/list.csv", effects.effects_csv, name="effects-csv"),
    path("effects/totals/", effects.effect_totals, name="effect-totals"),
    path("effects/<uuid:effect_id>/", effects.effect, name="effect"),
    path("effects/<uuid:effect_id>/refund/", effects.ask_refund, name="ask-refund"),
    path("refunds/", desks.refunds, name="refunds"),
    path("refunds/<uuid:compensation_id>/decide/", effects.decide_refund, name="decide-refund"),
    path("questions/", desks.questions, name="questions"),
    path("questions/<uuid:question_id>/answer/", desks.answer, name="answer-question"),
    path("events/", desks.events, name="events"),
    path("events/<uuid:event_id>/reprocess/", desks.reprocess, name="reprocess-event"),
    path("tool-registry/", tool_registry.registry, name="tool-registry"),
    path("tool-registry/new/", tool_registry.new_tool_policy, name="new-tool-policy"),
    path("tool-registry/<int:policy_id>/", tool_registry.tool_policy, name="tool-policy"),
    path("accounts/<uuid:account_id>/statement/", statement.account_statement, name="account-statement"),
    path(
        "accounts/<uuid:account_id>/statement/lines.csv",
        statement.account_statement_csv,
        name="account-statement-csv",
    ),
]

RECONCILIATION: list[URLPattern | URLResolver] = [
    path("findings/", findings.findings, name="findings"),
    path("findings/list.csv", findings.findings_csv, name="findings-csv"),
    path("findings/act/", findings.act_on_findings, name="act-on-findings"),
    path("findings/<int:finding_id>/", findings.finding, name="finding"),
    path("abandoned/", abandoned.abandoned_charges, name="abandoned"),
    path("abandoned/list.csv", abandoned.abandoned_csv, name="abandoned-csv"),
    path("reconciliations/", reconciliations.reconciliations, name="reconciliations"),
    path("reconciliations/start/", reconciliations.start, name="start-reconciliation"),
    path("reconciliations/<uuid:run_id>/", reconciliations.reconciliation, name="reconciliation"),
    path(
        "reconciliations/<uuid:run_id>/rows/",
        reconciliations.reconciliation_rows,
        name="reconciliation-rows",
    ),
    path(
        "reconciliations/<uuid:run_id>/rows.csv",
        reconciliations.reconciliation_csv,
        name="reconciliation-csv",
    ),
    path(
        "reconciliations/<uuid:run_id>/print/",
        reconciliations.printed_reconciliation,
        name="printed-reconciliation",
    ),
    path("reconciliations/<uuid:run_id>/repeat/", reconciliations.repeat, name="repeat-reconciliation"),
    path("statements/", statements.statements, name="statements"),
    path("statements/import/", statements.import_file, name="import-statement"),
    path("statements/<uuid:statement_id>/", statements.statement, name="statement"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("search/", search, name="search"),
    path("keys/", single_keys, name="single-keys"),
    path("api-keys/", include(API_KEYS)),
    path("conversations/", conversations.conversations, name="conversations"),
    path("conversations/list.csv", conversations.conversations_csv, name="conversations-csv"),
    path("conversations/<uuid:conversation_id>/", include(CONVERSATION)),
    path("accounts/", accounts.accounts, name="accounts"),
    path("accounts/<uuid:account_id>/", accounts.account, name="account"),
    path("accounts/<uuid:account_id>/reveal/", accounts.reveal_account, name="reveal-account"),
    path("accounts/<uuid:account_id>/everything/", person_export.export, name="export-person"),
    path("accounts/<uuid:account_id>/redaction/", redaction.redaction, name="redaction"),
    path("accounts/<uuid:account_id>/redaction/<int:span_id>/false/", redaction.false_hit, name="false-hit"),
    path("tools/", tools.tools, name="tools"),
    path("tools/calls/", tools.tool_calls, name="tool-calls"),
    path("costs/", costs.costs, name="costs"),
    path("costs/sums.csv", costs.costs_csv, name="costs-csv"),
    path("costs/prices/", costs.prices, name="prices"),
    path("retention/", include(RETENTION)),
    path("jobs/", include(JOBS)),
    path("", include(MONEY)),
    path("", include(RECONCILIATION)),
    path("access-log/", access_log.access_log, name="access-log"),
    path("access-log/lines.csv", access_log.access_log_csv, name="access-log-csv"),
]
