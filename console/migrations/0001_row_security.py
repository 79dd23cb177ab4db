"""Whose rows the reader sees: those of the realms that its transaction names.

All policies stand here, above every app, because each follows from another's: a message is seen
where its conversation is, a conversation where its account is, an account where its realm is.
They bind `counterfoil_read` alone; for every other role each table stays as it was. Where that
role does not exist (one role for everything) there is nothing to bind, and the console's own
conditions are all there is.
"""

from django.db import migrations

SEES_ALL = "(SELECT access_reads_every_realm())"
BY_REALM = "realm_id = ANY ((SELECT access_read_realms())::bigint[])"


def with_row(of: str, key: str) -> str:
    """A row is seen where the row is that it belongs to.

    A scalar subquery is one probe of a key for each row. EXISTS could be planned as a
    scan of the whole other table, which is never right for the few rows of a page.
    """
    return f"(SELECT true FROM {of} owner WHERE owner.id = {{table}}.{key})"


BY_ACCOUNT = with_row("conversations_account", "account_id")
BY_CONVERSATION = with_row("conversations_conversation", "conversation_id")
BY_EFFECT = with_row("ledger_tooleffect", "effect_id")

POLICIES = {
    "conversations_account": BY_REALM,
    "conversations_conversation": BY_ACCOUNT,
    "conversations_headmove": BY_CONVERSATION,
    "conversations_message": BY_CONVERSATION,
    "conversations_messagepart": BY_CONVERSATION,
    "conversations_toolcall": BY_CONVERSATION,
    "conversations_generation": BY_CONVERSATION,
    "conversations_exchange": BY_CONVERSATION,
    "conversations_summary": BY_CONVERSATION,
    "conversations_chunk": BY_CONVERSATION,
    "conversations_conversationnote": BY_CONVERSATION,
    # A webhook or a line of a statement is nobody's: only who sees every realm reads it.
    "conversations_rawbody": f"{BY_CONVERSATION} OR {BY_ACCOUNT}",
    "ledger_tooleffect": BY_REALM,
    "ledger_effectmove": BY_EFFECT,
    "ledger_effectreference": BY_EFFECT,
    "ledger_effectuse": BY_EFFECT,
    "ledger_compensation": BY_EFFECT,
    "ledger_compensationnote": with_row("ledger_compensation", "compensation_id"),
    "ledger_contradiction": BY_EFFECT,
    # A dispute that was matched to no effect is nobody's yet.
    "ledger_dispute": BY_EFFECT,
    "ledger_guardquestion": BY_REALM,
}

# Everybody passes the first policy; the reader must pass the second one too.
PROTECT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        CREATE POLICY everybody ON {table} FOR ALL TO PUBLIC USING (true) WITH CHECK (true);
        CREATE POLICY reader_in_its_realms ON {table} AS RESTRICTIVE FOR SELECT TO counterfoil_read
            USING ({sees_all} OR {condition});
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
    END IF;
END $$
"""

UNPROTECT = """
ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS reader_in_its_realms ON {table};
DROP POLICY IF EXISTS everybody ON {table};
"""


def protect(table: str, condition: str) -> migrations.RunSQL:
    forward = PROTECT.format(table=table, sees_all=SEES_ALL, condition=condition.format(table=table))
    return migrations.RunSQL([forward], [UNPROTECT.format(table=table)])


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("access", "0006_realms_of_a_reading"),
        ("conversations", "0008_search_past_row_security"),
        ("ledger", "0002_effect_rules"),
    ]

    operations = [protect(table, condition) for table, condition in POLICIES.items()]
