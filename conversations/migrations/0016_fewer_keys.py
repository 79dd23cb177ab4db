"""Keys that said what other keys say already go; what they held is asked by triggers or by those others.

A call's row names the part's position, so the part needs no second copy of its call's id and no unique
key over it. The group of a message and the head of a log line are looked at where they are, instead of
being the third column of an index beside the primary key. A request's id leads the key of its attempts.
"""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

KEYS = {
    name: (table, definition)
    for table, name, definition in import_module("conversations.migrations.0002_tree_keys").KEYS
}
RULES = import_module("conversations.migrations.0003_tree_rules")
ARCHIVE = import_module("conversations.migrations.0013_archive")
STATEMENTS = import_module("conversations.migrations.0014_rules_by_statement")

CALL_OF_A_PART = """
UPDATE conversations_toolcall t SET ordinal = p.ordinal FROM conversations_messagepart p
WHERE p.conversation_id = t.conversation_id AND p.seq = t.seq AND p.tool_call_id = t.call_id
AND p.type = 'tool_use' AND NOT p.orphan
"""

# As before, and that a message answers the one right before it, or what that one answers.
MESSAGES_ARE_PLACED = STATEMENTS.MESSAGES_ARE_PLACED.replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
).replace(
    """    FOR placed_below IN
""",
    """    SELECT p.* INTO placed_below FROM placed p WHERE p.answers_seq <> (
        SELECT a.group_ordinal FROM conversations_message a
        WHERE a.conversation_id = p.conversation_id AND a.seq = p.parent_seq LIMIT 1) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'message % of conversation % answers message %, but hangs below another turn',
            placed_below.seq, placed_below.conversation_id, placed_below.answers_seq
            USING ERRCODE = 'foreign_key_violation',
                CONSTRAINT = 'conversations_message_answers_the_one_before', TABLE = 'conversations_message';
    END IF;
    FOR placed_below IN
""",
)

# As before, and that the row is that of a call, by its own id.
CALLS_ARE_ANSWERED = STATEMENTS.CALLS_ARE_ANSWERED.replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
).replace(
    """BEGIN
""",
    """DECLARE lost record;
BEGIN
    SELECT c.* INTO lost FROM called c WHERE (
        SELECT true FROM conversations_messagepart p
        WHERE p.conversation_id = c.conversation_id AND p.seq = c.seq AND p.ordinal = c.ordinal
        AND p.type = 'tool_use' AND NOT p.orphan AND p.tool_call_id = c.call_id LIMIT 1) IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'part % of message % of conversation % is no call %',
            lost.ordinal, lost.seq, lost.conversation_id, lost.call_id
            USING ERRCODE = 'foreign_key_violation',
                CONSTRAINT = 'conversations_toolcall_has_its_part', TABLE = 'conversations_toolcall';
    END IF;
""",
)

CALL_KEEPS_ITS_NAME = """
CREATE FUNCTION conversations_call_keeps_its_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.conversation_id, new.seq, new.ordinal, new.call_id)
        IS DISTINCT FROM (old.conversation_id, old.seq, old.ordinal, old.call_id) THEN
        RAISE EXCEPTION 'call % of message % of conversation % cannot become another call',
            old.call_id, old.seq, old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_toolcall_keeps_its_name',
                TABLE = 'conversations_toolcall';
    END IF;
    RETURN new;
END $$
"""

CALL_KEEPS_ITS_NAME_TRIGGER = """
CREATE TRIGGER conversations_call_keeps_its_name
BEFORE UPDATE OF conversation_id, seq, ordinal, call_id ON conversations_toolcall
FOR EACH ROW EXECUTE FUNCTION conversations_call_keeps_its_name()
"""

