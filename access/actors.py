"""Who does a thing: every service that writes takes an Actor and records it by id, never by name."""

from dataclasses import dataclass

from django.db.models import TextChoices


class ActorKind(TextChoices):
    CUSTOMER = "customer"
    STAFF = "staff"
    APPLICATION = "application"
    IMPORTER = "importer"
    JOB = "job"
    PROCESSOR = "processor"


@dataclass(frozen=True, slots=True)
class Actor:
    """`id` is a key in the actor's own list (a user, an API key, a job run), or empty."""

    kind: ActorKind
    id: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}" if self.id else str(self.kind)
