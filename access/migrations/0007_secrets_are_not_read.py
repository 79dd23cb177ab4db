"""The reader shows customers' data; how staff sign in is none of it."""

from django.db import migrations

TABLES = (
    "django_session, otp_totp_totpdevice, otp_static_staticdevice, otp_static_statictoken, axes_accessattempt"
)

TAKE = f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') AND current_user <> 'counterfoil_read' THEN
        REVOKE SELECT ON {TABLES} FROM counterfoil_read;
    END IF;
END $$
"""

GIVE_BACK = f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') AND current_user <> 'counterfoil_read' THEN
        GRANT SELECT ON {TABLES} TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0006_realms_of_a_reading"),
        ("axes", "0001_initial"),
        ("otp_static", "0001_initial"),
        ("otp_totp", "0001_initial"),
        ("sessions", "0001_initial"),
    ]

    operations = [migrations.RunSQL([TAKE], [GIVE_BACK])]
