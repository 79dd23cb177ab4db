import pytest

from conversations.canonical_json import parse_value
from ledger.services.rules import is_effectful

ARGUMENTS = parse_value(
    b'{"amount": 1900, "price": 19.90, "mode": "send", "lines": [{"sku": "a"}], "name": "caf\\u00e9"}'
)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"path": "amount", "is": "greater", "value": 1899}, True),
        ({"path": "amount", "is": "greater", "value": 1900}, False),
        ({"path": "amount", "is": "less", "value": 1901}, True),
        ({"path": "amount", "is": "equal", "value": 1900.0}, True),
        ({"path": "price", "is": "equal", "value": 19.9}, True),
        ({"path": "price", "is": "not_equal", "value": 19.9}, False),
        ({"path": "mode", "is": "one_of", "value": ["send", "book"]}, True),
        ({"path": "mode", "is": "one_of", "value": ["draft"]}, False),
        ({"path": "lines.0.sku", "is": "equal", "value": "a"}, True),
        ({"path": "name", "is": "equal", "value": "cafe\u0301"}, True),
        ({"path": "dry_run", "is": "present"}, False),
        ({"path": "dry_run", "is": "absent"}, True),
        # What cannot be judged holds.
        ({"path": "dry_run", "is": "equal", "value": False}, True),
        ({"path": "price", "is": "greater", "value": 5000}, True),
        ({"path": "mode", "is": "less", "value": 5}, True),
    ],
)
def test_a_condition_on_an_argument(condition, holds):
    assert is_effectful(ARGUMENTS, [condition]) is holds


def test_all_conditions_must_hold():
    sends = {"path": "mode", "is": "equal", "value": "send"}
    is_large = {"path": "amount", "is": "greater", "value": 5000}

    assert not is_effectful(ARGUMENTS, [sends, is_large])
