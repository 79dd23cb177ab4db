"""Import a file: format by shape, conversation by conversation, in batches, with a report."""

from collections.abc import Callable, Iterator
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
from conversations.imports.trouble import Broken, RefusedFileError
from conversations.services.accounts import ensure_account
from conversations.services.importing.report import ImportReport
from conversations.services.importing.traffic import record_call
from conversations.services.importing.writing import write_batch
from conversations.wire.literals import readable_copy

# A batch ends with whichever comes first; a conversation is never divided.
BATCH_MESSAGES: Final = 4_000
BATCH_BYTES: Final = 16 << 20

_NOBODYS: Final = "the source does not say whose it is; name the account"

type Progress = Callable[[Found], None]


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
    refusals. Repeating an import adds nothing.
    """
    report = ImportReport(is_dry_run=is_dry_run)
    batch = _Batch(realm, actor, now, account, report, keep_originals)
    if not is_dry_run:
        _import(path, batch, report, progress)
        return report
    with transaction.atomic():
        _import(path, batch, report, progress)
        transaction.set_rollback(True)
    return report


def _import(path: Path, batch: "_Batch", report: ImportReport, progress: Progress | None) -> None:
    try:
        documents = list(open_documents(path))
    except RefusedFileError as refusal:
        report.refuse(path.name, str(refusal))
        return
    if not documents:
        report.refuse(path.name, "an archive without JSON or CSV files")
    for document, reader in _readable(documents, report):
        with ReadAhead(reader.read(document), weigh=_size, max_weight=BATCH_BYTES) as ahead:
            for found in ahead:
                if progress is not None:
                    progress(found)
                if isinstance(found, Broken):
                    report.fail(found.place, found.reason)
                elif isinstance(found, TrafficCall):
                    batch.record(found)
                else:
                    batch.add(found)
    batch.write()


def _size(found: Found) -> int:
    return len(found.raw or b"")


def _readable(documents: list[Document], report: ImportReport) -> Iterator[tuple[Document, Format]]:
    for document in documents:
        try:
            reader = detect_format(document)
        except RefusedFileError as refusal:
            report.refuse(document.name, str(refusal))
            continue
        if reader.LABEL not in report.formats:
            report.formats.append(reader.LABEL)
        yield document, reader


class _Batch:
    """Conversations of one account that wait to be written together."""

    def __init__(
        self,
        realm: Realm,
        actor: Actor,
        now: datetime,
        account: str,
        report: ImportReport,
        keep_originals: bool,
    ) -> None:
        self._realm = realm
        self._actor = actor
        self._now = now
        self._account = account
        self._report = report
        self._keep_originals = keep_originals
        self._waiting: list[ImportedConversation] = []
        self._refs: set[str] = set()
        self._owner = ""
        self._messages = 0
        self._bytes = 0

    def add(self, conversation: ImportedConversation) -> None:
        owner = readable_copy(self._account or conversation.account_external_id)[:255]
        if not owner:
            self._report.fail(conversation.place, _NOBODYS)
            return
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

    def record(self, call: TrafficCall) -> None:
        """Record a call at once: the recorder matches each against what the one before has written."""
        owner = readable_copy(self._account or call.account_external_id)[:255]
        if not owner:
            self._report.fail(call.place, _NOBODYS)
            return
        account = ensure_account(realm=self._realm, external_id=owner, now=self._now)
        record_call(call=call, account=account, actor=self._actor, now=self._now, report=self._report)

    def write(self) -> None:
        if not self._waiting:
            return
        account = ensure_account(realm=self._realm, external_id=self._owner, now=self._now)
        write_batch(
            account_id=account.pk,
            conversations=self._waiting,
            actor=self._actor,
            now=self._now,
            report=self._report,
            keep_originals=self._keep_originals,
        )
        self._waiting, self._refs = [], set()
        self._messages = self._bytes = 0
