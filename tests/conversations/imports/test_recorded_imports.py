"""An import leaves a run: who imported which file, what came of it, and that a dry run was one."""

import gzip
import hashlib
import os
import pwd
import signal
import subprocess
import sys
import time
import zipfile
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from config import roles
from conversations.models import Conversation, HeadMove, Message
from conversations.services.importing import following
from conversations.services.importing.recorded import import_recorded
from conversations.services.importing.report import ExitStatus
from jobs.models import JobRun
from jobs.services.steering import free_abandoned, request_stop
from tests.conversations.conftest import NOW
from tests.conversations.imports.exports import five
from tests.conversations.imports.reading import lines, write

ROOT = Actor(ActorKind.IMPORTER, "root")
REFUSED = {"conversation_id": "bad", "mapping": "none"}


@pytest.fixture
def recorded(realm):
    def run(path, **fields):
        return import_recorded(
            **{"path": path, "realm": realm, "asked_by": ROOT, "now": NOW, "account": "c-7", **fields}
        )

    return run


@pytest.fixture
def committed_realm(transactional_db, realm):
    return realm


def dialogues(count, *, turns=2):
    said = [{"role": "assistant" if n % 2 else "user", "content": str(n)} for n in range(turns)]
    return lines(*({"id": f"d-{n}", "messages": said} for n in range(count)))


def only_run() -> JobRun:
    return JobRun.objects.get()


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


def test_a_stop_is_heeded_between_conversations_and_the_next_import_goes_on(
    committed_realm, recorded, tmp_path
):
    path = write(tmp_path, dialogues(2_000), "train.jsonl")
    asked = []

    def advance(size, count):
        if not asked:
            asked.append(request_stop(run_id=only_run().pk, now=NOW))
        # The beat that brings the stop comes from another thread.
        time.sleep(0.002)

    told = recorded(path, advance=advance, every=timedelta(milliseconds=20))

    run = only_run()
    went_in = Conversation.objects.count()
    assert (run.state, told.report.is_stopped, told.report.exit_status) == (
        "stopped",
        True,
        ExitStatus.PARTIAL,
    )
    assert 0 < went_in < 2_000
    assert run.counts["conversations"] == {"new": went_in}
    assert run.done < run.total

    recorded(path)
    assert Conversation.objects.count() == 2_000


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


def test_an_archive_is_measured_by_what_it_says_it_holds_and_gzip_is_not(recorded, tmp_path):
    text = dialogues(5)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.jsonl", text)
        archive.writestr("picture.png", b"x" * 999)

    recorded(tmp_path / "a.jsonl.gz")
    recorded(tmp_path / "a.zip")

    gzipped, zipped = JobRun.objects.order_by("queued_at", "id")
    assert (gzipped.total, gzipped.done) == (None, len(text) - 5)
    assert (zipped.total, zipped.done) == (len(text), len(text))


def test_of_two_files_the_broken_one_fails_its_own_run(realm, tmp_path, capsys):
    good, broken = write(tmp_path, five(), "good.json"), write(tmp_path, "{", "broken.json")

    with pytest.raises(SystemExit) as ended:
        call_command("import_conversations", str(good), str(broken), account="c-7")

    assert ended.value.code == ExitStatus.PARTIAL
    states = {run.parameters["file"]: (run.state, run.error_code) for run in JobRun.objects.all()}
    assert states == {"good.json": ("succeeded", ""), "broken.json": ("failed", "file-refused")}
    said = capsys.readouterr().out
    assert all(f"kept as run {run.pk}" in said for run in JobRun.objects.all())


def test_the_command_records_the_account_it_runs_under_or_the_member_of_staff(realm, tmp_path, monkeypatch):
    monkeypatch.setenv("LOGNAME", "somebody-else")
    maja = User.objects.create_user("maja", is_staff=True)
    path = str(write(tmp_path, five()))

    call_command("import_conversations", path, account="c-7")
    call_command("import_conversations", path, account="c-7", by="maja")

    asked = JobRun.objects.order_by("queued_at", "id").values_list("requested_by_kind", "requested_by_id")
    assert list(asked) == [("importer", pwd.getpwuid(os.getuid()).pw_name), ("staff", str(maja.pk))]


def test_the_command_refuses_a_name_that_is_no_member_of_staff(realm, tmp_path):
    User.objects.create_user("gone", is_staff=True, is_active=False)
    User.objects.create_user("outside")
    path = str(write(tmp_path, five()))

    for name in ("gone", "outside", "nobody"):
        with pytest.raises(CommandError, match="no member of staff"):
            call_command("import_conversations", path, account="c-7", by=name)

    assert not JobRun.objects.exists()
    assert not Conversation.objects.exists()


IN_ITS_OWN_PROCESS = """
import sys, time
from datetime import timedelta
from pathlib import Path
import django
django.setup()
from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.services.importing import importing
from conversations.services.importing.recorded import import_recorded
from django.utils import timezone

importing.BATCH_MESSAGES = 40
import_recorded(path=Path(sys.argv[1]), realm=Realm.objects.get(), asked_by=Actor(ActorKind.IMPORTER),
    now=timezone.now(), account="c-7", every=timedelta(milliseconds=50),
    advance=lambda size, count: time.sleep(0.005))
"""


def test_a_killed_import_leaves_a_run_that_is_freed_and_the_next_one_adds_what_is_missing(
    committed_realm, recorded, admin_url, tmp_path
):
    path = write(tmp_path, dialogues(4_000), "train.jsonl")
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": roles.urls(admin_url, database=connection.settings_dict["NAME"])["default"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "COUNTERFOIL_DEMO": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", IN_ITS_OWN_PROCESS, str(path)], env=environment, stderr=subprocess.PIPE
    )
    try:
        until = time.monotonic() + 60
        while not (Conversation.objects.exists() and JobRun.objects.filter(done__gt=0).exists()):
            assert time.monotonic() < until, "no progress was seen"
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    seen = only_run()
    went_in = Conversation.objects.count()
    assert (seen.state, seen.report["formats"]) == ("running", ["OpenAI-style dialogues"])
    assert 0 < seen.done < seen.total
    assert 0 < went_in < 4_000

    free_abandoned(now=seen.lease_until + timedelta(seconds=1))
    told = recorded(path)

    seen.refresh_from_db()
    assert (seen.state, seen.error_code) == ("failed", "abandoned")
    assert told.report.counts["conversations new"] == 4_000 - went_in
    assert told.report.counts["conversations unchanged"] == went_in
    assert (Conversation.objects.count(), Message.objects.count()) == (4_000, 8_000)
