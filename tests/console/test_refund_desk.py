"""Refunds by two people, questions of the guard, events of processors, and the registry of tools."""

import json

import pytest

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.ids import mint_id
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass, Role
from jobs.models import JobRun
from ledger.models import Compensation, GuardQuestion, ToolPolicy, ToolPolicyChange, WebhookEvent
from ledger.services.beginning import begin_effect
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import results, user

# The session, the user, two of permissions, the reach, the page, the names of people, the header's staff.
# Five more let the whole of it read as the reader, in one transaction.
QUERIES = 13


@pytest.fixture
def registrar(make_staff):
    return make_staff(RoleName.ADMINISTRATOR, name="registrar")


@pytest.fixture
def conversation(make_conversation, registrar):
    made = make_conversation()
    money.register_tool(made, registrar)
    return made


@pytest.fixture
def effect(conversation, say):
    say(conversation, user())
    seq = say(conversation, MessageDraft(role=Role.ASSISTANT, parts=[money.charging("toolu_001")]))
    return money.settle(money.begin(conversation, seq, "toolu_001"), "ch_001")


@pytest.fixture
def ask(effect):
    def make(client, amount="9.00", **given):
        return client.post(f"/effects/{effect.pk}/refund/", {"amount": amount, "reason": "error", **given})

    return make


@pytest.fixture
def question(conversation, effect, say):
    """A second call with the same arguments, in a later turn: the guard asks."""
    say(conversation, results("toolu_001"))
    say(conversation, user("again"))
    draft = MessageDraft(role=Role.ASSISTANT, parts=[money.charging("toolu_002")])
    seq = say(conversation, draft)
    begin_effect(conversation_id=conversation.pk, seq=seq, call_id="toolu_002", actor=money.AGENT, now=NOW)
    return GuardQuestion.objects.get()


@pytest.fixture
def event():
    raw = keep_raw_body(body=b"{}", raw_class=RawClass.WEBHOOK, now=NOW)
    return WebhookEvent.objects.create(
        id=mint_id(NOW),
        processor="stripe",
        event_id="evt_001",
        type="charge.succeeded",
        object_ref="ch_404",
        occurred_at=NOW,
        received_at=NOW,
        raw_id=raw,
        processed_at=NOW,
        trouble="unmatched",
    )


def test_one_person_asks_and_another_approves(log_in, effect, ask):
    finance, approver = log_in(RoleName.FINANCE), log_in(RoleName.FINANCE_APPROVER)

    assert ask(finance, note="as agreed").status_code == 302
    asked = Compensation.objects.get()
    page = approver.get(f"/effects/{effect.pk}/").content.decode()
    approver.post(f"/refunds/{asked.pk}/decide/", {"decision": "approve", "remark": "by phone"})

    asked.refresh_from_db()
    assert "Your decision" in page
    assert "as agreed" in page
    assert (asked.state, asked.amount_minor) == ("approved", 900)
    assert asked.requested_by != asked.decided_by
    assert AccessEntry.objects.filter(action="change", target_kind="effect").count() == 2


def test_who_asked_does_not_decide(log_in, effect, ask):
    approver = log_in(RoleName.FINANCE_APPROVER)
    ask(approver)
    asked = Compensation.objects.get()

    page = approver.get(f"/effects/{effect.pk}/").content.decode()
    answer = approver.post(f"/refunds/{asked.pk}/decide/", {"decision": "approve"}, follow=True)

    asked.refresh_from_db()
    assert "another person decides" in page
    assert "another person has to" in answer.content.decode()
    assert asked.state == "requested"


def test_a_refusal_frees_what_was_reserved(log_in, effect, ask):
    ask(log_in(RoleName.FINANCE), amount="19.00")
    asked = Compensation.objects.get()

    log_in(RoleName.FINANCE_APPROVER).post(f"/refunds/{asked.pk}/decide/", {"decision": "refuse"})

    effect.refresh_from_db()
    asked.refresh_from_db()
    assert (asked.state, effect.amount_reserved_minor) == ("rejected", 0)


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        ("19.01", "At most"),
        ("0", "more than nothing"),
        ("1.999", "decimals"),
        ("ten", "no amount"),
        ("-1", "nothing"),
        ("1,50", "may stand for a fraction"),
    ],
)
def test_an_amount_that_cannot_be_given_back_is_refused_on_the_form(log_in, ask, amount, said):
    response = ask(log_in(RoleName.FINANCE), amount=amount)

    assert response.status_code == 422
    assert said in response.content.decode()
    assert Compensation.objects.count() == 0


def test_who_may_neither_ask_nor_decide_is_refused(log_in, effect, ask, make_staff):
    ask(log_in(RoleName.FINANCE))
    asked = Compensation.objects.get()
    auditor = log_in(RoleName.AUDITOR)

    assert ask(auditor).status_code == 403
    assert auditor.post(f"/refunds/{asked.pk}/decide/", {"decision": "approve"}).status_code == 403
    support = log_in(RoleName.SUPPORT)
    assert support.post(f"/refunds/{asked.pk}/decide/", {"decision": "approve"}).status_code == 403
    asked.refresh_from_db()
    assert (asked.state, Compensation.objects.count()) == ("requested", 1)


def test_a_refund_of_another_realm_is_refused(log_in, effect, ask):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)

    assert ask(log_in(RoleName.FINANCE, realms=[elsewhere])).status_code == 403
    assert Compensation.objects.count() == 0


