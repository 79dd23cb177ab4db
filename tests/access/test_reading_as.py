"""Reading as a realm begins and ends with its block, whatever happens inside."""

import pytest
from django.db import DatabaseError, connection

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from access.models.log import AccessAction, TargetKind
from access.reading import as_application, is_reading, reading_as, reading_rows
from access.services.logging import log_access
from conversations.models import Account, Conversation, Message
from tests.access.tenants import NOW, rows, standing

pytestmark = [pytest.mark.schema, pytest.mark.django_db]


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_the_connection_goes_back_as_it_came(eu, us):
    with reading_as(eu.reach):
        assert Account.objects.get() == eu.account
    assert rows("SELECT current_user, current_setting('role')") == [("counterfoil_app", "none")]
    with reading_as(us.reach):
        assert Account.objects.get() == us.account
    assert standing() == ("counterfoil_app", "")
    assert Account.objects.count() == 2


def fail(error: type[Exception]) -> None:
    if error is DatabaseError:
        rows("SELECT 1 / 0")
    raise ValueError


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [ValueError, DatabaseError])
def test_an_error_ends_the_reading_too(eu, us, error):
    with pytest.raises(error), reading_as(eu.reach):
        fail(error)

    assert not is_reading()
    assert standing() == ("counterfoil_app", "")
    with reading_as(us.reach):
        assert Account.objects.get() == us.account


def test_an_error_within_a_larger_transaction_ends_the_reading_alone(eu, us):
    with pytest.raises(ValueError, match="x"), reading_as(eu.reach):
        raise ValueError("x")

    assert not is_reading()
    assert standing() == ("counterfoil_app", "")
    assert Account.objects.count() == 2


def test_a_statement_that_was_prepared_for_one_realm_is_planned_anew_for_another(eu, us):
    """The driver prepares a statement that comes again and again."""
    for tenant in (eu, us) * 8:
        with reading_as(tenant.reach):
            assert [message.conversation_id for message in Message.objects.filter(seq=1)] == [
                tenant.conversation.pk
            ]
    assert Message.objects.filter(seq=1).count() == 2


def test_nothing_can_be_written_while_reading(eu):
    with pytest.raises(DatabaseError, match="permission denied"), reading_as(eu.reach):
        Conversation.objects.filter(pk=eu.conversation.pk).update(title="changed")

    assert Conversation.objects.get().title == ""


def test_what_has_to_be_written_steps_out_and_the_reading_goes_on(eu, us):
    with reading_as(eu.reach):
        log_access(
            actor=Actor(ActorKind.STAFF, "7"), action=AccessAction.OPEN, target_kind=TargetKind.PAGE, now=NOW
        )
        assert standing() == ("counterfoil_read", str(eu.realm.pk))
        with as_application():
            assert Account.objects.count() == 2
        with pytest.raises(ValueError, match="x"), as_application():
            raise ValueError("x")
        assert Account.objects.get() == eu.account

    assert AccessEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_export_that_is_taken_row_by_row_stays_within_its_realm(eu, us):
    """Each line is taken while the view has long returned, and another realm reads in between elsewhere."""
    exported = reading_rows(eu.reach, lambda: Message.objects.order_by("conversation_id", "seq").iterator(1))

    first = next(exported)
    assert is_reading()
    rest = list(exported)

    assert {message.conversation_id for message in (first, *rest)} == {eu.conversation.pk}
    assert standing() == ("counterfoil_app", "")


@pytest.mark.django_db(transaction=True)
def test_an_export_that_nobody_takes_to_its_end_leaves_the_connection_clean(eu, us):
    exported = reading_rows(eu.reach, lambda: Message.objects.order_by("seq").iterator(1))
    next(exported)

    exported.close()

    assert not is_reading()
    assert standing() == ("counterfoil_app", "")
    assert not connection.in_atomic_block
