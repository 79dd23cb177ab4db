"""`script/bench [NAME…] [options]`: run the named measurements, or all, one after the other.

They share one database, `counterfoil_bench`, which is kept: building the workload
takes longer than measuring it. Its servers are durable, as a product's would be.
"""

import importlib
import pkgutil
import sys
from pathlib import Path

from config import scratch

MEASUREMENTS_HAVE = "main"


def main(arguments: list[str]) -> int:
    known = names()
    named = [argument for argument in arguments if argument in known]
    options = [argument for argument in arguments if argument not in known]
    strangers = [option for option in options if not option.startswith("-")]
    if strangers:
        sys.stderr.write(f"There is no measurement named {strangers[0]}; there are: {', '.join(known)}\n")
        return 2
    with scratch.database("counterfoil_bench", servers="bench", keep=True):
        failed = [name for name in named or known if run(name, options) != 0]
    return 1 if failed else 0


def names() -> list[str]:
    """Return the modules of this package that are measurements: those that define `main`."""
    folder = Path(__file__).parent
    return [
        module.name
        for module in pkgutil.iter_modules([str(folder)])
        if not module.name.startswith("_")
        and f"\ndef {MEASUREMENTS_HAVE}(" in (folder / f"{module.name}.py").read_text()
    ]


def run(name: str, options: list[str]) -> int:
    sys.stdout.write(f"== {name}\n")
    return int(importlib.import_module(f"bench.{name}").main(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
