"""Opening an archive: the file is fetched, held against its digest, and read. Nothing is written back."""

import hashlib
from uuid import UUID

from conversations.archive.layout import ArchivedBytes, LayoutError, unpack
from conversations.errors import StoreError
from conversations.models import Archive
from conversations.services.blobs import read_blob


class ArchiveError(StoreError):
    """An archive that cannot be opened; the rows of its conversation are as they were."""


def open_archive(*, conversation_id: UUID) -> ArchivedBytes:
    """Return the archived bytes of a conversation; raises ArchiveError, in words for a page.

    One query and one file. `archive-missing`: no row or no file. `archive-damaged`: the file is
    not the one that was written.
    """
    place = f"conversation {conversation_id}"
    row = Archive.objects.filter(pk=conversation_id).only("storage_key", "sha256").first()
    if row is None:
        raise ArchiveError("archive-missing", "there is no archive file for these bytes", place=place)
    try:
        file = read_blob(storage_key=row.storage_key)
    except OSError as error:
        raise ArchiveError(
            "archive-missing",
            f"the archive file {row.storage_key} is not in blob storage; restore it from a backup",
            place=place,
        ) from error
    if hashlib.sha256(file).digest() != bytes(row.sha256):
        raise ArchiveError(
            "archive-damaged",
            f"the archive file {row.storage_key} is not the one that was written (its checksum differs);"
            " restore it from a backup",
            place=place,
        )
    try:
        return unpack(file, conversation_id=conversation_id)
    except LayoutError as error:
        raise ArchiveError(
            "archive-damaged", f"the archive file {row.storage_key}: {error}", place=place
        ) from error
