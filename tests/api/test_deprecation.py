"""An address that will go says so in every answer, and in the description."""

from datetime import date
from typing import ClassVar

import pytest
from django.urls import path
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from access.api.deprecation import Deprecation
from access.api.key import KeyAnswer
from access.api.views import ApiView
from access.models import Scope

pytestmark = pytest.mark.django_db


class Going(ApiView):
    scopes: ClassVar = {"GET": Scope.READ}
    deprecation = Deprecation(
        since=date(2027, 1, 1), goes_on=date(2028, 1, 1), successor="/api/v2/conversations"
    )

    @extend_schema(operation_id="going", responses=KeyAnswer)
    def get(self, request):
        return Response({})


class Staying(Going):
    deprecation = None


def ask(view, issued):
    return view.as_view()(APIRequestFactory().get("/x", HTTP_AUTHORIZATION=f"Bearer {issued.secret}"))


@pytest.mark.parametrize(("scopes", "status"), [([Scope.READ], 200), ([Scope.WRITE], 403)])
def test_every_answer_names_the_days_and_what_takes_its_place(issue, scopes, status):
    answer = ask(Going, issue(scopes=scopes))
    assert answer.status_code == status
    assert answer["Deprecation"] == "@1798761600"
    assert answer["Sunset"] == "Sat, 01 Jan 2028 00:00:00 GMT"
    assert answer["Link"] == '</api/v2/conversations>; rel="successor-version"'


def test_an_address_that_stays_says_nothing(issue):
    answer = ask(Staying, issue())
    assert not {"Deprecation", "Sunset", "Link"} & set(answer.headers)


def test_the_description_marks_it():
    patterns = [path("api/v1/going", Going.as_view()), path("api/v1/staying", Staying.as_view())]
    paths = SchemaGenerator(patterns=patterns).get_schema(request=None, public=True)["paths"]
    marked = {path: operations["get"].get("deprecated", False) for path, operations in paths.items()}
    assert marked == {"/api/v1/going": True, "/api/v1/staying": False}


def test_nobody_is_given_less_than_a_year():
    with pytest.raises(ValueError, match="365 days"):
        Deprecation(since=date(2027, 1, 1), goes_on=date(2027, 12, 31), successor="/api/v2")
