"""Every address that the product answers, with the view behind it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.converters import IntConverter, SlugConverter, StringConverter, UUIDConverter

SAMPLES = {
    UUIDConverter: "0193a1b2-0000-7000-8000-00000000ffff",
    IntConverter: 1,
    SlugConverter: "none-such",
    StringConverter: "none-such",
}


@dataclass(frozen=True)
class Address:
    name: str
    view: Callable[..., Any]
    converters: dict[str, Any]

    def path(self) -> str:
        """Return an address of that kind at which nothing stands."""
        return reverse(
            self.name, kwargs={name: SAMPLES[type(kind)] for name, kind in self.converters.items()}
        )


def of_the_product() -> list[Address]:
    """All but the stock admin's, whose pages ask for permissions of their own accord."""
    return [address for address in _walk(get_resolver()) if not address.name.startswith("admin:")]


def _walk(
    resolver: URLResolver, names: tuple[str, ...] = (), converters: dict | None = None
) -> Iterator[Address]:
    for pattern in resolver.url_patterns:
        kinds = {**(converters or {}), **pattern.pattern.converters}
        if isinstance(pattern, URLPattern):
            yield Address(":".join((*names, pattern.name or "")), pattern.callback, kinds)
        else:
            yield from _walk(pattern, (*names, *filter(None, [pattern.namespace])), kinds)
