import threading
from collections.abc import Iterator

import pytest

from conversations.imports.ahead import ReadAhead


def test_items_come_in_order():
    with ReadAhead(iter(range(1_000)), weigh=lambda item: 1, max_weight=10) as ahead:
        assert list(ahead) == list(range(1_000))


def test_an_error_comes_after_the_items_before_it():
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("disk gone")

    seen: list[int] = []
    with pytest.raises(OSError, match="disk gone"), ReadAhead(failing(), weigh=int, max_weight=10) as ahead:
        seen.extend(ahead)

    assert seen == [1]


def test_no_more_is_held_than_allowed_and_a_heavy_item_passes_alone():
    taken: list[int] = []
    held: list[int] = []

    def counted() -> Iterator[int]:
        for number in range(50):
            held.append(number - len(taken))
            yield number

    with ReadAhead(counted(), weigh=lambda item: 4, max_weight=10) as ahead:
        for number in ahead:
            taken.append(number)

    # Two are held, one is in the thread's hand and one in the consumer's.
    assert max(held) <= 4
    with ReadAhead(iter([1, 2]), weigh=lambda item: 100, max_weight=10) as ahead:
        assert list(ahead) == [1, 2]


def test_leaving_early_stops_the_thread():
    with ReadAhead(iter(range(10_000_000)), weigh=lambda item: 1, max_weight=10) as ahead:
        assert next(iter(ahead)) == 0

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("read-ahead")]
