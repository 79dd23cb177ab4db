"""What the database refuses, on the oldest PostgreSQL that is supported."""

import sys

from tests import postgres15


def main(arguments: list[str]) -> int:
    bin_path = postgres15.find()
    if bin_path is None:
        sys.stderr.write("No PostgreSQL 15 on this machine: name its programs by POSTGRES15_BIN.\n")
        return 1
    return postgres15.run_schema_tests(bin_path)
