"""API keys in the search box: from how a secret begins to the key."""

import pytest
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import ApiKey, Realm, Scope
from access.rights import RoleName
from access.services.keys import issue_key
from tests.access.tenants import without_scans
from tests.console.conftest import NOW
from tests.console.search.conftest import leads_to


def test_an_api_key_is_found_by_how_it_begins_by_who_manages_keys(log_in, realm):
    issued = issue_key(
        realm=realm,
        application="shop",
        scopes=[Scope.READ],
        actor=Actor(ActorKind.STAFF, "1"),
        now=timezone.now(),
    )
    administrator, hint = log_in(RoleName.ADMINISTRATOR), issued.key.hint
    found = [f"/api-keys/{issued.key.pk}/"]

    assert leads_to(administrator, f"{hint}…") == found
    assert leads_to(administrator, hint[:9]) == found
    assert leads_to(administrator, issued.secret) == found
    assert leads_to(administrator, hint[:7]) == ["0 places"]
    assert leads_to(log_in(RoleName.SUPPORT), hint, issued.secret) == ["0 places"] * 2
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    assert leads_to(log_in(RoleName.ADMINISTRATOR, realms=[elsewhere], name="far"), hint) == ["0 places"]


@pytest.mark.schema
def test_a_key_is_one_probe_of_an_index(db):
    with without_scans():
        plan = ApiKey.objects.filter(hint__startswith="cfk_Ab12").explain()

    assert "apikey_hint" in plan
