"""The erasure desk in a browser's words: intake, identity, preview, approval by another, receipt."""

import io
import json
import zipfile

import pytest
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import AccessEntry, Scope
from access.rights import RoleName
from access.services.keys import issue_key
from conversations.models import Account, Conversation
from jobs.models import JobRun
from retention.erasure.job import erase
from retention.models import ErasureRequest
from retention.services import taking_in
from tests.conversations.drafts import user as asks
from tests.conversations.schema.rows import insert

pytestmark = pytest.mark.django_db

DESK = "/retention/erasures/"


@pytest.fixture
def talk(make_conversation, say):
    conversation = make_conversation()
    say(conversation, asks("Write to ines@example.com"))
    return conversation


@pytest.fixture
def first(log_in):
    return log_in(RoleName.PRIVACY_OFFICER, name="petra")


@pytest.fixture
def second(log_in):
    return log_in(RoleName.PRIVACY_OFFICER, name="quentin")


def take_in(client, person, **given):
    form = {
        "realm": person.realm_id,
        "names": person.email,
        "received_on": timezone.localdate(),
        "account": [person.pk],
        **given,
    }
    return client.post(f"{DESK}intake/", form, follow=True)


def act(client, action, **given):
    request = ErasureRequest.objects.get()
    return client.post(f"{DESK}{request.pk}/{action}/", given, follow=True)


def prepare(client, account):
    take_in(client, account)
    act(client, "identity", how="signed_in", note="called back")
    act(client, "preview")


def test_the_person_is_shown_masked_before_anything_is_taken_in(first, account, talk):
    page = take_in(first, account, account=[]).content.decode()

    assert "cus-1001" in page
    assert "i•••@example.com" in page
    assert "ines@example.com" not in page.replace("ines@example.com</textarea>", "")
    assert not ErasureRequest.objects.exists()
    line = AccessEntry.objects.get(action="search_person")
    assert (line.account_id, line.row_count, line.address) == (account.pk, 1, "127.0.0.1")


def test_what_an_application_took_in_is_approved_by_who_did_not_check_the_identity(
    first, second, account, talk
):
    issued = issue_key(
        realm=account.realm,
        application="portal",
        scopes=[Scope.PRIVACY],
        actor=Actor(ActorKind.STAFF, "0"),
        now=timezone.now(),
    )
    now = timezone.now()
    taking_in.take_in(
        realm_id=account.realm_id, account_ids=[account.pk], received_at=now, now=now, key=issued.key
    )
    act(first, "identity", how="signed_in")
    page = act(first, "preview").content.decode()
    assert "You checked the identity." in page
    assert "Approve and erase" not in page
    assert "cannot approve it" in act(first, "approve").content.decode()
    act(second, "approve")
    request = ErasureRequest.objects.get()
    erase(run_id=JobRun.objects.get(kind="retention.erase").pk)
    receipt = second.get(f"{DESK}{request.pk}/receipt/").content.decode()
    assert f"taken in by key {issued.key.pk}" in receipt
    assert "not the one who checked the identity" in receipt


def test_a_request_goes_from_intake_to_receipt(first, second, account, talk):
    prepare(first, account)
    assert "Another person has to approve it" in act(first, "preview").content.decode()
    act(second, "approve")
    request = ErasureRequest.objects.get()
    erase(run_id=run_of(request))

    page = second.get(f"{DESK}{request.pk}/receipt/").content.decode()

    assert not Conversation.objects.exists()
    assert "Conversations, titles, erased" in page
    assert "ines@example.com" not in page
    signed = json.loads(second.get(f"{DESK}{request.pk}/receipt.json").content)
    assert json.loads(signed["receipt"])["found_again"] == 0
    lines = AccessEntry.objects.filter(action="change", target_id=request.number)
    assert set(lines.values_list("address", flat=True)) == {"127.0.0.1"}


def run_of(request):
    from jobs.models import JobRun

    return JobRun.objects.get(kind="retention.erase", scope=str(request.pk)).pk


