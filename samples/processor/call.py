"""One change of the books, as the rules see it: who asked, when, with what."""

from collections.abc import Callable
from dataclasses import dataclass, field

from samples.processor.errors import Body
from samples.processor.storage import Store


@dataclass(frozen=True)
class Call:
    """`request_id` and `key` are empty for what happens by itself: events say so too."""

    store: Store
    now: int
    values: Body = field(default_factory=dict)
    object_id: str = ""
    request_id: str | None = None
    key: str | None = None


Endpoint = Callable[[Call], Body]
