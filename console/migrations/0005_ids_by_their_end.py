"""Ids that end so: the last six characters are what screens show of a long id, and what people pass on.

The function runs as its owner, since `right(…)` may not see rows before the policies of row security do
and no index would serve. It returns whole ids alone: what its caller may not see is left out here by
realm, and once more when the rows are read. Messages, calls and attempts have no index of ends: it
would cost them 30 bytes a row, and where their end is passed on, so is a conversation or a beginning.
"""

from django.db import migrations

BY_UUID = (
    "right({alias}.id::text, 6) = right(uuid_ending, 6)"
    " AND right({alias}.id::text, length(uuid_ending)) = uuid_ending"
)
BY_REFERENCE = (
    "right({column}::text, 6) = right(ending, 6) AND right({column}::text, length(ending)) = ending"
    " AND {column} <> ''"
)
SEEN = "(seen.ids IS NULL OR {realm} = ANY (seen.ids))"
# What it is called here, its id, the tables, whose it is.
SOURCES = (
    (
        "conversation",
        "c.id",
        "conversations_conversation c JOIN conversations_account a ON a.id = c.account_id",
        "a.realm_id",
    ),
    ("account", "a.id", "conversations_account a", "a.realm_id"),
    ("effect", "e.id", "ledger_tooleffect e", "e.realm_id"),
    (
        "effect",
        "r.reference",
        "ledger_effectreference r JOIN ledger_tooleffect e ON e.id = r.effect_id",
        "e.realm_id",
    ),
    (
        "effect",
        "k.external_ref",
        "ledger_compensation k JOIN ledger_tooleffect e ON e.id = k.effect_id",
        "e.realm_id",
    ),
    (
        "effect",
        "d.external_ref",
        "ledger_dispute d JOIN ledger_tooleffect e ON e.id = d.effect_id",
        "e.realm_id",
    ),
    ("statement", "s.id", "ledger_statement s", "s.realm_id"),
    ("reconciliation", "n.id", "ledger_reconciliationrun n", "n.realm_id"),
    ("request", "q.id", "retention_erasurerequest q", "q.realm_id"),
    # Whose a hold or a job is, the search box asks when it reads them; there are few.
    ("hold", "h.id", "retention_legalhold h", ""),
    ("job", "j.id", "jobs_jobrun j", ""),
)


def branch(source: str, column: str, tables: str, realm: str) -> str:
    alias, name = column.split(".")
    ends = BY_UUID.format(alias=alias) if name == "id" else BY_REFERENCE.format(column=column)
    seen = f" AND {SEEN.format(realm=realm)}" if realm else ""
    return f"(SELECT '{source}', {column}::text FROM seen, {tables} WHERE {ends}{seen} LIMIT most)"


FIND = f"""
CREATE FUNCTION console_ids_ending_so(ending text, uuid_ending text, wanted bigint[], most integer)
RETURNS TABLE (source text, whole text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    WITH seen AS MATERIALIZED (SELECT access_realms_within(wanted) AS ids)
    {" UNION ALL ".join(branch(*found) for found in SOURCES)}
$$
"""

GRANT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        GRANT EXECUTE ON FUNCTION console_ids_ending_so(text, text, bigint[], integer) TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0004_money_row_security"),
        ("conversations", "0022_ends_of_ids"),
        ("jobs", "0003_ids_in_tickets"),
        ("ledger", "0013_ids_in_tickets"),
        ("retention", "0015_ids_in_tickets"),
    ]

    operations = [
        migrations.RunSQL([FIND], ["DROP FUNCTION console_ids_ending_so"]),
        migrations.RunSQL([GRANT], migrations.RunSQL.noop),
    ]
