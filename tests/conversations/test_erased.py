import pytest

from conversations.models import Account, Conversation, ErasedSubject
from conversations.services.accounts import ensure_account
from conversations.services.erased import ErasedError, is_erased, remember_erased, subject_digest
from conversations.services.starting import start_conversation
from conversations.vocabulary import ErasedKind
from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import PRIVILEGE, execute, refused

pytestmark = pytest.mark.django_db


def remember(kind, realm, value):
    digest = subject_digest(kind=kind, realm_id=realm.pk, value=value)
    return remember_erased(digests=[(kind, digest)], now=NOW)


def test_the_account_of_an_erased_person_is_not_made_again(realm):
    remember(ErasedKind.EXTERNAL_ID, realm, "customer-1")

    with pytest.raises(ErasedError) as caught:
        ensure_account(realm=realm, external_id="customer-1", now=NOW)

    assert caught.value.rule == "erased-subject"
    assert not Account.objects.exists()


def test_their_conversation_of_a_source_is_not_begun_again(realm, account):
    remember(ErasedKind.EXTERNAL_REF, realm, "chatgpt:1")

    with pytest.raises(ErasedError):
        start_conversation(account_id=account.pk, external_ref="chatgpt:1", now=NOW)

    assert not Conversation.objects.exists()


def test_what_is_remembered_is_a_keyed_digest(realm, settings):
    remember(ErasedKind.EMAIL, realm, "Q.Sample@example.org")

    assert is_erased(kind=ErasedKind.EMAIL, realm_id=realm.pk, value=" q.sample@EXAMPLE.org")
    settings.DIGEST_KEY = "another key"
    assert not is_erased(kind=ErasedKind.EMAIL, realm_id=realm.pk, value="q.sample@example.org")


def test_another_realm_knows_nothing_of_it(realm):
    remember(ErasedKind.EXTERNAL_ID, realm, "customer-1")

    assert not is_erased(kind=ErasedKind.EXTERNAL_ID, realm_id=realm.pk + 1, value="customer-1")


def test_remembering_twice_is_once(realm):
    assert remember(ErasedKind.EXTERNAL_ID, realm, "customer-1") == 1
    assert remember(ErasedKind.EXTERNAL_ID, realm, "customer-1") == 0
    assert ErasedSubject.objects.count() == 1


def test_a_list_is_remembered_at_once_and_its_new_ones_are_counted(realm, django_assert_num_queries):
    remember(ErasedKind.EXTERNAL_ID, realm, "customer-1")
    named = [
        (kind, subject_digest(kind=kind, realm_id=realm.pk, value=value))
        for kind in (ErasedKind.EXTERNAL_ID, ErasedKind.EMAIL)
        for value in ("customer-1", "customer-2", "customer-2")
    ]

    with django_assert_num_queries(1):
        assert remember_erased(digests=named, now=NOW) == 3

    assert remember_erased(digests=[], now=NOW) == 0
    assert ErasedSubject.objects.count() == 4


@pytest.mark.schema
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM conversations_erasedsubject", "UPDATE conversations_erasedsubject SET kind = 'email'"],
)
def test_the_list_only_grows(realm, statement):
    remember(ErasedKind.EXTERNAL_ID, realm, "customer-1")

    with refused(PRIVILEGE):
        execute(statement)
