"""The three connections, all to one database, each as a role that may do no more than it must.

`default` (DATABASE_URL) is what pages and workers use, `owner` (MIGRATION_DATABASE_URL) owns
the tables and migrates, `reader` (READ_DATABASE_URL) reads customers' data for the console.
"""

import os
from typing import Any

from config import embedded, env, roles

VAR = embedded.VAR
DEMO_SERVERS = "demo"
DEMO_DATABASE = "counterfoil"
# Where nothing is configured and the embedded servers never ran: commands that need no database work.
NOWHERE = "postgresql://counterfoil_app@127.0.0.1:5432/counterfoil"


def is_configured() -> bool:
    return bool(os.environ.get("DATABASE_URL"))


def urls() -> dict[str, str]:
    """Return the URL of each alias, from the environment or of the embedded server."""
    given = os.environ.get("DATABASE_URL")
    if given:
        return {
            "default": given,
            "owner": os.environ.get("MIGRATION_DATABASE_URL") or given,
            "reader": os.environ.get("READ_DATABASE_URL") or given,
        }
    servers = embedded.recorded(DEMO_SERVERS)
    if servers is None:
        return dict.fromkeys(roles.ROLE_OF_ALIAS, NOWHERE)
    return roles.urls(servers.postgres_url(), database=DEMO_DATABASE)


def from_environment() -> dict[str, dict[str, Any]]:
    """Return Django's DATABASES. No request is one transaction: services open their own, and say so."""
    databases = {
        alias: env.database(url, name=roles.VARIABLE_OF_ALIAS[alias]) for alias, url in urls().items()
    }
    for settings in databases.values():
        settings.update(ATOMIC_REQUESTS=False, CONN_MAX_AGE=600, CONN_HEALTH_CHECKS=True)
    return databases


def broker_url() -> str:
    given = os.environ.get("BROKER_URL")
    if given:
        return given
    servers = embedded.recorded(DEMO_SERVERS)
    return servers.broker_url if servers else "redis://127.0.0.1:6379/0"


def cache() -> dict[str, Any]:
    """Return Django's default cache: CACHE_URL, else the broker where it is a Redis or a Valkey.

    With another kind of broker and no CACHE_URL each process has a cache of its own, and counts alone.
    """
    url = os.environ.get("CACHE_URL") or broker_url()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "KEY_PREFIX": "counterfoil",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
