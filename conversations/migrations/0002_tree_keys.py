"""The keys of the tree that span several columns, which Django cannot declare."""

from django.db import migrations

KEYS = [
    # A branch goes in one delete.
    (
        "conversations_message",
        "conversations_message_parent_in_conversation",
        (
            "FOREIGN KEY (conversation_id, parent_seq)"
            " REFERENCES conversations_message (conversation_id, seq) ON DELETE CASCADE"
        ),
    ),
    # Answers the message right before, or what that one answers.
    (
        "conversations_message",
        "conversations_message_answers_the_one_before",
        (
            "FOREIGN KEY (conversation_id, parent_seq, answers_seq)"
            " REFERENCES conversations_message (conversation_id, seq, group_ordinal) ON DELETE CASCADE"
        ),
    ),
    (
        "conversations_messagepart",
        "conversations_part_of_a_message",
        (
            "FOREIGN KEY (conversation_id, seq)"
            " REFERENCES conversations_message (conversation_id, seq) ON DELETE CASCADE"
        ),
    ),
    # A result's message answers that message, and that message holds the call.
    (
        "conversations_messagepart",
        "conversations_part_answers_with_its_message",
        (
            "FOREIGN KEY (conversation_id, seq, answers_seq)"
            " REFERENCES conversations_message (conversation_id, seq, group_ordinal) ON DELETE CASCADE"
        ),
    ),
    (
        "conversations_messagepart",
        "conversations_part_result_has_its_call",
        (
            "FOREIGN KEY (conversation_id, answers_seq, tool_call_id)"
            " REFERENCES conversations_messagepart (conversation_id, seq, call_id) ON DELETE CASCADE"
        ),
    ),
    # No row of a call's life without the call, and no call without the row.
    (
        "conversations_toolcall",
        "conversations_toolcall_has_its_part",
        (
            "FOREIGN KEY (conversation_id, seq, call_id)"
            " REFERENCES conversations_messagepart (conversation_id, seq, call_id) ON DELETE CASCADE"
        ),
    ),
    (
        "conversations_messagepart",
        "conversations_part_call_has_its_row",
        (
            "FOREIGN KEY (conversation_id, seq, call_id)"
            " REFERENCES conversations_toolcall (conversation_id, seq, call_id) DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    (
        "conversations_toolcall",
        "conversations_toolcall_generation",
        (
            "FOREIGN KEY (conversation_id, generation_number)"
            " REFERENCES conversations_generation (conversation_id, number)"
            " ON DELETE SET NULL (generation_number) DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    # The log has no gap.
    (
        "conversations_headmove",
        "conversations_headmove_no_gap",
        "FOREIGN KEY (conversation_id, prev) REFERENCES conversations_headmove (conversation_id, number)",
    ),
    # The head is one of the conversation's own messages, and the one last logged.
    (
        "conversations_conversation",
        "conversations_conversation_head_is_its_own",
        (
            "FOREIGN KEY (id, head_seq) REFERENCES conversations_message (conversation_id, seq)"
            " DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    (
        "conversations_conversation",
        "conversations_conversation_head_has_its_line",
        (
            "FOREIGN KEY (id, head_move, head_seq)"
            " REFERENCES conversations_headmove (conversation_id, number, head_seq) DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    # An attempt outlives the branch that it was made on: its cost stays.
    (
        "conversations_generation",
        "conversations_generation_leaf",
        (
            "FOREIGN KEY (conversation_id, leaf_seq) REFERENCES conversations_message (conversation_id, seq)"
            " ON DELETE SET NULL (leaf_seq) DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    (
        "conversations_generation",
        "conversations_generation_message",
        (
            "FOREIGN KEY (conversation_id, message_seq) REFERENCES conversations_message (conversation_id, seq)"
            " ON DELETE SET NULL (message_seq) DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    (
        "conversations_exchange",
        "conversations_exchange_generation",
        (
            "FOREIGN KEY (conversation_id, number) REFERENCES conversations_generation (conversation_id, number)"
            " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    # Whatever message of the stretch goes takes its descendants along, the stretch's end among them.
    (
        "conversations_summary",
        "conversations_summary_begins_in_conversation",
        (
            "FOREIGN KEY (conversation_id, from_seq)"
            " REFERENCES conversations_message (conversation_id, seq) ON DELETE CASCADE"
        ),
    ),
    (
        "conversations_summary",
        "conversations_summary_ends_in_conversation",
        (
            "FOREIGN KEY (conversation_id, to_seq)"
            " REFERENCES conversations_message (conversation_id, seq) ON DELETE CASCADE"
        ),
    ),
    (
        "conversations_chunk",
        "conversations_chunk_of_a_part",
        (
            "FOREIGN KEY (conversation_id, seq, ordinal)"
            " REFERENCES conversations_messagepart (conversation_id, seq, ordinal) ON DELETE CASCADE"
        ),
    ),
]


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_store")]

    operations = [
        migrations.RunSQL(
            [f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"],
            [f"ALTER TABLE {table} DROP CONSTRAINT {name}"],
        )
        for table, name, definition in KEYS
    ]
