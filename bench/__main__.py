"""`script/bench [NAME…] [options]`: run the named measurements, or all, one after the other.

They share one database, `counterfoil_bench`, which is kept: building the workload
takes longer than measuring it. What says ALONE has one that is made for it and dropped.
The servers are durable, as a product's would be.
"""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

from config import scratch

# Looked for in their text: they can be imported only once there is a database.
MEASUREMENTS_HAVE = "def main("
ALONE = "ALONE = True"


def main(arguments: list[str]) -> int:
    known = names()
    named = [argument for argument in arguments if argument in known]
    options = [argument for argument in arguments if argument not in known]
    strangers = [option for option in options if not option.startswith("-")]
    if strangers:
        sys.stderr.write(f"There is no measurement named {strangers[0]}; there are: {', '.join(known)}\n")
        return 2
    chosen = named or known
    apart = [name for name in chosen if is_alone(name)]
    if apart == chosen and len(chosen) == 1:
        with scratch.database(f"counterfoil_bench_{chosen[0]}", servers="bench", keep=False):
            return run(chosen[0], options)
    # A process has one database, from its beginning to its end.
    failed = [
        name
        for name in apart
        if subprocess.run([sys.executable, "-m", "bench", name, *options], check=False).returncode != 0
    ]
    together = [name for name in chosen if name not in apart]
    if together:
        with scratch.database("counterfoil_bench", servers="bench", keep=True):
            failed += [name for name in together if run(name, options) != 0]
    return 1 if failed else 0


def is_alone(name: str) -> bool:
    """Whether the measurement needs a database of its own: it would weigh what others left."""
    return f"\n{ALONE}" in _text(name)


def names() -> list[str]:
    """Return the modules of this package that are measurements: those that define `main`."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return [
        module.name
        for module in modules
        if not module.name.startswith("_") and f"\n{MEASUREMENTS_HAVE}" in _text(module.name)
    ]


def _text(name: str) -> str:
    return Path(__file__).with_name(f"{name}.py").read_text()


def run(name: str, options: list[str]) -> int:
    sys.stdout.write(f"== {name}\n")
    return int(importlib.import_module(f"bench.{name}").main(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
