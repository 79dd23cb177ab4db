"""An import that is stopped or killed leaves a run, and the next one goes on."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

from django.db import connection

from config import roles
from conversations.models import Conversation, Message
from conversations.services.importing.report import ExitStatus
from jobs.models import JobRun
from jobs.services.steering import free_abandoned, request_stop
from tests.conversations.conftest import NOW
from tests.conversations.imports.exports import dialogues, only_run
from tests.conversations.imports.reading import write


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
