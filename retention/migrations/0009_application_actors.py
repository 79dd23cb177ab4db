"""Applications place holds, ask for releases and take erasure requests in; they never approve."""

import importlib

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

_BEFORE = importlib.import_module("retention.migrations.0002_hold_rules").HOLD_ONLY_ENDS

# As before, with the keys among the facts that do not change; and whoever made the key that asked
# is not another person.
HOLD_ONLY_ENDS = """
CREATE OR REPLACE FUNCTION retention_hold_only_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        IF new.release_requested_at IS NOT NULL OR new.released_at IS NOT NULL THEN
            RAISE EXCEPTION 'a hold begins open'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'retention_hold_begins_open',
                    TABLE = 'retention_legalhold';
        END IF;
        RETURN new;
    END IF;
    IF tg_op = 'DELETE' OR old.released_at IS NOT NULL
        OR (new.id, new.target_kind, new.account_id, new.conversation_id, new.effect_id, new.matter,
            new.placed_by_id, new.placed_by_key_id, new.placed_at) IS DISTINCT FROM (old.id,
            old.target_kind, old.account_id, old.conversation_id, old.effect_id, old.matter,
            old.placed_by_id, old.placed_by_key_id, old.placed_at)
        OR new.released_at IS NOT NULL AND (new.release_requested_by_id, new.release_requested_by_key_id,
            new.release_requested_at) IS DISTINCT FROM (old.release_requested_by_id,
            old.release_requested_by_key_id, old.release_requested_at) THEN
        RAISE EXCEPTION 'hold % may only be released, by a second person, once', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_hold_only_ends',
                TABLE = 'retention_legalhold';
    END IF;
    IF new.released_at IS NOT NULL AND EXISTS (
        SELECT FROM access_apikey k
        WHERE k.id = new.release_requested_by_key_id AND k.created_by_id = new.released_by_id::text
    ) THEN
        RAISE EXCEPTION 'whoever made the key that asked cannot release hold %', old.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'retention_hold_released_by_two_people',
                TABLE = 'retention_legalhold';
    END IF;
    RETURN new;
END $$
"""

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT UPDATE (release_requested_by_key_id) ON retention_legalhold TO counterfoil_app;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0008_api_keys"),
        ("retention", "0008_cost_of_failed_attempts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="erasurerequest",
            name="retention_erasure_two_people",
        ),
        migrations.RemoveConstraint(
            model_name="erasurerequest",
            name="retention_erasure_approved_before_it_runs",
        ),
        migrations.RemoveConstraint(
            model_name="erasurerequest",
            name="retention_erasure_desk_has_a_person",
        ),
        migrations.RemoveConstraint(
            model_name="legalhold",
            name="retention_hold_request_has_a_person",
        ),
        migrations.RemoveConstraint(
            model_name="legalhold",
            name="retention_hold_release_was_asked_for",
        ),
        migrations.AddField(
            model_name="erasurerequest",
            name="taken_in_by_key",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="access.apikey",
            ),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="by_key",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="access.apikey",
            ),
        ),
        migrations.AddField(
            model_name="legalhold",
            name="placed_by_key",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="access.apikey",
            ),
        ),
        migrations.AddField(
            model_name="legalhold",
            name="release_requested_by_key",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="access.apikey",
            ),
        ),
        migrations.AlterField(
            model_name="erasurerequest",
            name="origin",
            field=models.CharField(
                choices=[
                    ("desk", "The desk"),
                    ("application", "An application"),
                    ("restored", "Came back with a restore"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="holdevent",
            name="by",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="legalhold",
            name="placed_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="erasurerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("approved_by__isnull", True),
                    models.Q(
                        models.Q(("approved_by", models.F("taken_in_by")), _negated=True),
                        ("taken_in_by_key__isnull", True),
                    ),
                    models.Q(
                        models.Q(("approved_by", models.F("identity_checked_by")), _negated=True),
                        ("taken_in_by_key__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="retention_erasure_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="erasurerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("origin", "restored"),
                    ("state__in", ["intake", "identified", "previewed", "withdrawn"]),
                    models.Q(
                        ("approved_at__isnull", False),
                        ("approved_by__isnull", False),
                        ("identity_checked_at__isnull", False),
                        ("previewed_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="retention_erasure_approved_before_it_runs",
            ),
        ),
        migrations.AddConstraint(
            model_name="erasurerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("origin", "desk"), ("taken_in_by__isnull", False), ("taken_in_by_key__isnull", True)
                    ),
                    models.Q(
                        ("origin", "application"),
                        ("taken_in_by__isnull", True),
                        ("taken_in_by_key__isnull", False),
                    ),
                    ("origin", "restored"),
                    _connector="OR",
                ),
                name="retention_erasure_taken_in_by_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="holdevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("by__isnull", False), ("by_key__isnull", True)),
                    models.Q(
                        ("by__isnull", True),
                        ("by_key__isnull", False),
                        ("step__in", ["placed", "release_requested"]),
                    ),
                    _connector="OR",
                ),
                name="retention_holdevent_by_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="legalhold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("placed_by__isnull", False), ("placed_by_key__isnull", True)),
                    models.Q(("placed_by__isnull", True), ("placed_by_key__isnull", False)),
                    _connector="OR",
                ),
                name="retention_hold_placed_by_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="legalhold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("release_requested_at__isnull", True),
                        ("release_requested_by__isnull", True),
                        ("release_requested_by_key__isnull", True),
                    ),
                    models.Q(
                        ("release_requested_at__isnull", False),
                        ("release_requested_by__isnull", False),
                        ("release_requested_by_key__isnull", True),
                    ),
                    models.Q(
                        ("release_requested_at__isnull", False),
                        ("release_requested_by__isnull", True),
                        ("release_requested_by_key__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="retention_hold_request_is_somebodys",
            ),
        ),
        migrations.AddConstraint(
            model_name="legalhold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("released_at__isnull", True), ("released_by__isnull", True)),
                    models.Q(
                        ("release_requested_at__isnull", False),
                        ("released_at__isnull", False),
                        ("released_by__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="retention_hold_release_was_asked_for",
            ),
        ),
        migrations.RunSQL(
            [HOLD_ONLY_ENDS], [_BEFORE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")]
        ),
        migrations.RunSQL([TAKE], migrations.RunSQL.noop),
    ]
