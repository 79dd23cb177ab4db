#!/usr/bin/env python
"""Django's commands. Without DATABASE_URL they run on the embedded servers, started for as long."""

import os
import sys
from contextlib import nullcontext

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from config import databases, embedded, roles
from config.embedded_postgres import EmbeddedServerError

WITHOUT_DATABASE = frozenset({"collectstatic", "findstatic", "help", "version"})


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    needs_servers = not databases.is_configured() and command not in WITHOUT_DATABASE
    with embedded.lease(databases.DEMO_SERVERS) if needs_servers else nullcontext() as servers:
        if servers is not None:
            roles.ensure(servers.postgres_url(), database=databases.DEMO_DATABASE)
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        main()
    except (EmbeddedServerError, ImproperlyConfigured) as error:
        sys.exit(str(error))
