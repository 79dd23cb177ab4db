"""The media type of an answer is chosen by `Accept` alone."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer


class ByAccept(DefaultContentNegotiation):
    """DRF would also take a parameter `format`, and answer 404 to one that it does not know."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:  # noqa: A002 -- DRF's name
        return list(renderers)
