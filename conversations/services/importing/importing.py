"""Import a file: format by shape, conversation by conversation, in batches, with a report."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from django.db import transaction

from access.actors import Actor
from access.models import Realm
from conversations.drafts import ImportedConversation
from conversations.imports.ahead import ReadAhead
from conversations.imports.detect import Format, Found, detect_format
from conversations.imports.streams import Document, open_documents
from conversations.imports.traffic import TrafficCall
from conversations.imports.trouble import Broken, DamagedFileError, RefusedFileError
from conversations.models import Account
from conversations.services.accounts import ensure_account
from conversations.services.erased import ErasedError
from conversations.services.importing.garbage import collected_rarely
from conversations.services.importing.report import ImportReport
from conversations.services.importing.traffic import record_call
from conversations.services.importing.writers import Writers
from conversations.services.importing.writing import Destination, settle_search
from conversations.wire.literals import readable_copy

# A batch ends with whichever comes first; a conversation is never divided.
BATCH_MESSAGES: Final = 2_000
BATCH_BYTES: Final = 8 << 20

# Told of each thing that was read, beside the report so far; says whether to go on.
type Progress = Callable[[Found, ImportReport], bool]


def import_file(
    *,
    path: Path,
    realm: Realm,
    actor: Actor,
    now: datetime,
    account: str = "",
    is_dry_run: bool = False,
    keep_originals: bool = True,
    progress: Progress | None = None,
) -> ImportReport:
    """Import every conversation of a file and say what became of each; never raises for what is in the file.

    With `account`, all of them are that customer's; without it, the source must
    name one. A dry run writes and rolls back, so that it meets the same
    refusals. Repeating an import adds nothing. Where `progress` says not to go on,
    what was read is written, and the report says that the import was stopped.
    """
    report = ImportReport(is_dry_run=is_dry_run)
    terms = Terms(realm, actor, now, account, keep_originals)
    with collected_rarely():
        if not is_dry_run:
            _import(path, terms, report, progress)
            return report
        with transaction.atomic():
            _import(path, terms, report, progress)
            transaction.set_rollback(True)
        return report


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for a whole import; without `account` each conversation's source names one."""

    realm: Realm
    actor: Actor
    now: datetime
    account: str
    keep_originals: bool

    def owner_of(self, found: ImportedConversation | TrafficCall) -> str:
        return readable_copy(self.account or found.account_external_id)[:255]


def _import(path: Path, terms: Terms, report: ImportReport, progress: Progress | None) -> None:
    try:
        documents = list(open_documents(path))
    except RefusedFileError as refusal:
        report.refuse(path.name, str(refusal))
        return
    if not documents:
        report.refuse(path.name, "an archive without JSON or CSV files")
    with Writers(report) as writers:
        batch = _Batch(terms, report, writers)
        with closing(_read(documents, report)) as everything:
            for found in everything:
                batch.take(found)
                if progress is not None and not progress(found, report):
                    report.is_stopped = True
                    break
        batch.write()
    if report.counts["messages"]:
        settle_search()


def _read(documents: list[Document], report: ImportReport) -> Generator[Found]:
    for document, reader in _readable(documents, report):
        with ReadAhead(reader.read(document), weigh=size_of, max_weight=BATCH_BYTES) as ahead:
            yield from ahead


def size_of(found: Found) -> int:
    """Return how many bytes of the file something that was read stood in."""
    return len(found.raw or b"")


def _readable(documents: list[Document], report: ImportReport) -> Iterator[tuple[Document, Format]]:
    for document in documents:
        try:
            reader = detect_format(document)
        except RefusedFileError as refusal:
            report.refuse(document.name, str(refusal), is_damaged=isinstance(refusal, DamagedFileError))
            continue
        if reader.LABEL not in report.formats:
            report.formats.append(reader.LABEL)
        yield document, reader


class _Batch:
    """Conversations of one account that wait to be written together."""

    def __init__(self, terms: Terms, report: ImportReport, writers: Writers) -> None:
        self._terms = terms
        self._report = report
        self._writers = writers
        self._owner = ""
        self._waiting: list[ImportedConversation] = []
        self._refs: set[str] = set()
        self._messages = 0
        self._bytes = 0

    def take(self, found: Found) -> None:
        """Keep a conversation for the next batch, record a call at once, report what is neither."""
        if isinstance(found, Broken):
            self._report.fail(found.place, found.reason)
            return
        owner = self._terms.owner_of(found)
        if not owner:
            self._report.fail(found.place, "the source does not say whose it is; name the account")
        elif isinstance(found, TrafficCall):
            self._record(owner, found)
        else:
            self._add(owner, found)

    def write(self) -> None:
        if not self._waiting:
            return
        terms = self._terms
        account = self._account(self._owner, [one.place for one in self._waiting])
        if account is not None:
            destination = Destination(
                terms.realm.pk, account.pk, terms.actor, terms.now, terms.keep_originals
            )
            self._writers.write(destination, self._waiting)
        self._waiting, self._refs = [], set()
        self._messages = self._bytes = 0

    def _add(self, owner: str, conversation: ImportedConversation) -> None:
        size = len(conversation.raw or b"")
        is_full = self._messages >= BATCH_MESSAGES or self._bytes + size > BATCH_BYTES
        # The same conversation twice in one file: the second adds to what the first has written.
        if owner != self._owner or is_full or conversation.external_ref in self._refs:
            self.write()
        self._owner = owner
        self._refs.add(conversation.external_ref)
        self._waiting.append(conversation)
        self._messages += len(conversation.nodes)
        self._bytes += size

    def _record(self, owner: str, call: TrafficCall) -> None:
        """The recorder matches each call against what the one before has written."""
        terms = self._terms
        account = self._account(owner, [call.place])
        if account is not None:
            record_call(call=call, account=account, actor=terms.actor, now=terms.now, report=self._report)

    def _account(self, owner: str, places: list[str]) -> Account | None:
        """The customer's account; none for somebody who was erased, and that is said."""
        try:
            return ensure_account(realm=self._terms.realm, external_id=owner, now=self._terms.now)
        except ErasedError as error:
            for place in places:
                self._report.fail(place, error.explanation)
            return None
