"""One change of the books, as the rules see it: who asked, when, with what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from samples.processor.errors import Body
from samples.processor.ids import mint
from samples.processor.storage import Store


@dataclass(frozen=True)
class Call:
    """`request_id` and `key` are empty for what happens by itself: events say so too.

    `given` are ids by kind that objects get instead of new ones: books that tell a story.
    """

    store: Store
    now: int
    values: Body = field(default_factory=dict)
    object_id: str = ""
    request_id: str | None = None
    key: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    def id_for(self, kind: str, prefix: str) -> str:
        return self.given.get(kind) or mint(prefix)


Endpoint = Callable[[Call], Body]
