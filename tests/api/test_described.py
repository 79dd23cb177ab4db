"""What is answered is as the served description says: status, media type and shape of every operation."""

import re

import pytest
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

from access.models import Scope
from tests.api.tenancy import OPERATIONS, Things, ask, path_of

pytestmark = pytest.mark.django_db

EVERY = sorted(OPERATIONS)


@pytest.fixture(scope="module")
def described():
    """The description as it is served, made once."""
    return SchemaGenerator().get_schema(request=None, public=True)


def pattern_of(template):
    return re.compile(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(template)) + r"\Z")


def operation_at(described, path, method):
    (found,) = [
        operations[method.lower()]
        for template, operations in described["paths"].items()
        if pattern_of(template).match(path) and method.lower() in operations
    ]
    return found


def check(described, answer, method):
    operation = operation_at(described, answer.wsgi_request.path, method)
    declared = operation["responses"]
    assert str(answer.status_code) in declared, f"{answer.status_code} is not declared: {answer.content}"
    if not answer.content:
        return
    content = declared[str(answer.status_code)]["content"]
    media_type = answer["Content-Type"].partition(";")[0]
    assert media_type in content
    if media_type.endswith("json"):
        schema = {**content[media_type]["schema"], "components": described["components"]}
        errors = [
            f"{error.json_path}: {error.message}"
            for error in Draft202012Validator(schema).iter_errors(answer.json())
        ]
        assert errors == []


@pytest.mark.parametrize(("name", "method"), EVERY)
def test_every_answer_of_an_operation_is_declared(
    ours, client, stranger, issue, client_of, described, name, method
):
    nobody = client_of(issue(scopes=[Scope.READ]))
    nobody.credentials()
    for asking, things in (
        (nobody, ours),
        (client_of(issue(scopes=[Scope.READ])), ours),
        (client_of(issue(scopes=[Scope.PRIVACY])), ours),
        (stranger, ours),
        (client, Things.nobodys()),
        (client, ours),
    ):
        check(described, ask(asking, name, method, things), method)
    if OPERATIONS[name, method].body is not None:
        for body in ([], {}, "x"):
            answer = getattr(client, method.lower())(path_of(name, ours), body, format="json")
            check(described, answer, method)


def test_each_operation_says_its_scope_and_has_a_name(described):
    said = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            said[operation["operationId"]] = (path, method, operation.get("x-scope"))
            assert operation["summary"]
            assert operation["tags"]
    assert len(said) == len(OPERATIONS)
