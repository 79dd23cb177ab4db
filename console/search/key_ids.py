"""API keys by how their secrets begin: from a ticket, or from a log where a whole one has leaked."""

from typing import Final

from django.urls import reverse

from access.models import ApiKey
from access.reading import as_application
from access.services.keys import HINT_LENGTH, PREFIX
from console.search.place import Place
from console.search.sight import Sight

# As many random characters as tell keys apart.
_SHORTEST: Final = len(PREFIX) + 4


def key_places(*, term: str, sight: Sight) -> list[Place]:
    """Return the keys whose secret begins so. Of a secret that was pasted, only its beginning is told."""
    if not (sight.keys and term.startswith(PREFIX) and len(term) >= _SHORTEST):
        return []
    begun = ApiKey.objects.filter(sight.reach.within("realm_id"), hint__startswith=term[:HINT_LENGTH])
    with as_application():
        keys = list(begun.select_related("realm").order_by("-created_at"))
    return [
        Place(
            kind="API key",
            by="how it begins",
            ident=key.hint,
            url=reverse("console:api-key", args=[key.pk]),
            realm_id=key.realm_id,
            record_id=str(key.pk),
            label=key.application,
            realm=key.realm.slug,
        )
        for key in keys
    ]
