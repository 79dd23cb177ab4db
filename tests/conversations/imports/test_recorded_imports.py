"""An import leaves a run: who imported which file, what came of it, and that a dry run was one."""

import gzip
import hashlib
import os
import zipfile
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from conversations.imports.streams import text_bytes
from conversations.models import Conversation, HeadMove
from conversations.services.importing import following
from conversations.services.importing.report import ExitStatus
from jobs.models import JobRun
from tests.conversations.conftest import NOW
from tests.conversations.imports.exports import dialogues, five, only_run
from tests.conversations.imports.reading import write

REFUSED = {"conversation_id": "bad", "mapping": "none"}


def test_a_run_says_who_imported_which_file_and_what_went_in(recorded, realm, tmp_path):
    path = write(tmp_path, five(), "export.json")

    told = recorded(path)

    run = only_run()
    assert (told.run_id, told.is_abandoned) == (run.pk, False)
    assert (run.kind, run.state, run.requested_by_kind, run.requested_by_id) == (
        "conversations.import",
        "succeeded",
        "importer",
        "root",
    )
    assert run.parameters == {
        "file": "export.json",
        "size": path.stat().st_size,
        "realm": "wendelmere",
        "realm_id": realm.pk,
        "account": "c-7",
        "keeps_originals": True,
    }
    assert (run.unit, run.done, run.total) == ("bytes", path.stat().st_size, path.stat().st_size)
    assert run.counts == {"conversations": {"new": 5}, "messages": {"messages": 10, "parts": 10}}
    assert run.report == {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "formats": ["ChatGPT export"],
        "is_dry_run": False,
        "not_imported": {"count": 0, "first": []},
        "refused": {"count": 0, "first": []},
        "remarks": {"count": 0, "first": []},
    }


def test_what_was_imported_names_its_run_and_the_access_log_does(recorded, realm, tmp_path):
    recorded(write(tmp_path, five()))
    recorded(write(tmp_path, five()), asked_by=Actor(ActorKind.STAFF, "7"))

    first, second = JobRun.objects.order_by("queued_at", "id")
    assert set(HeadMove.objects.values_list("moved_by_kind", "moved_by_id")) == {("importer", str(first.pk))}
    account = Conversation.objects.values_list("account_id", flat=True).first()
    entries = AccessEntry.objects.order_by("id").values_list(
        "actor_kind", "actor_id", "action", "target_id", "realm_id", "account_id"
    )
    # The account was made by the first.
    assert list(entries) == [
        ("importer", "root", "job_start", str(first.pk), realm.pk, None),
        ("staff", "7", "job_start", str(second.pk), realm.pk, account),
    ]


def test_what_did_not_go_in_stands_in_the_report_with_place_and_reason(recorded, tmp_path):
    told = recorded(write(tmp_path, [*five(), REFUSED], "export.json"))

    run = only_run()
    assert run.state == "succeeded"
    assert told.report.exit_status == ExitStatus.PARTIAL
    assert run.counts["conversations"] == {"new": 5, "not imported": 1}
    assert run.report["not_imported"] == {
        "count": 1,
        "first": [{"place": one.place, "reason": one.text} for one in told.report.failed],
    }
    assert "mapping" in run.report["not_imported"]["first"][0]["reason"]


def test_a_file_that_is_refused_fails_its_run(recorded, tmp_path):
    path = write(tmp_path, "# no\n", "a.md")

    recorded(path)

    run = only_run()
    assert (run.state, run.error_code, run.error_place) == ("failed", "file-refused", "a.md")
    assert run.error == "The file was refused, taken for text, not JSON."
    assert run.report["refused"] == {"count": 1, "first": [{"place": "a.md", "reason": "text, not JSON"}]}
    assert run.report["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert run.done == 0


def test_a_dry_run_keeps_its_report_and_nothing_else(committed_realm, recorded, tmp_path):
    recorded(write(tmp_path, [*five(), REFUSED]), is_dry_run=True)

    run = only_run()
    assert (run.state, run.is_dry_run, run.report["is_dry_run"]) == ("succeeded", True, True)
    assert run.counts["conversations"] == {"new": 5, "not imported": 1}
    assert run.report["not_imported"]["count"] == 1
    assert not Conversation.objects.exists()


def test_a_second_import_is_a_run_that_added_nothing(recorded, tmp_path):
    path = write(tmp_path, five())
    recorded(path)

    recorded(path, now=NOW + timedelta(days=1))

    second = JobRun.objects.latest("queued_at")
    assert second.counts == {"conversations": {"unchanged": 5}}


def test_of_long_lists_the_first_are_kept_and_the_count_of_all(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(following, "MAX_NAMED", 3)
    bad = [{"conversation_id": "x" * 900, "title": f"t{n}", "mapping": "none"} for n in range(40)]

    told = recorded(write(tmp_path, [*five(), *bad]))

    kept = only_run().report["not_imported"]
    assert (kept["count"], len(kept["first"]), len(told.report.failed)) == (40, 3, 40)
    assert all(len(one["place"]) <= 255 and len(one["reason"]) <= 300 for one in kept["first"])


def test_names_that_no_text_column_holds_are_kept_with_a_mark(recorded, tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.json")
    path.write_text('[{"conversation_id":"k\\u0000\\ud800","mapping":"none","title":"\\u0000"}]')

    recorded(path, account="c\x00\ud8007")

    run = only_run()
    assert run.parameters["file"] == "caf\ufffd.json"
    assert run.parameters["account"] == "c\ufffd\ufffd7"
    assert run.report["not_imported"]["count"] + run.report["refused"]["count"] == 1


def test_an_error_fails_the_run_and_is_raised(recorded, tmp_path, monkeypatch):
    def settle():
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("conversations.services.importing.importing.settle_search", settle)

    with pytest.raises(RuntimeError, match="disk"):
        recorded(write(tmp_path, five()))

    run = only_run()
    assert (run.state, run.error_code, run.error) == ("failed", "RuntimeError", "the disk is full")
    assert run.counts["conversations"] == {"new": 5}


def test_the_record_costs_the_same_however_much_goes_in(recorded, tmp_path):
    def statements(count):
        path = write(tmp_path, dialogues(count), f"{count}.jsonl")
        with CaptureQueriesContext(
            connection,
        ) as captured:
            recorded(path, account=f"c-{count}")
        return [query for query in captured if "jobs_jobrun" in query["sql"] or "accessentry" in query["sql"]]

    # The run, its line in the access log, what came of it, its end.
    assert [len(statements(count)) for count in (5, 300)] == [4, 4]


def test_archives_are_measured_by_the_text_that_they_hold(recorded, tmp_path):
    text = dialogues(5)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.jsonl", text)
        archive.writestr("picture.png", b"x" * 999)

    recorded(tmp_path / "a.jsonl.gz")
    recorded(tmp_path / "a.zip")

    gzipped, zipped = JobRun.objects.order_by("queued_at", "id")
    assert (gzipped.total, gzipped.done) == (len(text), len(text))
    assert (zipped.total, zipped.done) == (len(text), len(text))


def test_a_gzipped_text_is_counted_as_far_as_it_can_be_read(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl.gz"
    text = os.urandom(300_000)
    path.write_bytes(gzip.compress(text[:100_000]) + gzip.compress(text[100_000:]))
    assert text_bytes(path) == len(text)

    path.write_bytes(path.read_bytes()[:200_000])
    assert 100_000 < text_bytes(path) < 200_000

    monkeypatch.setattr("conversations.imports.streams.MAX_COUNTED_BYTES", 50_000)
    assert text_bytes(path) is None
