"""The command leaves a run for each file, under the name of whoever calls it."""

import os
import pwd

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError

from conversations.models import Conversation
from conversations.services.importing.report import ExitStatus
from jobs.models import JobRun
from tests.conversations.imports.exports import five
from tests.conversations.imports.reading import write


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
