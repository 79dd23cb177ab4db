"""What was derived from messages: summaries, and chunks with the exact words they cite."""

from typing import ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations.api.answers import summary_answer
from conversations.api.fields import CountField, MessageIdField
from conversations.api.listing import list_answer, list_of, page_of, page_parameters
from conversations.api.looking_up import conversation_in, seq_of
from conversations.api.refusals import PROBLEM, BodyGone, BodyNotGiven, refusal
from conversations.api.shapes import SummaryAnswer
from conversations.archive.opening import ArchiveError
from conversations.errors import NotFoundError
from conversations.models import Chunk, Summary
from conversations.public_ids import message_id
from conversations.services.deriving import cut_chunks, resolve_citation, write_summary

TAG: Final = "Summaries and citations"
_MOST_SPANS: Final = 1_000
_LONGEST: Final = 200_000


class GivenSummary(serializers.Serializer):
    """A summary of one stretch of one path, and what made it."""

    from_id = MessageIdField()
    to_id = MessageIdField()
    text = serializers.CharField(max_length=_LONGEST)
    prompt_version = serializers.CharField(max_length=64)
    model = serializers.CharField(max_length=255, required=False)
    token_count = CountField(required=False)
    is_pinned = serializers.BooleanField(
        default=False, help_text="Whether it stands in front of every context that it covers."
    )


class GivenChunks(serializers.Serializer):
    """Spans of one part's text, as half-open byte offsets into its UTF-8."""

    message_id = MessageIdField()
    ordinal = CountField(max_value=32_767, default=0)
    spans = serializers.ListField(
        child=serializers.ListField(child=CountField(), min_length=2, max_length=2),
        min_length=1,
        max_length=_MOST_SPANS,
    )
    chunking_version = serializers.CharField(max_length=64)


class ChunkAnswer(serializers.Serializer):
    """One span of one part, without its words."""

    id = serializers.UUIDField()
    message_id = serializers.CharField()
    ordinal = serializers.IntegerField()
    byte_start = serializers.IntegerField()
    byte_end = serializers.IntegerField()
    sha256 = serializers.CharField()
    chunking_version = serializers.CharField()


class ChunksAnswer(serializers.Serializer):
    """All chunks of the part by this version, in order."""

    data = ChunkAnswer(many=True)  # type: ignore[assignment]  # DRF's own name is of the class


class CitationAnswer(ChunkAnswer):
    """The exact words that a chunk names, checked against the digest taken when it was cut."""

    words = serializers.CharField()


class SummariesView(ApiView):
    """The summaries of a conversation."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.WRITE}

    @extend_schema(
        operation_id="summaries",
        summary="List summaries",
        tags=[TAG],
        parameters=page_parameters(),
        responses=list_of(SummaryAnswer, name="SummaryListAnswer"),
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Newest first; one whose messages have lost bytes says so and is empty."""
        found = conversation_in(self.realm_id, conversation_id)
        page = page_of(request, Summary.objects.filter(conversation_id=found.pk), moment="created_at")
        self.log_read(
            target_kind=TargetKind.CONVERSATION,
            target_id=str(found.pk),
            conversation_id=found.pk,
            account_id=found.account_id,
            row_count=len(page.rows),
        )
        return Response(list_answer(request, page, [summary_answer(row) for row in page.rows]))

    @extend_schema(
        operation_id="write_summary",
        summary="Store a summary",
        tags=[TAG],
        request=GivenSummary,
        responses={201: SummaryAnswer},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """A message of the stretch that goes takes it along; one that loses bytes empties it."""
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenSummary)
        summary = write_summary(
            conversation_id=found.pk,
            from_seq=seq_of(found, given["from_id"]),
            to_seq=seq_of(found, given["to_id"]),
            text=given["text"],
            prompt_version=given["prompt_version"],
            model=given.get("model", ""),
            token_count=given.get("token_count"),
            is_pinned=given["is_pinned"],
            now=self.now,
        )
        return Response(summary_answer(summary), status=201)


class ChunksView(ApiView):
    """Spans of parts, for retrieval."""

    scopes: ClassVar = {"POST": Scope.WRITE}

    @extend_schema(
        operation_id="cut_chunks",
        summary="Cut chunks",
        tags=[TAG],
        request=GivenChunks,
        responses=ChunksAnswer,
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Store spans of one part's text, each once; one that leaves it or divides a character is refused."""
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenChunks)
        chunks = cut_chunks(
            conversation_id=found.pk,
            seq=seq_of(found, given["message_id"]),
            ordinal=given["ordinal"],
            spans=[(start, end) for start, end in given["spans"]],
            chunking_version=given["chunking_version"],
            now=self.now,
        )
        return Response({"data": [_chunk(chunk) for chunk in chunks]})


class CitationView(ApiView):
    """The words of a chunk."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="citation",
        summary="Resolve a citation",
        tags=[TAG],
        responses={
            200: CitationAnswer,
            (409, PROBLEM): refusal("The archive that the words lie in cannot be opened."),
            (410, PROBLEM): refusal("The words have changed since the chunk was cut."),
        },
    )
    def get(self, request: Request, conversation_id: UUID, chunk_id: UUID) -> Response:
        """A chunk goes with the bytes that it names: then it is not found."""
        found = conversation_in(self.realm_id, conversation_id)
        chunk = Chunk.objects.filter(pk=chunk_id, conversation_id=found.pk).first()
        try:
            citation = resolve_citation(chunk_id=chunk_id) if chunk else None
        except ArchiveError as error:
            raise BodyNotGiven(error.explanation, place=error.place) from error
        if chunk is None or citation is None or citation.reason == "chunk-gone":
            raise NotFoundError("chunk-gone", "there is no such chunk", place=f"conversation {found.pk}")
        if citation.words is None:
            raise BodyGone(f"the words cannot be given: {citation.reason}", place=str(chunk_id))
        self.log_read(
            target_kind=TargetKind.MESSAGE,
            target_id=message_id(found.pk, chunk.seq),
            conversation_id=found.pk,
            account_id=found.account_id,
        )
        return Response({**_chunk(chunk), "words": citation.words})


def _chunk(chunk: Chunk) -> dict[str, object]:
    return {
        "id": chunk.pk,
        "message_id": message_id(chunk.conversation_id, chunk.seq),
        "ordinal": chunk.ordinal,
        "byte_start": chunk.byte_start,
        "byte_end": chunk.byte_end,
        "sha256": bytes(chunk.sha256).hex(),
        "chunking_version": chunk.chunking_version,
    }
