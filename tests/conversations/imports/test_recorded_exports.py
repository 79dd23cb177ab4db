"""Who took which selection out stands in the access log before anything leaves, and a run keeps what left."""

import hashlib
import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from conversations.models import Conversation
from conversations.services.exporting import ExportFailure, export_trees, select_conversations
from conversations.services.recorded_export import export_recorded
from jobs.models import JobRun
from tests.conversations.conftest import NOW

ROOT = Actor(ActorKind.IMPORTER, "root")


@pytest.fixture
def export(realm):
    def run(lines=None, *, write=lambda line: None, **told):
        selection = select_conversations()
        return export_recorded(
            selection=selection,
            lines=export_trees(selection) if lines is None else lines,
            write=write,
            told=told,
            asked_by=ROOT,
            now=NOW,
        )

    return run


def test_the_command_keeps_what_it_took_out_and_for_whom(conversation, account, realm, tmp_path):
    target = tmp_path / "out.jsonl"
    said = StringIO()

    call_command(
        "export_conversations", output=target, realm=realm.slug, account=account.external_id, stderr=said
    )

    run = JobRun.objects.get()
    assert said.getvalue() == f"kept as run {run.pk}\n"
    assert (run.kind, run.state, run.done, run.total, run.unit) == (
        "conversations.export",
        "succeeded",
        1,
        1,
        "conversations",
    )
    assert run.parameters == {
        "what": "trees",
        "output": "out.jsonl",
        "realm": realm.slug,
        "realm_id": realm.pk,
        "account": account.external_id,
    }
    assert run.report == {
        "sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
        "size": target.stat().st_size,
        "not_exported": {"count": 0, "first": []},
    }
    entry = AccessEntry.objects.get()
    assert (entry.action, entry.target_kind, entry.target_id) == ("export", "job", str(run.pk))
    assert (entry.realm_id, entry.account_id, entry.conversation_id) == (realm.pk, account.pk, None)
    assert entry.row_count == 1


def test_one_conversation_is_named_in_the_log(conversation, tmp_path):
    call_command(
        "export_conversations",
        output=tmp_path / "out.jsonl",
        conversation=[conversation.pk],
        stderr=StringIO(),
    )

    entry = AccessEntry.objects.get()
    assert (entry.conversation_id, entry.realm_id, entry.row_count) == (conversation.pk, None, 1)


def test_the_log_is_written_before_anything_leaves(conversation, export):
    seen = []

    export(write=lambda line: seen.append(AccessEntry.objects.filter(action="export").count()))

    assert seen == [1]


def test_what_could_not_leave_stands_in_the_report(conversation, export):
    failures = [ExportFailure(f"conversation {n}", "no such\x00dialect " + "x" * 400) for n in range(300)]

    told = export([b"{}\n", *failures])

    run = JobRun.objects.get()
    assert (told.failures, told.is_whole, run.state) == (300, True, "succeeded")
    assert run.counts == {"lines": {"exported": 1, "not exported": 300}}
    kept = run.report["not_exported"]
    assert (kept["count"], len(kept["first"])) == (300, 200)
    assert kept["first"][0]["reason"].startswith("no such\ufffddialect")
    assert len(kept["first"][0]["reason"]) == 300


def test_a_reader_that_goes_away_fails_the_run_and_the_count_says_how_much_left(conversation, export):
    written = []

    def write(line):
        if written:
            raise BrokenPipeError("Broken pipe")
        written.append(line)

    with pytest.raises(BrokenPipeError):
        export([b"1\n", b"2\n"], write=write)

    run = JobRun.objects.get()
    assert (run.state, run.error_code, run.done) == ("failed", "BrokenPipeError", 1)
    assert run.report["sha256"] == hashlib.sha256(b"1\n").hexdigest()


def test_the_record_costs_the_same_however_much_leaves(make_conversation, export):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            export()
        return sum("jobs_jobrun" in query["sql"] or "accessentry" in query["sql"] for query in captured)

    make_conversation()
    few = statements()
    for _ in range(10):
        make_conversation()

    # The run, its line in the access log, what left, its end.
    assert (few, statements()) == (4, 4)
    assert Conversation.objects.count() == 11


def test_bodies_that_were_sent_are_counted_by_attempt(conversation, tmp_path):
    call_command("export_conversations", what="sent", output=tmp_path / "sent.jsonl", stderr=StringIO())

    run = JobRun.objects.get()
    assert (run.unit, run.done, run.total) == ("attempts", 0, None)


def test_lines_on_standard_output_are_nothing_but_lines(conversation, capfdbinary):
    call_command("export_conversations")

    out, err = capfdbinary.readouterr()
    assert json.loads(out)["id"] == str(conversation.pk)
    assert err.startswith(b"kept as run ")
