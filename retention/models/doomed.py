"""Files that no row names any more: row first, file after."""

from django.db import models


class DoomedFile(models.Model):
    """A file in blob storage whose row is gone; a later step deletes it, and then this row.

    Written in the transaction that deletes the row which named the file. Storage
    keys are fresh uuids and never come back, so nobody can begin to need it again.
    """

    storage_key = models.CharField(primary_key=True, max_length=64)
    doomed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.storage_key
