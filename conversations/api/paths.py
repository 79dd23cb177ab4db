"""A conversation along a path, now or then; its tree; and the log of what its customer saw."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpResponse
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations.api.answers import as_of_answer, conversation_answer, move_answer
from conversations.api.conversations import TAG
from conversations.api.etags import etag_of, matches
from conversations.api.listing import (
    list_answer,
    list_of,
    page_by_number,
    page_parameters,
)
from conversations.api.looking_up import conversation_in
from conversations.api.shapes import ConversationPathAnswer, HeadMoveAnswer, TreeAnswer
from conversations.api.telling import tell_messages, versions_at
from conversations.errors import NotFoundError
from conversations.models import Conversation, HeadMove
from conversations.public_ids import message_id
from conversations.reads.head_log import Move, highest_head, move_at, read_move
from conversations.reads.skeleton import read_sizes, read_skeleton
from conversations.reads.tree import Tree

_MOST_OF_A_PATH: Final = 1_000


class ConversationView(ApiView):
    """One conversation, along a path."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="conversation",
        summary="Read a conversation",
        tags=[TAG],
        parameters=[
            OpenApiParameter(
                "as_of", str, description="A moment (ISO 8601, with its zone) or the number of a head move."
            ),
            OpenApiParameter(
                "last",
                {"type": "integer", "minimum": 1, "maximum": _MOST_OF_A_PATH},
                description="Only so many messages from the end of the path.",
            ),
            OpenApiParameter(
                "If-None-Match", str, OpenApiParameter.HEADER, description="An `ETag` of an earlier answer."
            ),
            OpenApiParameter(
                "ETag",
                str,
                OpenApiParameter.HEADER,
                response=[200, 304],
                description="The number of the head's last move, and a digest of the answer.",
            ),
        ],
        responses={200: ConversationPathAnswer, 304: OpenApiResponse(description="Nothing has changed.")},
    )
    def get(self, request: Request, conversation_id: UUID) -> HttpResponse:
        """The path that the customer sees, each message with the other versions beside it.

        Payloads above 32 KB are left out (`is_large`); the message's own address has them.
        """
        found = conversation_in(self.realm_id, conversation_id)
        tree = Tree(read_skeleton(conversation_id=found.pk))
        then = _as_of(found, request.query_params.get("as_of", ""))
        path = tree.path_to(found.head_seq if then is None else then.head_seq)
        last = self._last(request)
        shown = path if last is None else path[-last:]
        body = JSONRenderer().render(self._told(found, tree, path, then, shown=shown))
        etag = etag_of(found.head_move or 0, body)
        if matches(request, etag):
            return HttpResponse(status=304, headers={"ETag": etag})
        self.log_read(
            target_kind=TargetKind.CONVERSATION,
            target_id=str(found.pk),
            conversation_id=found.pk,
            account_id=found.account_id,
            row_count=len(shown),
        )
        return HttpResponse(
            body,
            content_type="application/json",
            headers={"ETag": etag, "Cache-Control": "private, no-cache"},
        )

    def _told(
        self, found: Conversation, tree: Tree, path: list[int], then: "_Then | None", *, shown: list[int]
    ) -> dict[str, Any]:
        hidden = {seq for seq in tree.nodes if then.is_later(tree, seq)} if then else set()
        messages = tell_messages(conversation_id=found.pk, seqs=shown)
        for message in messages:
            message["versions"] = versions_at(tree, found.pk, message["seq"], hidden=hidden)
        told = then and as_of_answer(found.pk, moment=then.moment, move=then.move, seqs=tree.nodes)
        return {
            **conversation_answer(found),
            "as_of": told,
            "path_length": len(path),
            "path": messages,
        }

    @staticmethod
    def _last(request: Request) -> int | None:
        given = request.query_params.get("last")
        if given is None:
            return None
        if not (
            given.isascii() and given.isdigit() and len(given) < 9 and 1 <= int(given) <= _MOST_OF_A_PATH
        ):
            raise ValidationError({"last": f"a whole number from 1 to {_MOST_OF_A_PATH}"})
        return int(given)


class TreeView(ApiView):
    """The shape of a conversation."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="tree", summary="Read a conversation's tree", tags=[TAG], responses=TreeAnswer
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Every message's place and size, abandoned branches too, without a word of what it says."""
        found = conversation_in(self.realm_id, conversation_id)
        tree = Tree(read_skeleton(conversation_id=found.pk))
        sizes = read_sizes(conversation_id=found.pk)
        live = set(tree.path_to(found.head_seq))
        nodes = []
        for node in tree.nodes.values():
            count, size = sizes.get(node.seq, (0, 0))
            nodes.append(
                {
                    "id": message_id(found.pk, node.seq),
                    "seq": node.seq,
                    "parent_id": None if node.parent_seq is None else message_id(found.pk, node.parent_seq),
                    "answers_id": None
                    if node.answers_seq is None
                    else message_id(found.pk, node.answers_seq),
                    "role": node.role,
                    "branch_reason": node.branch_reason,
                    "is_hidden": node.is_hidden,
                    "is_live": node.seq in live,
                    "created_at": node.created_at,
                    "parts": count,
                    "bytes": size,
                }
            )
        head_id = None if found.head_seq is None else message_id(found.pk, found.head_seq)
        return Response(
            {"id": found.pk, "head_id": head_id, "head_move": found.head_move or 0, "nodes": nodes}
        )


class HeadMovesView(ApiView):
    """The log of what the customer saw."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="head_moves",
        summary="List the moves of the head",
        tags=[TAG],
        parameters=page_parameters(),
        responses=list_of(HeadMoveAnswer, name="HeadMoveListAnswer"),
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Newest first: each move, who made it and why. `?as_of=` of the conversation takes its number."""
        found = conversation_in(self.realm_id, conversation_id)
        page = page_by_number(
            request,
            HeadMove.objects.filter(conversation_id=found.pk),
            by="number",
            is_descending=True,
        )
        return Response(list_answer(request, page, [move_answer(found.pk, move) for move in page.rows]))


class _Then:
    """What was on screen at a moment."""

    def __init__(self, conversation_id: UUID, moment: datetime, move: Move | None) -> None:
        self.moment = moment
        self.move = move
        self.floor = highest_head(conversation_id=conversation_id, number=move.number) if move else 0

    @property
    def head_seq(self) -> int | None:
        return self.move.head_seq if self.move else None

    def is_later(self, tree: Tree, seq: int) -> bool:
        """Whether the message came after the moment: above all that was ever shown, and written since."""
        return seq > self.floor and tree.nodes[seq].created_at > self.moment


def _as_of(found: Conversation, given: str) -> _Then | None:
    if not given:
        return None
    if given.isascii() and given.isdigit() and len(given) <= 9:
        move = read_move(conversation_id=found.pk, number=int(given))
        if move is None:
            raise NotFoundError(
                "no-move", "there is no such move of the head", place=f"conversation {found.pk}"
            )
        return _Then(found.pk, move.moved_at, move)
    moment = _moment(given)
    return _Then(found.pk, moment, move_at(conversation_id=found.pk, moment=moment))


def _moment(given: str) -> datetime:
    # A plus sign that was not escaped arrives as a space.
    try:
        moment = parse_datetime(given.strip().replace(" ", "+"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or not timedelta(0) <= moment - _FIRST <= _LONGEST:
        raise ValidationError(
            {"as_of": "a moment like 2026-11-24T14:03:10Z, with its zone, or the number of a head move"}
        )
    return moment


_FIRST: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_LONGEST: Final = timedelta(days=365_000)
