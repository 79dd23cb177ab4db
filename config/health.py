"""/healthz: whether the database and the broker answer, and whether the roles guard anything."""

from typing import Any

import redis
from celery import current_app
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

BROKER_TIMEOUT_SECONDS = 2


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 while database and broker do, else 503. Needs no log-in and tells no details."""
    report: dict[str, Any] = {"database": database_answers(), "broker": broker_answers()}
    report["append_only_guarded"] = report["database"] and roles_guard()
    healthy = report["database"] and report["broker"]
    return JsonResponse(report, status=200 if healthy else 503)


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def broker_answers() -> bool:
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_TIMEOUT_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_TIMEOUT_SECONDS)
    except (OperationalError, redis.RedisError, OSError):
        return False
    return True


def roles_guard(*, using: str = DEFAULT_DB_ALIAS) -> bool:
    """Tell whether the role can neither own, empty nor create: else append-only is only a habit.

    Owning is inherited, and a superuser may everything, so both are asked.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(
            """
            SELECT NOT (
                (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
                OR has_schema_privilege('public', 'CREATE')
                OR EXISTS (
                    SELECT FROM pg_class
                    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                    AND (pg_has_role(relowner, 'MEMBER') OR has_table_privilege(oid, 'TRUNCATE'))
                )
            )
            """
        )
        guarded: bool = cursor.fetchone()[0]
    return guarded
