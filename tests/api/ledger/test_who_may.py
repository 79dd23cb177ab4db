"""Effects are there for keys of their realm with the scope `effects`."""

from access.models import Scope
from ledger.models import ToolEffect
from tests.api.answers import refusal
from tests.api.effects import intent, response
from tests.api.ledger.conftest import EFFECTS, MISSING, begin


def test_another_realms_call_and_effect_are_not_there(client, stranger, begun):
    effect = begun["effect"]["id"]
    theirs = begin(stranger, begun["effect"]["message_id"])
    missing = begin(stranger, f"{MISSING}.m1")
    assert theirs.status_code == missing.status_code == 404
    assert theirs.json()["rule"] == missing.json()["rule"] == "no-conversation"
    for method, path, body in (
        ("get", "", None),
        ("get", "/history", None),
        ("post", "/sent", {}),
        ("post", "/settle", response(intent())),
    ):
        answer = getattr(stranger, method)(f"{EFFECTS}/{effect}{path}", body)
        assert refusal(answer) == (404, "no-effect")
    assert stranger.get(EFFECTS).json()["data"] == []
    assert ToolEffect.objects.get().state == "pending"


def test_only_the_scope_effects_opens_them(issue, client_of, begun):
    other = client_of(issue(scopes=[Scope.READ, Scope.WRITE, Scope.PRIVACY]))
    assert other.get(EFFECTS).status_code == 403
    assert begin(other, begun["effect"]["message_id"]).status_code == 403
    assert other.post(f"{EFFECTS}/{begun['effect']['id']}/sent").status_code == 403
    assert other.get("/api/v1/questions").status_code == 403
