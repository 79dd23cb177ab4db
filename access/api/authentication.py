"""An application shows its key as a bearer token; sessions of staff do not open the API."""

from dataclasses import dataclass

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from access.actors import Actor, ActorKind
from access.models import ApiKey
from access.reach import Reach
from access.services.keys import find_key, note_use


@dataclass(frozen=True, slots=True)
class Application:
    """Who asks: the holder of a key. It stands where Django would have a user."""

    key: ApiKey

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def is_active(self) -> bool:
        return True

    @property
    def pk(self) -> int:
        return self.key.pk

    @property
    def actor(self) -> Actor:
        return Actor(ActorKind.APPLICATION, str(self.key.pk))

    @property
    def reach(self) -> Reach:
        return Reach(realm_ids=frozenset({self.key.realm_id}))


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer cfk_…`. One answer for every key that opens nothing, whatever the cause."""

    scheme = "Bearer"

    def authenticate(self, request: Request) -> tuple[Application, ApiKey] | None:
        words = get_authorization_header(request).split()
        if not words:
            return None
        if len(words) != 2 or words[0].lower() != self.scheme.lower().encode():
            raise AuthenticationFailed("the header must read: Authorization: Bearer, a space, and the key")
        try:
            secret = words[1].decode("ascii")
        except UnicodeDecodeError:
            raise AuthenticationFailed("the key is unknown, expired or revoked") from None
        now = timezone.now()
        key = find_key(secret=secret, now=now)
        if key is None:
            raise AuthenticationFailed("the key is unknown, expired or revoked")
        note_use(key=key, now=now)
        return Application(key), key

    def authenticate_header(self, request: Request) -> str:
        return f'{self.scheme} realm="api"'