def test_running_it_again_is_a_job_start_in_the_access_log(first, second, account, talk):
    prepare(first, account)
    act(second, "approve")
    request = ErasureRequest.objects.get()
    JobRun.objects.filter(pk=run_of(request)).update(state="stopped", finished_at=timezone.now())

    act(second, "run")

    run = JobRun.objects.get(kind="retention.erase", scope=str(request.pk), state="queued")
    entry = AccessEntry.objects.get(action="job_start")
    assert (entry.target_kind, entry.target_id, entry.realm_id) == ("job", str(run.pk), request.realm_id)


def test_whoever_took_it_in_cannot_approve(first, account, talk):
    prepare(first, account)

    page = act(first, "approve").content.decode()

    assert "hoever took the request in cannot approve it" in page
    assert ErasureRequest.objects.get().state == "previewed"


def test_the_preview_stands_on_the_page(first, account, talk):
    prepare(first, account)

    request = ErasureRequest.objects.get()
    page = first.get(f"{DESK}{request.pk}/").content.decode()

    assert "Ground for what stays" in page
    assert {row["store"]: row["erased"] for row in request.preview}["messagepart"] == 1


@pytest.mark.parametrize(
    ("role", "sees"), [(RoleName.SUPPORT, 403), (RoleName.AUDITOR, 200), (RoleName.ADMINISTRATOR, 200)]
)
def test_who_may_see_the_desk_and_who_may_work_there(log_in, first, account, talk, role, sees):
    prepare(first, account)
    client = log_in(role)
    request = ErasureRequest.objects.get()

    assert client.get(DESK).status_code == sees
    assert client.get(f"{DESK}{request.pk}/").status_code == sees
    assert client.post(f"{DESK}{request.pk}/approve/").status_code == 403
    assert client.post(f"{DESK}{request.pk}/withdraw/").status_code == 403
    assert ErasureRequest.objects.get().state == "previewed"


def test_another_realms_request_is_not_there(log_in, first, account, talk):
    prepare(first, account)
    client = log_in(RoleName.PRIVACY_OFFICER, realms=[], name="rosa")
    request = ErasureRequest.objects.get()

    assert client.get(f"{DESK}{request.pk}/").status_code == 404
    assert client.post(f"{DESK}{request.pk}/withdraw/").status_code == 404
    assert request.number not in client.get(DESK).content.decode()


def test_copies_at_providers_are_exported_and_answered(first, second, account, talk):
    insert(
        "generation",
        conversation_id=talk.pk,
        number=1,
        provider="openai",
        status="complete",
        finished_at=timezone.now(),
        provider_response_id="resp_1",
    )
    prepare(first, account)
    act(second, "approve")
    request = ErasureRequest.objects.get()
    erase(run_id=run_of(request))
    copy = request.hosted_copies.get()

    lines = b"".join(first.get(f"{DESK}{request.pk}/copies.csv").streaming_content).decode().splitlines()
    first.post(f"{DESK}{request.pk}/copies/{copy.pk}/", {"answer": "confirmed"})

    assert lines[1] == "openai,response,resp_1,requested"
    assert AccessEntry.objects.filter(action="export", target_kind="erasure", row_count=1).count() == 1
    copy.refresh_from_db()
    assert (copy.state, copy.confirmed_by.username) == ("confirmed", "petra")


def test_a_withdrawn_request_leaves_the_person(first, account, talk):
    prepare(first, account)

    act(first, "withdraw")

    assert ErasureRequest.objects.get().state == "withdrawn"
    assert Account.objects.filter(pk=account.pk).exists()


def test_a_request_of_tomorrow_is_refused(first, account):
    answer = take_in(first, account, received_on="2999-01-01")

    assert answer.status_code == 422
    assert not ErasureRequest.objects.exists()


def test_everything_about_a_person_leaves_as_one_archive(first, account, talk):
    answer = first.post(f"/accounts/{account.pk}/everything/")

    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert f"conversations/{talk.pk}.txt" in archive.namelist()
    line = AccessEntry.objects.get(action="export", target_kind="account")
    assert (line.account_id, line.row_count) == (account.pk, 1)


def test_who_may_not_export_a_person(log_in, account, talk):
    client = log_in(RoleName.AUDITOR)

    assert client.post(f"/accounts/{account.pk}/everything/").status_code == 403
    assert b"Everything about this person" not in client.get(f"/accounts/{account.pk}/").content
