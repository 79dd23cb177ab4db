import pytest
from django.core.management import CommandError, call_command

from access.models.log import LogFloor

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def test_the_owner_sets_the_floor(capsys):
    call_command("set_access_log_floor", "730")

    assert LogFloor.objects.get().days == 730
    assert capsys.readouterr().out == "The access log is kept for at least 730 days.\n"


def test_less_than_a_month_is_refused():
    with pytest.raises(CommandError):
        call_command("set_access_log_floor", "29")

    assert LogFloor.objects.get().days == 365
