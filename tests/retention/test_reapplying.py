"""After a restore the erased are recognised by keyed digest, and erased again."""

import io

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Account, ErasedSubject
from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from retention.models import ErasureRequest
from retention.services.holds import place_hold
from tests.retention.conftest import NOW, remaining

pytestmark = pytest.mark.django_db

EMAIL = "q.sample@example.org"


def erased_before(account, kind=ErasedKind.EMAIL):
    """What a list holds after an erasure that the restored backup does not know."""
    values = {ErasedKind.EMAIL: account.email, ErasedKind.EXTERNAL_ID: account.external_id}
    digest = subject_digest(kind=kind, realm_id=account.realm_id, value=values[kind])
    remember_erased(digests=[(kind, digest)], now=NOW)


def reapply(**options):
    out = io.StringIO()
    call_command("reapply_erasures", stdout=out, **options)
    return out.getvalue()


@pytest.mark.parametrize("kind", [ErasedKind.EMAIL, ErasedKind.EXTERNAL_ID])
def test_who_came_back_is_erased_again(make_account, make_talk, kind):
    back = make_account(email=EMAIL)
    make_talk(account_id=back.pk)
    other = make_talk()
    erased_before(back, kind)

    said = reapply()

    request = ErasureRequest.objects.get()
    assert (request.origin, request.state, request.taken_in_by) == ("restored", "done", None)
    assert remaining() == {other.id}
    assert said.splitlines() == ["1 accounts of erased people found", f"{request.number}: Done"]


def test_a_list_that_is_newer_than_the_backup(make_account, make_talk, tmp_path):
    back = make_account(email=EMAIL)
    make_talk(account_id=back.pk)
    kept = tmp_path / "erased.jsonl"
    digest = subject_digest(kind=ErasedKind.EMAIL, realm_id=back.realm_id, value=EMAIL).hex()
    kept.write_text(f'{{"kind": "email", "digest": "{digest}", "erased_at": "2026-03-09T14:03:00+00:00"}}\n')

    said = reapply(list=kept)

    assert said.startswith("1 digests that the backup did not know\n1 accounts")
    assert remaining() == set()


def test_the_list_is_exported_as_digests(make_account):
    erased_before(make_account(email=EMAIL))
    out = io.StringIO()

    call_command("export_erased", stdout=out)

    assert EMAIL not in out.getvalue()
    assert bytes(ErasedSubject.objects.get().digest).hex() in out.getvalue()


def test_a_list_of_something_else_is_refused(tmp_path):
    strange = tmp_path / "erased.jsonl"
    strange.write_text('{"kind": "photograph", "digest": "00"}\n')

    with pytest.raises(CommandError, match="line 1 is no digest"):
        reapply(list=strange)


def test_what_is_held_stays_and_the_command_fails(make_account, make_talk, officer):
    back = make_account(email=EMAIL)
    talk = make_talk(account_id=back.pk)
    erased_before(back)
    place_hold(account_id=back.pk, matter="M-9", user=officer, now=NOW)

    with pytest.raises(CommandError):
        reapply()

    assert remaining() == {talk.id}
    assert Account.objects.get(pk=back.pk).email == EMAIL


def test_nobody_came_back(make_talk):
    talk = make_talk()

    assert reapply() == "0 accounts of erased people found\n"
    assert remaining() == {talk.id}
