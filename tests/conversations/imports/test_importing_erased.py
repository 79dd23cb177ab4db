"""Who was erased does not come back with an export."""

from conversations.models import Account, Conversation
from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from tests.conversations.conftest import NOW
from tests.conversations.imports.exports import five


def erase(realm, kind, value) -> None:
    digest = subject_digest(kind=kind, realm_id=realm.pk, value=value)
    remember_erased(digests=[(kind, digest)], now=NOW)


def test_a_conversation_that_was_erased_is_not_brought_back(imported, realm):
    erase(realm, ErasedKind.EXTERNAL_REF, "chatgpt:k2")

    report = imported(five())

    assert Conversation.objects.count() == 4
    assert [(one.place, one.text) for one in report.failed] == [
        ("export.json, item 2", "of somebody who was erased; nothing of it is kept")
    ]


def test_an_erased_customer_comes_back_neither_as_account_nor_as_the_sources(imported, realm):
    erase(realm, ErasedKind.EXTERNAL_ID, "cust-1")
    table = "chat,role,text,user_id\nx,user,hi,cust-1\ny,user,ho,cust-2\n"

    imported(table, "dump.csv", account="")
    imported(table, "dump.csv", account="somebody")

    owners = Conversation.objects.values_list("account__external_id", "external_ref")
    assert sorted(owners) == [("cust-2", "table:y"), ("somebody", "table:y")]
    assert not Account.objects.filter(external_id="cust-1").exists()
