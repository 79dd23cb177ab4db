from io import StringIO

import pytest
from django.core.management import call_command


@pytest.mark.django_db(databases="__all__")
def test_every_change_of_a_model_has_its_migration():
    said = StringIO()
    call_command("makemigrations", "--check", "--dry-run", stdout=said)
    assert said.getvalue() == "No changes detected\n"
