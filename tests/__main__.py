"""`script/test`: linters, types, import contract, migrations, PostgreSQL 15, then every test.

Every step runs, also after one has failed, so that one run tells all there is to mend.
Arguments go to pytest, and make it a quick run: types and PostgreSQL 15 are left out.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests import postgres15

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# With more, the server that all of them share becomes what they wait for.
WORKERS = "2"


def main(arguments: list[str]) -> int:
    os.chdir(ROOT)
    os.environ.setdefault("COUNTERFOIL_DEMO", "1")
    quick = bool(arguments)
    failed = [name for name, command in checks(quick=quick).items() if not passes(name, command)]
    if not passes("chromium", [str(ROOT / "script" / "install-chromium")]):
        say("No browser: the tests that need one say so.")
    if not quick and not passes_on_postgres15():
        failed.append("PostgreSQL 15")
    tests = [str(BIN / "pytest"), "-n", WORKERS, "--dist", "loadfile", *arguments]
    if not passes("tests", tests):
        failed.append("tests")
    if failed:
        say(f"Failed: {', '.join(failed)}")
    return 1 if failed else 0


def checks(*, quick: bool) -> dict[str, list[str]]:
    commands = {
        "ruff check": [str(BIN / "ruff"), "check", "."],
        "ruff format": [str(BIN / "ruff"), "format", "--check", "--quiet", "."],
        "import contract": [str(BIN / "lint-imports")],
    }
    return commands if quick else commands | {"mypy": [str(BIN / "mypy"), "."]}


def passes(name: str, command: list[str]) -> bool:
    say(f"== {name}")
    return subprocess.run(command, check=False).returncode == 0


def passes_on_postgres15() -> bool:
    bin_path = postgres15.find()
    if bin_path is None:
        say("== PostgreSQL 15: not on this machine, left out")
        return True
    say(f"== PostgreSQL 15 ({bin_path})")
    return postgres15.run_schema_tests(bin_path) == 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
