"""A search by words is narrowed while it reads, so that what it is narrowed to is not lost among other places.

Narrowed afterwards, only what happened to be among the first places found could be left over.
"""

from importlib import import_module

from django.db import migrations

# What it takes the place of, and gives back when it is undone.
BEFORE = import_module("conversations.migrations.0008_search_past_row_security")

# As before, and each way of narrowing one probe for a place that was found.
STATEMENT = """
CREATE FUNCTION conversations_places_statement(
    by_words boolean, by_pairs boolean, by_holding boolean, by_lacking boolean, by_realm boolean, narrowed jsonb
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat(
        'SELECT p.conversation_id, p.seq, p.ordinal FROM conversations_messagepart p WHERE p.text IS NOT NULL',
        CASE WHEN by_words THEN ' AND conversations_search_vector(p.text) @@ $1' END,
        CASE WHEN by_pairs THEN ' AND conversations_has_unspaced(p.text)'
            ' AND conversations_bigrams(p.text) @> $2' END,
        CASE WHEN narrowed ? 'conversation' THEN ' AND p.conversation_id = ($7->>''conversation'')::uuid' END,
        CASE WHEN narrowed ? 'account' THEN ' AND (SELECT c.account_id FROM conversations_conversation c'
            ' WHERE c.id = p.conversation_id) = ($7->>''account'')::uuid' END,
        CASE WHEN narrowed ?| ARRAY['since', 'until'] THEN ' AND (SELECT m.created_at'
            ' >= coalesce(($7->>''since'')::timestamptz, ''-infinity'')'
            ' AND m.created_at < coalesce(($7->>''until'')::timestamptz, ''infinity'')'
            ' FROM conversations_message m WHERE m.conversation_id = p.conversation_id AND m.seq = p.seq)' END,
        CASE WHEN narrowed ? 'tool' THEN ' AND (SELECT count(*) FROM (SELECT FROM conversations_toolcall t'
            ' WHERE t.conversation_id = p.conversation_id AND t.name = $7->>''tool'' LIMIT 1) one) > 0' END,
        CASE WHEN narrowed ? 'model' THEN ' AND (SELECT count(*) FROM (SELECT FROM conversations_generation g'
            ' WHERE g.conversation_id = p.conversation_id'
            ' AND coalesce(nullif(g.served_model, ''''), g.requested_model) = $7->>''model'' LIMIT 1) one) > 0' END,
        CASE WHEN narrowed ? 'status' THEN ' AND (SELECT count(*) FROM (SELECT FROM conversations_generation g'
            ' WHERE g.conversation_id = p.conversation_id AND g.status = $7->>''status'' LIMIT 1) one) > 0' END,
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
    words tsquery, pairs text[], holding text[], lacking text[], realms bigint[], most integer, narrowed jsonb
) RETURNS TABLE (conversation_id uuid, seq integer, ordinal smallint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE seen bigint[] := access_realms_within(realms);
BEGIN
    -- Without either there is no index to read through.
    IF words IS NULL AND cardinality(pairs) = 0 THEN RETURN; END IF;
    RETURN QUERY EXECUTE conversations_places_statement(
        words IS NOT NULL, cardinality(pairs) > 0, cardinality(holding) > 0, cardinality(lacking) > 0,
        seen IS NOT NULL, narrowed
    ) USING words, pairs, holding, lacking, seen, most, narrowed;
END $$
"""

GRANT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        GRANT EXECUTE ON FUNCTION
            conversations_find_places(tsquery, text[], text[], text[], bigint[], integer, jsonb)
        TO counterfoil_read;
    END IF;
END $$
"""

GRANT_BEFORE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        GRANT EXECUTE ON FUNCTION
            conversations_find_places(tsquery, text[], text[], text[], bigint[], integer)
        TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0011_redaction")]

    operations = [
        migrations.RunSQL(
            [
                "DROP FUNCTION conversations_find_places(tsquery, text[], text[], text[], bigint[], integer)",
                "DROP FUNCTION conversations_places_statement(boolean, boolean, boolean, boolean, boolean)",
            ],
            [BEFORE.STATEMENT, BEFORE.FIND_PLACES, GRANT_BEFORE],
        ),
        migrations.RunSQL([STATEMENT], ["DROP FUNCTION conversations_places_statement"]),
        migrations.RunSQL([FIND_PLACES], ["DROP FUNCTION conversations_find_places"]),
        migrations.RunSQL([GRANT], migrations.RunSQL.noop),
    ]