# Asked when a call's part is written, and when a call's row goes.
PART_HAS_ITS_CALL = """
CREATE FUNCTION conversations_part_has_its_call() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE lost text;
BEGIN
    IF tg_op = 'INSERT' THEN
        SELECT new.tool_call_id INTO lost WHERE NOT EXISTS (SELECT FROM conversations_toolcall t
            WHERE t.conversation_id = new.conversation_id AND t.seq = new.seq
            AND t.call_id = new.tool_call_id AND t.ordinal = new.ordinal);
        IF lost IS NULL THEN RETURN NULL; END IF;
        RAISE EXCEPTION 'call % of message % of conversation % has no row of its own',
            lost, new.seq, new.conversation_id
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'conversations_part_call_has_its_row',
                TABLE = 'conversations_messagepart';
    END IF;
    IF EXISTS (SELECT FROM conversations_messagepart p
        WHERE p.conversation_id = old.conversation_id AND p.seq = old.seq AND p.ordinal = old.ordinal) THEN
        RAISE EXCEPTION 'the row of call % of message % of conversation % cannot go before its part',
            old.call_id, old.seq, old.conversation_id
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'conversations_part_call_has_its_row',
                TABLE = 'conversations_toolcall';
    END IF;
    RETURN NULL;
END $$
"""

PART_HAS_ITS_CALL_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_part_call_has_its_row AFTER INSERT ON conversations_messagepart
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.type = 'tool_use' AND NOT new.orphan)
EXECUTE FUNCTION conversations_part_has_its_call()
"""

CALL_GOES_WITH_ITS_PART_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_call_goes_with_its_part AFTER DELETE ON conversations_toolcall
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION conversations_part_has_its_call()
"""

# As before, and that the result's message answers the message that it names.
RESULT_IS_THE_ONLY_ONE = RULES.RESULT_IS_THE_ONLY_ONE.replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
).replace(
    """BEGIN
    FOR other IN""",
    """BEGIN
    IF NOT EXISTS (SELECT FROM conversations_message m WHERE m.conversation_id = new.conversation_id
        AND m.seq = new.seq AND m.answers_seq = new.answers_seq) THEN
        RAISE EXCEPTION 'a result in message % of conversation % answers message %, its message does not',
            new.seq, new.conversation_id, new.answers_seq
            USING ERRCODE = 'foreign_key_violation',
                CONSTRAINT = 'conversations_part_answers_with_its_message', TABLE = 'conversations_messagepart';
    END IF;
    FOR other IN""",
)

PART_ONLY_LOSES_BYTES = ARCHIVE.PART_ONLY_LOSES_BYTES.replace(
    """    -- A stored generated column is not computed yet when a BEFORE trigger runs.
    kept.call_id := old.call_id;
""",
    "",
).replace("c.call_id = old.call_id", "c.ordinal = old.ordinal")

# Looks at the row as it is by now: a head that moved twice is asked about once more, not by what it was.
HEAD_HAS_ITS_LINE = """
CREATE FUNCTION conversations_head_has_its_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM conversations_conversation c WHERE c.id = new.id AND c.head_move IS NOT NULL
        AND NOT EXISTS (SELECT FROM conversations_headmove h WHERE h.conversation_id = c.id
            AND h.number = c.head_move AND h.head_seq = c.head_seq);
    IF FOUND THEN
        RAISE EXCEPTION 'the head of conversation % is not the one last logged', new.id
            USING ERRCODE = 'foreign_key_violation',
                CONSTRAINT = 'conversations_conversation_head_has_its_line',
                TABLE = 'conversations_conversation';
    END IF;
    RETURN NULL;
END $$
"""

