import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import reverse

from conversations.admin import CappedPaginator
from conversations.models import Account, Conversation, Fragment, RawBody
from tests.conversations.conftest import NOW

pytestmark = pytest.mark.django_db

REGISTERED = [Account, Conversation, Fragment, RawBody]


@pytest.fixture
def administrator(client):
    user = get_user_model().objects.create_superuser("root", password="x" * 12)
    client.force_login(user)
    return client


def page(model, name, *args):
    return reverse(f"admin:conversations_{model._meta.model_name}_{name}", args=args)


def shown(response):
    return [row.pk for row in response.context["cl"].result_list]


@pytest.mark.parametrize("model", REGISTERED)
def test_nothing_is_made_or_deleted(administrator, rf, model):
    request = rf.get("/")
    request.user = get_user_model().objects.get()
    site = admin.site.get_model_admin(model)

    assert not site.has_delete_permission(request)
    assert not site.has_add_permission(request)
    assert "delete_selected" not in site.get_actions(request)
    assert administrator.get(page(model, "add")).status_code == 403


def test_an_account_cannot_be_deleted_by_its_page(administrator, account):
    response = administrator.post(page(Account, "delete", account.pk), {"post": "yes"})

    assert response.status_code == 403
    assert Account.objects.get() == account


def test_an_account_may_be_labelled_and_keeps_its_id(administrator, account):
    administrator.post(
        page(Account, "change", account.pk), {"label": "Ada", "email": "", "external_id": "another"}
    )

    assert Account.objects.values_list("label", "external_id").get() == ("Ada", account.external_id)


def test_a_conversation_is_only_looked_at(administrator, conversation):
    response = administrator.post(page(Conversation, "change", conversation.pk), {"title": "other words"})

    assert response.status_code == 403
    assert administrator.get(page(Conversation, "change", conversation.pk)).status_code == 200


@pytest.mark.parametrize("field", ["id", "external_id", "email"])
def test_accounts_are_found_by_an_exact_id(administrator, make_account, field):
    wanted = make_account(external_id="c-7", email="ada@example.org")
    make_account(external_id="c-77", email="bob@example.org")

    response = administrator.get(page(Account, "changelist"), {"q": f" {getattr(wanted, field)} "})

    assert shown(response) == [wanted.pk]


def test_a_part_of_an_id_finds_nothing(administrator, make_account):
    make_account(external_id="c-7")

    assert shown(administrator.get(page(Account, "changelist"), {"q": "c-"})) == []


def test_conversations_are_listed_with_a_fixed_number_of_queries(
    administrator, make_conversation, django_assert_num_queries
):
    for _ in range(3):
        make_conversation()
    # Session, user, the realms in the header, the capped count, the rows with their accounts.
    with django_assert_num_queries(5):
        administrator.get(page(Conversation, "changelist"))
    for _ in range(12):
        make_conversation()
    with django_assert_num_queries(5):
        response = administrator.get(page(Conversation, "changelist"))

    assert len(shown(response)) == 15


def test_a_list_counts_no_further_than_pages_are_turned(administrator, make_account, monkeypatch):
    monkeypatch.setattr(CappedPaginator, "most", 2)
    for _ in range(3):
        make_account()

    response = administrator.get(page(Account, "changelist"))

    assert response.context["cl"].result_count == 2


@pytest.mark.parametrize("model", [Fragment, RawBody])
def test_raw_bytes_are_not_shown(administrator, model):
    if model is Fragment:
        row = Fragment.objects.create(sha256=b"\0" * 32, kind="tools", body=b"secret words", created_at=NOW)
    else:
        row = RawBody.objects.create(
            id="019cd2e8-8620-745a-943e-d7568a45ad62",
            raw_class="webhook",
            sha256=b"\0" * 32,
            size=2,
            compressed=b"secret words",
            created_at=NOW,
        )

    response = administrator.get(page(model, "change", row.pk))

    assert response.status_code == 200
    assert b"secret words" not in response.content
