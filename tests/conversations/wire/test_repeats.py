import pytest

from conversations.wire.repeats import repeated_names


@pytest.mark.parametrize(
    ("payload", "names"),
    [
        (b'{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}', ["zeta"]),
        (b'[{"a":{"b":1,"b":2}},{"c":1,"c":1,"c":1}]', ["b", "c"]),
        (b'{"a":{"x":1},"b":{"x":1}}', []),
        (b"no json", []),
        (b"[" * 100_000, []),
    ],
)
def test_names_that_stand_twice_in_one_object_are_found(payload, names):
    assert repeated_names(payload) == names