def test_the_list_of_refunds_narrows_down_and_does_not_grow(log_in, effect, ask, django_assert_num_queries):
    finance = log_in(RoleName.FINANCE)
    ask(finance, amount="1.00")
    finance.get("/refunds/")
    with django_assert_num_queries(QUERIES):
        finance.get("/refunds/")
    for _ in range(5):
        ask(finance, amount="1.00")
    with django_assert_num_queries(QUERIES) as captured:
        page = finance.get("/refunds/?state=requested")

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]
    assert len(page.context["rows"]) == 6
    assert finance.get("/refunds/?state=settled").context["rows"] == []


def test_a_question_says_why_and_is_answered_once(log_in, question, effect):
    support = log_in(RoleName.SUPPORT)

    page = support.get("/questions/").content.decode()
    support.post(f"/questions/{question.pk}/answer/", {"answer": "allow"})
    again = support.post(f"/questions/{question.pk}/answer/", {"answer": "refuse"}, follow=True)

    question.refresh_from_db()
    assert "did the same, with the same arguments" in page
    assert f"/effects/{effect.pk}/" in page
    assert (question.is_allowed, question.answered_by.username) == (True, "support")
    assert "Nothing was changed" in again.content.decode()
    assert "No call waits" in support.get("/questions/").content.decode()
    assert len(support.get("/questions/?is_answered=true").context["rows"]) == 1
    assert AccessEntry.objects.filter(action="change").count() == 1


def test_who_may_not_answer_sees_questions_and_answers_none(log_in, question):
    finance = log_in(RoleName.FINANCE)

    assert "Allow once" not in finance.get("/questions/").content.decode()
    assert finance.post(f"/questions/{question.pk}/answer/", {"answer": "allow"}).status_code == 403
    question.refresh_from_db()
    assert question.is_allowed is None


def test_an_event_in_trouble_waits_for_a_worker_again(log_in, event, broker_url):
    finance = log_in(RoleName.FINANCE)

    page = finance.get("/events/?has_trouble=true").content.decode()
    finance.post(f"/events/{event.pk}/reprocess/")

    event.refresh_from_db()
    assert "No effect knows what it is about" in page
    assert event.processed_at is None
    assert JobRun.objects.get().kind == "ledger.work_events"
    assert AccessEntry.objects.get(action="change").target_id == f"event {event.pk}"


def test_an_event_without_its_text_stays_as_it_is(log_in, event):
    WebhookEvent.objects.update(raw=None)

    answer = log_in(RoleName.FINANCE).post(f"/events/{event.pk}/reprocess/", follow=True)

    event.refresh_from_db()
    assert "Nothing was changed" in answer.content.decode()
    assert event.processed_at == NOW


def test_who_may_not_reprocess_is_refused(log_in, event):
    assert log_in(RoleName.SUPPORT).post(f"/events/{event.pk}/reprocess/").status_code == 403
    assert JobRun.objects.count() == 0


def test_events_are_for_who_sees_every_realm(log_in, realm):
    assert log_in(RoleName.FINANCE, realms=[realm]).get("/events/").status_code == 403


def policy_values(policy: ToolPolicy, **changed) -> dict[str, str]:
    names = (
        *("effectful", "replay_policy", "key_scope", "operation", "processor"),
        *("amount_path", "amount_unit", "currency_path"),
    )
    return {name: getattr(policy, name) for name in names} | {"rule": json.dumps(policy.rule)} | changed


def test_a_change_of_a_tool_is_logged_with_both_values(log_in, conversation):
    policy = ToolPolicy.objects.get()
    admin = log_in(RoleName.ADMINISTRATOR)
    address = f"/tool-registry/{policy.pk}/"

    response = admin.post(address, policy_values(policy, replay_policy="never"))
    page = admin.get(address).content.decode()

    policy.refresh_from_db()
    assert response.status_code == 302
    assert policy.replay_policy == "never"
    assert ToolPolicyChange.objects.count() == 2
    assert "Ask → Never" in page.replace("<bdi>", "").replace("</bdi>", "")


def test_what_the_registry_refuses_stands_on_the_form(log_in, conversation):
    policy = ToolPolicy.objects.get()
    admin = log_in(RoleName.ADMINISTRATOR)
    address = f"/tool-registry/{policy.pk}/"

    contradiction = admin.post(address, policy_values(policy, effectful="no"))
    no_json = admin.post(address, policy_values(policy, rule="{"))

    assert "may always be re-run" in contradiction.content.decode()
    assert "This is no JSON" in no_json.content.decode()
    assert ToolPolicyChange.objects.count() == 1


def test_a_tool_is_registered_in_a_realm_that_one_sees(log_in, conversation, realm):
    policy = ToolPolicy.objects.get()
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    admin = log_in(RoleName.ADMINISTRATOR, realms=[realm])
    values = policy_values(policy) | {"name": "refund_card"}

    refused = admin.post("/tool-registry/new/", values | {"realm": elsewhere.slug})
    made = admin.post("/tool-registry/new/", values | {"realm": realm.slug})

    assert (refused.status_code, made.status_code) == (422, 302)
    assert ToolPolicy.objects.get(name="refund_card").realm == realm


def test_who_may_not_edit_reads_the_registry_only(log_in, conversation):
    policy = ToolPolicy.objects.get()
    finance = log_in(RoleName.FINANCE)
    address = f"/tool-registry/{policy.pk}/"

    assert finance.get("/tool-registry/").status_code == 200
    assert "<textarea" not in finance.get(address).content.decode()
    assert finance.post(address, policy_values(policy, replay_policy="never")).status_code == 403
    assert finance.get("/tool-registry/new/").status_code == 403
    policy.refresh_from_db()
    assert policy.replay_policy == "ask"
