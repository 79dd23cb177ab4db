"""Each probe of the search box walks an index, for every role."""

import pytest
from django.db import connection

from access.reach import Reach
from access.reading import reading_as
from console.search import desks
from console.search.desk_ids import statement
from conversations.ids import mint_id
from tests.access.tenants import without_scans
from tests.console.conftest import NOW

DIGEST = "5f" * 32


@pytest.mark.schema
@pytest.mark.parametrize(
    "probes",
    [
        desks.BY_UUID,
        desks.BY_TEXT,
        desks.BY_DIGEST,
        desks.BEGUN_UUID,
        desks.BEGUN_TEXT,
        desks.BEGUN_DIGEST,
    ],
    ids=["uuid", "text", "digest", "uuids", "texts", "digests"],
)
@pytest.mark.parametrize("sees_all", [True, False])
def test_each_probe_of_a_desk_is_an_index_probe_under_the_policies(realm, probes, sees_all):
    asked = {
        "uuid": mint_id(NOW),
        "lowest": mint_id(NOW),
        "highest": mint_id(NOW),
        "term": "march.csv",
        "end": "march.csw",
        "digest": DIGEST,
        "first_digest": DIGEST,
        "last_digest": DIGEST,
        "realms": None if sees_all else [realm.pk],
    }
    reach = Reach(sees_all=True) if sees_all else Reach(realm_ids=frozenset({realm.pk}))

    for probe in probes:
        with reading_as(reach), without_scans():
            plan = "\n".join(text for (text,) in plan_of(statement((probe,)), asked))
        assert "Index Cond" in plan, (probe, plan)
        assert "Seq Scan" not in plan, (probe, plan)


def plan_of(sql: str, asked: dict[str, object]) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", asked)
        return cursor.fetchall()