HEAD_HAS_ITS_LINE_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_conversation_head_has_its_line
AFTER INSERT OR UPDATE OF head_seq, head_move ON conversations_conversation
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.head_move IS NOT NULL)
EXECUTE FUNCTION conversations_head_has_its_line()
"""


def key_goes(name: str) -> migrations.RunSQL:
    table, definition = KEYS[name]
    return migrations.RunSQL(
        [f"ALTER TABLE {table} DROP CONSTRAINT {name}"],
        [f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"],
    )


def key_becomes(name: str, definition: str) -> migrations.RunSQL:
    table, before = KEYS[name]
    change = "ALTER TABLE {} DROP CONSTRAINT {}, ADD CONSTRAINT {} {}"
    return migrations.RunSQL(
        [change.format(table, name, name, definition)], [change.format(table, name, name, before)]
    )


def function_becomes(create: str, before: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [before.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")])


class Migration(migrations.Migration):
    dependencies = [("conversations", "0015_calls_by_time")]

    operations = [
        # A call's row names its part.
        migrations.AddField("toolcall", "ordinal", models.SmallIntegerField(null=True)),
        migrations.RunSQL(
            [CALL_OF_A_PART, "SET CONSTRAINTS ALL IMMEDIATE"], ["SET CONSTRAINTS ALL IMMEDIATE"]
        ),
        migrations.AlterField(
            "toolcall",
            "ordinal",
            models.SmallIntegerField(help_text="The place of its part in the message."),
        ),
        key_goes("conversations_part_call_has_its_row"),
        key_becomes(
            "conversations_part_result_has_its_call",
            "FOREIGN KEY (conversation_id, answers_seq, tool_call_id)"
            " REFERENCES conversations_toolcall (conversation_id, seq, call_id)"
            " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
        ),
        key_becomes(
            "conversations_toolcall_has_its_part",
            "FOREIGN KEY (conversation_id, seq, ordinal)"
            " REFERENCES conversations_messagepart (conversation_id, seq, ordinal) ON DELETE CASCADE",
        ),
        function_becomes(CALLS_ARE_ANSWERED, STATEMENTS.CALLS_ARE_ANSWERED),
        RULES.function(CALL_KEEPS_ITS_NAME, "conversations_call_keeps_its_name"),
        RULES.trigger(
            CALL_KEEPS_ITS_NAME_TRIGGER, "conversations_call_keeps_its_name", "conversations_toolcall"
        ),
        RULES.function(PART_HAS_ITS_CALL, "conversations_part_has_its_call"),
        RULES.trigger(
            PART_HAS_ITS_CALL_TRIGGER, "conversations_part_call_has_its_row", "conversations_messagepart"
        ),
        RULES.trigger(
            CALL_GOES_WITH_ITS_PART_TRIGGER,
            "conversations_call_goes_with_its_part",
            "conversations_toolcall",
        ),
        migrations.RunSQL(
            [
                PART_ONLY_LOSES_BYTES.format(
                    back=ARCHIVE.BYTES_COME_BACK,
                    archived=ARCHIVE.HAS_ITS_ARCHIVE,
                    unless_elsewhere=ARCHIVE.UNLESS_ELSEWHERE,
                )
            ],
            [
                ARCHIVE.PART_ONLY_LOSES_BYTES.format(
                    back=ARCHIVE.BYTES_COME_BACK,
                    archived=ARCHIVE.HAS_ITS_ARCHIVE,
                    unless_elsewhere=ARCHIVE.UNLESS_ELSEWHERE,
                )
            ],
        ),
        migrations.RemoveConstraint("messagepart", "conversations_part_call_key"),
        migrations.RemoveField("messagepart", "call_id"),
        # A message answers what is right before it.
        key_goes("conversations_message_answers_the_one_before"),
        key_goes("conversations_part_answers_with_its_message"),
        function_becomes(MESSAGES_ARE_PLACED, STATEMENTS.MESSAGES_ARE_PLACED),
        function_becomes(RESULT_IS_THE_ONLY_ONE, RULES.RESULT_IS_THE_ONLY_ONE),
        migrations.RemoveConstraint("message", "conversations_message_group_key"),
        # The head is the one last logged.
        key_goes("conversations_conversation_head_has_its_line"),
        RULES.function(HEAD_HAS_ITS_LINE, "conversations_head_has_its_line"),
        RULES.trigger(
            HEAD_HAS_ITS_LINE_TRIGGER,
            "conversations_conversation_head_has_its_line",
            "conversations_conversation",
        ),
        migrations.RemoveConstraint("headmove", "conversations_headmove_line_of_a_head"),
        # Attempts are found by their request, and swept fragments by the few attempts that name one.
        migrations.RemoveConstraint("generation", "conversations_generation_attempt_once"),
        migrations.RemoveIndex("generation", "generation_request"),
        migrations.AddConstraint(
            "generation",
            models.UniqueConstraint(
                fields=("request_id", "conversation", "attempt"),
                opclasses=["varchar_pattern_ops", "uuid_ops", "int4_ops"],
                name="conversations_generation_attempt_once",
            ),
        ),
        *(
            operation
            for name in ("preamble", "tools", "envelope")
            for operation in (
                migrations.AlterField(
                    "generation",
                    name,
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="conversations.fragment",
                    ),
                ),
                migrations.AddIndex(
                    "generation",
                    models.Index(
                        fields=[name],
                        condition=Q((f"{name}__isnull", False)),
                        name=f"generation_{name}",
                    ),
                ),
            )
        ),
    ]
