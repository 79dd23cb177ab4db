"""A view that does what its test tells it, asked without the addresses between."""

from typing import ClassVar

from django.db import connection
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from access.api.views import ApiView
from access.models import Scope
from conversations.api.listing import limit_of

FACTORY = APIRequestFactory(enforce_csrf_checks=True)


class Line(serializers.Serializer):
    amount = serializers.IntegerField()


class Order(serializers.Serializer):
    lines = Line(many=True)


class Bench(ApiView):
    """Does what the test tells it to do, and counts how often it was done."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.WRITE}
    done: ClassVar[list] = []
    error: ClassVar[Exception | None] = None

    def get(self, request):
        limit_of(request)
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user::text, current_setting('counterfoil.realms', true)")
            role, realms = cursor.fetchone()
        return Response({"role": role, "realms": realms})

    def post(self, request):
        Order(data=request.data).is_valid(raise_exception=True)
        self.done.append(request.data)
        if self.error is not None:
            raise self.error
        return Response({"count": len(self.done)}, status=201, headers={"ETag": '"1"'})


def ask(view, issued, method="post", body=b'{"lines": [{"amount": 1}]}', path="/api/v1/bench", **given):
    """The view's answer to one request, as the server sends it."""
    given = {"content_type": "application/json", "HTTP_AUTHORIZATION": f"Bearer {issued.secret}", **given}
    request = FACTORY.generic(method.upper(), path, body if method == "post" else b"", **given)
    response = view.as_view()(request)
    if hasattr(response, "render"):
        response.render()
    return response
