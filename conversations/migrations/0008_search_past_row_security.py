"""Searches that row security would turn into scans: the operators may not see rows before the policies do.

Each runs as its owner, so it uses its index, and returns keys alone: what the caller may not
see is left out here by realm, and once more by the policies when the rows are read.
"""

from django.db import migrations

# Put together of the conditions there are, so that each search is planned with its own values.
STATEMENT = """
CREATE FUNCTION conversations_places_statement(
    by_words boolean, by_pairs boolean, by_holding boolean, by_lacking boolean, by_realm boolean
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat(
        'SELECT p.conversation_id, p.seq, p.ordinal FROM conversations_messagepart p WHERE p.text IS NOT NULL',
        CASE WHEN by_words THEN ' AND conversations_search_vector(p.text) @@ $1' END,
        CASE WHEN by_pairs THEN ' AND conversations_has_unspaced(p.text)'
            ' AND conversations_bigrams(p.text) @> $2' END,
        CASE WHEN by_holding THEN ' AND (SELECT bool_and(position(lower(w) IN lower(left(p.text, 200000))) > 0)'
            ' FROM unnest($3) w)' END,
        CASE WHEN by_lacking THEN ' AND (SELECT bool_and(position(lower(w) IN lower(left(p.text, 200000))) = 0)'
            ' FROM unnest($4) w)' END,
        -- No join: the index of the words is what is read first, the realm is looked up for what it finds.
        CASE WHEN by_realm THEN ' AND (SELECT a.realm_id FROM conversations_conversation c'
            ' JOIN conversations_account a ON a.id = c.account_id WHERE c.id = p.conversation_id) = ANY ($5)' END,
        ' LIMIT $6'
    )
$$
"""

FIND_PLACES = """
CREATE FUNCTION conversations_find_places(
    words tsquery, pairs text[], holding text[], lacking text[], realms bigint[], most integer
) RETURNS TABLE (conversation_id uuid, seq integer, ordinal smallint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE seen bigint[] := access_realms_within(realms);
BEGIN
    -- Without either there is no index to read through.
    IF words IS NULL AND cardinality(pairs) = 0 THEN RETURN; END IF;
    RETURN QUERY EXECUTE conversations_places_statement(
        words IS NOT NULL, cardinality(pairs) > 0, cardinality(holding) > 0, cardinality(lacking) > 0,
        seen IS NOT NULL
    ) USING words, pairs, holding, lacking, seen, most;
END $$
"""

FIND_ACCOUNTS = """
CREATE FUNCTION conversations_accounts_with_email(sought text, most integer) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT a.id FROM conversations_account a, (SELECT access_realms_within(NULL) AS ids) seen
    WHERE lower(a.email) = lower(sought) AND a.email <> '' AND (seen.ids IS NULL OR a.realm_id = ANY (seen.ids))
    LIMIT most
$$
"""

GRANT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        GRANT EXECUTE ON FUNCTION conversations_accounts_with_email(text, integer),
            conversations_find_places(tsquery, text[], text[], text[], bigint[], integer) TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0006_realms_of_a_reading"),
        ("conversations", "0007_conversation_notes"),
    ]

    operations = [
        migrations.RunSQL([STATEMENT], ["DROP FUNCTION conversations_places_statement"]),
        migrations.RunSQL([FIND_PLACES], ["DROP FUNCTION conversations_find_places"]),
        migrations.RunSQL([FIND_ACCOUNTS], ["DROP FUNCTION conversations_accounts_with_email"]),
        migrations.RunSQL([GRANT], migrations.RunSQL.noop),
    ]
