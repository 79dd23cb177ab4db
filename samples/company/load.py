"""The sample company goes in through the product's own doors: recorder, services, importer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from django.db import transaction

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.models import Account, Conversation, Generation, ToolCall
from conversations.services.accounts import ensure_account
from conversations.services.heads import switch_head
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ImportReport
from conversations.services.recording import RecordedExchange, record_exchange
from conversations.services.starting import start_conversation
from conversations.services.tool_results import tell_durations
from conversations.vocabulary import CallStatus, Source
from samples.company import told
from samples.company.crowd import crowd
from samples.company.exports import ImportFile, import_files
from samples.company.shop import REALMS
from samples.company.story import Customer, Exchange, HeadSwitch, Story

RECORDER = Actor(ActorKind.APPLICATION, "travel-agent")


class DatabaseInUseError(Exception):
    """There are accounts already: samples never mix with somebody's data."""


@dataclass(slots=True)
class Loaded:
    """What was loaded; `conversations` by the story's key."""

    conversations: dict[str, UUID] = field(default_factory=dict)
    exchanges: int = 0
    imports: dict[str, ImportReport] = field(default_factory=dict)

    @property
    def imported(self) -> int:
        """How many conversations came from other systems' files."""
        return sum(report.counts["conversations new"] for report in self.imports.values())


@transaction.atomic
def load_company(
    *, today: datetime, crowd_size: int = 200, tell: Callable[[Story], None] = lambda story: None
) -> Loaded:
    """Load the told stories, the crowd and the import files, all or nothing; return what was loaded.

    Raises DatabaseInUseError where there is an account. `tell` hears of each story that is in.
    """
    if Account.objects.exists():
        raise DatabaseInUseError(
            "the database holds accounts; the sample company is loaded into an empty one only"
        )
    loader = _Loader(today)
    for story in (*told.stories(today), *crowd(today, stories=crowd_size)):
        loader.load(story)
        tell(story)
    for file in import_files(today):
        loader.import_file(file)
    return loader.loaded


class _Loader:
    def __init__(self, today: datetime) -> None:
        self.loaded = Loaded()
        self._today = today
        self._realms: dict[str, Realm] = {}
        self._accounts: dict[str, Account] = {}

    def load(self, story: Story) -> None:
        began = story.exchanges[0].started_at
        account = self._account(story.customer, began)
        conversation = start_conversation(
            account_id=account.pk,
            now=began,
            title=story.title,
            source=Source.RECORDED,
            external_ref=story.key,
            started_at=began,
        )
        answers: dict[str, int] = {}
        for step in story.steps:
            match step:
                case Exchange():
                    recorded = self._record(step, account, conversation, story.prompt_version)
                    _tell_durations(conversation.pk, step)
                    if recorded.answer_seq is not None:
                        answers[step.exchange_id] = recorded.answer_seq
                case HeadSwitch():
                    customer = Actor(ActorKind.CUSTOMER, account.external_id)
                    seq = answers[step.exchange_id]
                    switch_head(conversation_id=conversation.pk, seq=seq, actor=customer, now=step.at)
        self.loaded.conversations[story.key] = conversation.pk

    def _record(
        self, exchange: Exchange, account: Account, conversation: Conversation, prompt_version: str
    ) -> RecordedExchange:
        self.loaded.exchanges += 1
        return record_exchange(
            account=account,
            conversation_id=conversation.pk,
            request_body=exchange.request,
            response_body=exchange.response,
            dialect=exchange.dialect,
            provider=exchange.provider,
            http_status=exchange.status_code,
            exchange_id=exchange.exchange_id,
            request_id=exchange.request_id,
            prompt_version=prompt_version,
            api_version=exchange.api_version,
            beta_headers=", ".join(exchange.beta_headers),
            provider_request_id=exchange.provider_request_id,
            started_at=exchange.started_at,
            first_token_at=exchange.first_token_at,
            finished_at=exchange.ended_at,
            actor=RECORDER,
            now=exchange.ended_at,
        )

    def import_file(self, file: ImportFile) -> None:
        """One file of another system; its importer keeps what it could not read and says so."""
        account = self._account(file.customer, self._today)
        with TemporaryDirectory() as folder:
            path = Path(folder) / file.name
            path.write_bytes(file.content)
            self.loaded.imports[file.name] = import_file(
                path=path,
                realm=account.realm,
                actor=Actor(ActorKind.IMPORTER, "load_samples"),
                now=self._today,
                account=account.external_id,
            )

    def _account(self, customer: Customer, now: datetime) -> Account:
        known = self._accounts.get(customer.external_id)
        if known is None:
            known = self._accounts[customer.external_id] = ensure_account(
                realm=self._realm(customer.realm),
                external_id=customer.external_id,
                label=customer.name,
                email=customer.email,
                now=now,
            )
        return known

    def _realm(self, slug: str) -> Realm:
        known = self._realms.get(slug)
        if known is None:
            known = self._realms[slug] = _ensure_realm(slug, self._today)
        return known


def _tell_durations(conversation_id: UUID, exchange: Exchange) -> None:
    """The tools ran from the end of the answer that called them until their results left.

    Of several that ran at once, the last one ended then.
    """
    answered = ToolCall.objects.filter(
        conversation_id=conversation_id,
        status__in=[CallStatus.SUCCEEDED, CallStatus.FAILED],
        duration_ms=None,
        generation_number__isnull=False,
    )
    by_answer: dict[tuple[int, int], list[str]] = {}
    for call in answered.order_by("seq", "call_id"):
        by_answer.setdefault((call.seq, call.generation_number or 0), []).append(call.call_id)
    for (seq, number), call_ids in by_answer.items():
        called_at = Generation.objects.get(conversation_id=conversation_id, number=number).finished_at
        if called_at is None or called_at > exchange.started_at:
            continue
        longest = (exchange.started_at - called_at) // timedelta(milliseconds=1)
        shares = len(call_ids) + 1
        durations = {call_id: longest - longest * place // shares for place, call_id in enumerate(call_ids)}
        tell_durations(conversation_id=conversation_id, seq=seq, durations=durations)


def _ensure_realm(slug: str, now: datetime) -> Realm:
    realm, _ = Realm.objects.get_or_create(slug=slug, defaults={"name": REALMS[slug], "created_at": now})
    return realm
