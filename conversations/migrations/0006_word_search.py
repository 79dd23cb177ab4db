"""Search by words, and by pairs of characters where a language has no spaces.

Both are indexes over the text itself: no second copy, nothing to keep in step.
"""

from django.db import migrations

# Hiragana, Katakana, Han with its extensions, Hangul, Thai, Lao, Khmer, Myanmar: written without
# spaces, or with spaces that do not part words. The same ranges stand in conversations/search/scripts.py.
UNSPACED = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)

# A message never fails to be stored because of its index. A vector holds at most 1 MB; text that would
# pass it (a quarter of a megabyte of words that are all different) is indexed as far as it surely fits.
SEARCH_VECTOR = """
CREATE FUNCTION conversations_search_vector(said text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF octet_length(said) <= 100000 THEN RETURN to_tsvector('pg_catalog.simple', said); END IF;
    BEGIN
        RETURN to_tsvector('pg_catalog.simple', left(said, 200000));
    EXCEPTION WHEN program_limit_exceeded THEN
        RETURN to_tsvector('pg_catalog.simple', left(said, 50000));
    END;
END $$
"""

# Two passes of plain pairs, one of them a character later, are all overlapping pairs in linear time.
BIGRAMS = f"""
CREATE FUNCTION conversations_bigrams(said text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT pair[1]), '{{}}')
    FROM regexp_matches(left(said, 200000), '[{UNSPACED}]{{2,}}', 'g') AS run,
        LATERAL (
            SELECT regexp_matches(run[1], '..', 'g') UNION ALL
            SELECT regexp_matches(substr(run[1], 2), '..', 'g')
        ) AS pairs(pair)
$$
"""

HAS_UNSPACED = f"""
CREATE FUNCTION conversations_has_unspaced(said text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT said ~ '[{UNSPACED}]' $$
"""

WORDS_INDEX = """
CREATE INDEX part_words ON conversations_messagepart USING gin (conversations_search_vector(text))
WHERE text IS NOT NULL
"""

BIGRAMS_INDEX = """
CREATE INDEX part_bigrams ON conversations_messagepart USING gin (conversations_bigrams(text))
WHERE text IS NOT NULL AND conversations_has_unspaced(text)
"""

# Whoever reads through these indexes runs their functions.
GRANT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        GRANT EXECUTE ON FUNCTION conversations_search_vector(text), conversations_bigrams(text),
            conversations_has_unspaced(text) TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0005_ids_by_prefix")]

    operations = [
        migrations.RunSQL([SEARCH_VECTOR], ["DROP FUNCTION conversations_search_vector"]),
        migrations.RunSQL([BIGRAMS], ["DROP FUNCTION conversations_bigrams"]),
        migrations.RunSQL([HAS_UNSPACED], ["DROP FUNCTION conversations_has_unspaced"]),
        migrations.RunSQL([GRANT], migrations.RunSQL.noop),
        migrations.RunSQL([WORDS_INDEX], ["DROP INDEX part_words"]),
        migrations.RunSQL([BIGRAMS_INDEX], ["DROP INDEX part_bigrams"]),
    ]
