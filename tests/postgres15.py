"""The tests of what the database refuses, on the oldest PostgreSQL that is supported."""

import os
import subprocess
import sys
from pathlib import Path

from config import embedded

PLACES = (
    "/usr/lib/postgresql/15/bin",
    "/usr/pgsql-15/bin",
    "/opt/homebrew/opt/postgresql@15/bin",
    "/usr/local/opt/postgresql@15/bin",
)


def find() -> Path | None:
    """Return the folder of its programs: POSTGRES15_BIN, or where systems put it."""
    for place in (os.environ.get("POSTGRES15_BIN"), *PLACES):
        if place and (Path(place) / "initdb").exists():
            return Path(place)
    return None


def run_schema_tests(bin_path: Path) -> int:
    """Run the tests marked `schema` on a server of that version; return pytest's exit status."""
    with embedded.lease_postgres("postgres15", bin_path=bin_path) as url:
        command = [sys.executable, "-m", "pytest", "-q", "-m", "schema", "-n", "0"]
        return subprocess.run(command, check=False, env={**os.environ, "DATABASE_URL": url}).returncode
