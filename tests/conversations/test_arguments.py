import json

import pytest

from conversations.arguments import derived_arguments
from tests.conversations.drafts import call


@pytest.mark.parametrize(
    ("arguments", "derived"),
    [
        (
            '{"order":1042,"currency":"EUR","express":true,"note":null}',
            '{"currency":"EUR","express":true,"note":null,"order":1042}',
        ),
        ('{"amount":12.50}', '{"amount":12.5}'),
        (json.dumps({"id": "ch_1", "reason": "x" * 65}), '{"id":"ch_1"}'),
        ('{"id":"ch_1","lines":[1,2],"address":{"city":"Ulm"}}', '{"id":"ch_1"}'),
        ("{}", None),
        ("[1,2]", None),
        ('"words"', None),
        (r'{"id":"a\u0000b"}', None),
        ('{"huge":1e400}', None),
        ('{"id":"ch_1","rate":NaN,"most":Infinity,"least":-Infinity}', '{"id":"ch_1"}'),
        ('{"rate":NaN}', None),
        ("{broken", None),
        (json.dumps({f"k{n}": n for n in range(25)}), None),
    ],
)
def test_short_members_are_kept_for_statistics(arguments, derived):
    found = derived_arguments(call("call_0", arguments=arguments))

    assert (None if found is None else json.loads(found)) == (
        None if derived is None else json.loads(derived)
    )
