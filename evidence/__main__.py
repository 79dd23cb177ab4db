"""`script/evidence NAME [arguments]`: run a proof on a migrated database of its own, dropped at the end."""

import importlib
import importlib.util
import os
import sys

from config import scratch


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith(("-", "_")):
        sys.stderr.write("usage: script/evidence NAME [arguments]; each proof is a module of evidence/\n")
        return 2
    name = arguments[0].replace("-", "_")
    if importlib.util.find_spec(f"evidence.{name}") is None:
        sys.stderr.write(f"There is no proof named {arguments[0]}.\n")
        return 2
    with scratch.database(f"counterfoil_evidence_{os.getpid()}", servers="evidence", keep=False):
        return int(importlib.import_module(f"evidence.{name}").main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
