"""The command says what it did, and ends as it went."""

import pytest
from django.core.management import CommandError, call_command

from conversations.services.importing.report import ExitStatus
from jobs.models import JobRun
from tests.conversations.imports.exports import five
from tests.conversations.imports.reading import write


def test_the_command_says_what_it_did_and_how_it_ended(realm, tmp_path, capsys):
    good = write(tmp_path, five(), "good.json")
    with pytest.raises(SystemExit) as ended:
        call_command(
            "import_conversations", str(good), str(write(tmp_path, "{}", "none.json")), account="c-7"
        )

    assert ended.value.code == ExitStatus.PARTIAL
    of_good, of_none = JobRun.objects.order_by("queued_at", "id")
    assert capsys.readouterr().out.splitlines() == [
        "good.json: ChatGPT export: 5 conversations new, 10 messages, 10 parts, 0 failed",
        f"  kept as run {of_good.pk}",
        "none.json: refused: 0 conversations new, 0 messages, 0 failed, 1 refused",
        "  refused, taken for: none.json: JSON of something else (an empty object)",
        f"  kept as run {of_none.pk}",
    ]


def test_the_command_ends_with_one_where_all_was_refused(realm, tmp_path):
    with pytest.raises(SystemExit) as ended:
        call_command("import_conversations", str(write(tmp_path, "# no\n", "a.md")), account="c-7")

    assert ended.value.code == ExitStatus.REFUSED


def test_a_file_that_is_not_there_is_said_before_any_goes_in(realm, tmp_path):
    good = write(tmp_path, five(), "good.json")

    with pytest.raises(CommandError, match=r"gone\.json: there is no such file"):
        call_command("import_conversations", str(good), str(tmp_path / "gone.json"), account="c-7")

    assert not JobRun.objects.exists()
