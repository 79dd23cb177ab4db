"""What a key is and may do: the first thing an integrator asks, and a check that needs no data."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope


class KeyAnswer(serializers.Serializer):
    """The key that the request was made with, without its secret."""

    application = serializers.CharField()
    realm = serializers.SlugField(source="realm.slug")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    requests_per_minute = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)


class KeyView(ApiView):
    """Open to every key, whatever its scopes."""

    scopes = {}

    @extend_schema(operation_id="key", summary="The key in use", tags=["Key"], responses=KeyAnswer)
    def get(self, request: Request) -> Response:
        """What the key that makes this request may do, and in which realm."""
        return Response(KeyAnswer(self.key).data)
