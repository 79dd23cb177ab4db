"""What holds for every view: one base, one realm to read in, an id for each request."""

import pytest
from django.db import connection
from django.urls import get_resolver
from rest_framework.views import APIView

from access.api.views import ApiView
from tests.api.conventions.bench import ask

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_every_view_of_the_api_stands_on_the_shared_base():
    found = []

    def walk(patterns):
        for pattern in patterns:
            if hasattr(pattern, "url_patterns"):
                walk(pattern.url_patterns)
            elif (view := getattr(pattern.callback, "cls", None)) and issubclass(view, APIView):
                found.append(view)

    walk(get_resolver().url_patterns)
    ours = [view for view in found if not view.__module__.startswith("drf_spectacular")]
    assert ours
    assert [view for view in ours if not issubclass(view, ApiView)] == []
    for view in ours:
        methods = {method for method in METHODS if hasattr(view, method.lower())}
        assert set(view.scopes) == methods or view.scopes == {}, view


@pytest.mark.django_db(transaction=True)
def test_a_get_reads_as_the_reader_in_its_own_realm_only(issue, bench):
    issued = issue()
    answer = ask(bench, issued, method="get")
    assert answer.data == {"role": "counterfoil_read", "realms": str(issued.key.realm_id)}
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user::text")
        assert cursor.fetchone() != ("counterfoil_read",)


def test_a_request_goes_by_the_callers_id_or_a_new_one(client):
    assert client.get("/api/v1/key", HTTP_X_REQUEST_ID="trace-1")["X-Request-Id"] == "trace-1"
    unfit = client.get("/api/v1/nothing", HTTP_X_REQUEST_ID="a\nb")
    assert len(unfit["X-Request-Id"]) == 32
    assert unfit.json()["request_id"] == unfit["X-Request-Id"]


def test_the_description_is_served_without_a_key_and_names_no_server(client, db):
    client.credentials()
    answer = client.get("/api/schema/", HTTP_ACCEPT="application/json")
    assert answer.status_code == 200
    described = answer.json()
    assert described["openapi"].startswith("3.1")
    assert "Problem" in described["components"]["schemas"]
    assert described["paths"]["/api/v1/key"]["get"]["security"] == [{"key": []}]
