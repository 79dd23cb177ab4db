"""The base of every view of the API.

    class ConversationView(ApiView):
        scopes = {"GET": Scope.READ}

        def get(self, request: Request, conversation_id: UUID) -> Response: ...

A GET stands within the key's realm, as `counterfoil_read` under row security, for as long as its
handler runs; what it writes (the access log) steps out with `as_application`. Every other method
runs as the application, and its handler names the realm in each look-up (`self.realm_id`).
"""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from typing import Any, ClassVar, Final, cast
from uuid import UUID

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from access.actors import Actor
from access.addresses import address_of
from access.api.authentication import Application, KeyAuthentication
from access.api.deprecation import Deprecation
from access.api.idempotency import KEPT_HEADERS, StillWorking, begin_once, replayed
from access.api.negotiation import ByAccept
from access.api.parsing import JsonParser
from access.api.throttling import KeyThrottle
from access.models import ApiKey, Scope, StoredAnswer
from access.models.log import AccessAction, TargetKind
from access.reading import reading_as
from access.services.answers import Claim, give_back, keep_answer
from access.services.logging import log_access
from access.services.sampling import is_logged

READING: Final = frozenset({"GET", "HEAD"})


class HasScope(BasePermission):
    """The key must have the scope that the view names for the method."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.user, Application) or not isinstance(view, ApiView):
            raise NotAuthenticated
        needed = view.scopes.get("GET" if request.method == "HEAD" else str(request.method))
        if needed is None or needed in request.user.key.scopes:
            return True
        raise PermissionDenied(f"this key does not have the scope “{needed}”")


class ReplayError(Exception):
    """The request was answered before; what was said then is said again."""

    def __init__(self, stored: StoredAnswer) -> None:
        super().__init__(stored.idempotency_key)
        self.stored = stored


class ApiView(APIView):
    """`scopes` names what each method needs; a method without a scope is open to every key."""

    authentication_classes = (KeyAuthentication,)
    permission_classes = (HasScope,)
    throttle_classes = (KeyThrottle,)
    parser_classes: Sequence[type[BaseParser]] = (JsonParser,)
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONRenderer,)
    content_negotiation_class = ByAccept
    scopes: ClassVar[dict[str, Scope]]
    # Where the body's own id makes the request once only, its answer is not kept a second time.
    is_once_by_itself: ClassVar[bool] = False
    largest_body: ClassVar[int | None] = None
    # Set on the first day on which it is known that the address will go.
    deprecation: ClassVar[Deprecation | None] = None

    application: Application
    now: datetime
    _account_id: UUID | None = None
    _claim: Claim | None = None

    @property
    def key(self) -> ApiKey:
        return self.application.key

    @property
    def realm_id(self) -> int:
        return self.application.key.realm_id

    @property
    def actor(self) -> Actor:
        return self.application.actor

    @property
    def address(self) -> str | None:
        return address_of(self.request)

    def read_body(self, shape: type[Serializer[Any]]) -> dict[str, Any]:
        """Return what the body says; the ValidationError names each wrong member."""
        return _checked(shape(data=self.request.data))

    def read_query(self, shape: type[Serializer[Any]]) -> dict[str, Any]:
        """Return what the address asks for; the ValidationError names each wrong parameter."""
        return _checked(shape(data=self.request.query_params))

    def concerns(self, account_id: UUID) -> None:
        """Say of whom the answer speaks, so that an erasure takes the kept answer too."""
        self._account_id = account_id

    def log_read(
        self,
        *,
        target_kind: TargetKind,
        target_id: str,
        conversation_id: UUID | None = None,
        account_id: UUID | None = None,
        row_count: int | None = None,
    ) -> None:
        """Write a reading of bodies to the access log, or leave it out where the key may leave some out."""
        if not is_logged(self.key):
            return
        log_access(
            actor=self.actor,
            action=AccessAction.API_READ,
            target_kind=target_kind,
            target_id=target_id,
            realm_id=self.realm_id,
            conversation_id=conversation_id,
            account_id=account_id,
            row_count=row_count,
            now=self.now,
            address=self.address,
        )

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.now = timezone.now()
        try:
            with ExitStack() as self._standing:
                response = super().dispatch(request, *args, **kwargs)
                if self._claim is not None:
                    self._keep_with_work(self._claim, response)
        except Exception as error:
            if self._claim is None:
                raise
            # Keeping or committing failed: nothing was done, and that is what is said.
            response = self.finalize_response(self.request, self.handle_exception(error), *args, **kwargs)
        if self._claim is not None:
            self._keep_refusal(self._claim, response)
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if isinstance(request.user, Application):
            self.application = request.user
        self._refuse_too_large(request)
        if request.method in READING:
            self._standing.enter_context(reading_as(self.application.reach))
        elif request.method == "POST" and not self.is_once_by_itself:
            begun = begin_once(request, self.key)
            if isinstance(begun, StoredAnswer):
                raise ReplayError(begun)
            self._claim = begun
            if begun is not None:
                # What is done and what was answered stand or fall together.
                self._standing.enter_context(transaction.atomic())

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ReplayError):
            # Django's own response: `finalize_response` takes it as it is.
            return cast("Response", replayed(exc.stored))
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        finished = super().finalize_response(request, response, *args, **kwargs)
        if self.deprecation is not None:
            self.deprecation.tell(finished)
        return finished

    def _refuse_too_large(self, request: Request) -> None:
        limit = self.largest_body or settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        # The web server reads no more of a body than this header says.
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > limit:
            raise RequestDataTooBig(
                f"a body may have at most {limit:,} bytes here; this one has {int(length):,}"
            )

    def _keep_with_work(self, claim: Claim, response: HttpResponseBase) -> None:
        """Keep an answer in the transaction that did the work; of what is refused, nothing stays.

        Raises StillWorking where the request took so long that a repeat has begun in its place.
        """
        if response.status_code >= 400:
            transaction.set_rollback(True)
        elif not self._keep(claim, response):
            raise StillWorking

    def _keep_refusal(self, claim: Claim, response: HttpResponseBase) -> None:
        """Keep a refusal too; what failed by our fault is no answer."""
        if response.status_code >= 500:
            give_back(claim)
        elif response.status_code >= 400:
            self._keep(claim, response)

    def _keep(self, claim: Claim, response: HttpResponseBase) -> bool:
        if isinstance(response, Response):
            response.render()
        return keep_answer(
            claim,
            status=response.status_code,
            headers={name: response[name] for name in KEPT_HEADERS if name in response},
            body=cast("HttpResponse", response).content,
            account_id=self._account_id,
            now=self.now,
        )


def _checked(shape: Serializer[Any]) -> dict[str, Any]:
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)
