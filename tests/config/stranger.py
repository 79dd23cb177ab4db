"""Somebody who has only a clone of the project, a Python and a home: no root, nothing of ours."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

PROJECT = Path(__file__).resolve().parent.parent.parent
UNPRIVILEGED = "nobody"
# What this test run was told must not reach the stranger; nor may what Python it was told to use.
NOT_HANDED_ON = (
    "COUNTERFOIL_", "TEST_", "DJANGO_", "PYTEST_", "DATABASE_URL", "BROKER_URL", "MIGRATION_", "READ_",
    "PYTHON", "VIRTUAL_ENV", "SECRET_KEY", "DIGEST_KEY", "LOG_", "HOME", "XDG_",
)  # fmt: skip


@dataclass(frozen=True)
class Stranger:
    clone: Path
    environment: dict[str, str]
    identity: dict[str, Any]

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.clone,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **self.identity,
        )

    def run(self, *command: str) -> tuple[int, str]:
        """Run the command to its end; return its exit status and all it said."""
        process = self.start(*command)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def processes(self) -> list[str]:
        """Return the command line of each process that runs out of the clone or on its data."""
        return [" ".join(process.info["cmdline"]) for process in self._running()]

    def end_processes(self) -> None:
        """Leave nothing behind, also where a test failed half-way."""
        for process in self._running():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def _running(self) -> list[psutil.Process]:
        found = psutil.process_iter(["cmdline"])
        return [one for one in found if str(self.clone) in " ".join(one.info["cmdline"] or [])]


@contextmanager
def arrive() -> Iterator[Stranger]:
    folder = Path(tempfile.mkdtemp(prefix="counterfoil-clone-"))
    try:
        clone = folder / "clone"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(PROJECT), str(clone)], check=True)
        (folder / "home").mkdir()
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(NOT_HANDED_ON)
        }
        environment |= {"HOME": str(folder / "home"), "UV_CACHE_DIR": str(share_cache(folder / "cache"))}
        environment |= share_python(folder / "python")
        stranger = Stranger(clone, environment, hand_over(folder))
        yield stranger
        stranger.end_processes()
    finally:
        shutil.rmtree(folder)


def share_cache(target: Path) -> Path:
    """Copy the packages that are on this machine already: a stranger's first install is not what is timed."""
    home = Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")
    if home.is_dir():
        shutil.copytree(home, target, symlinks=True)
    else:
        target.mkdir()
    return target


def share_python(target: Path) -> dict[str, str]:
    """Name a Python for the stranger: ours, copied if it stands where only root may look."""
    base = Path(sys.base_prefix)
    if os.geteuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in (base, *base.parents)):
        return {"COUNTERFOIL_PYTHON": str(Path(sys.executable).resolve())}
    unneeded = shutil.ignore_patterns("test", "site-packages", "__pycache__", "share", "*.a")
    shutil.copytree(base, target, symlinks=True, ignore=unneeded)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return {"COUNTERFOIL_PYTHON": str(target / "bin" / name), "LD_LIBRARY_PATH": str(target / "lib")}


def hand_over(folder: Path) -> dict[str, Any]:
    """Give the folder to a user without rights, if we have any; return how to become that user."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam(UNPRIVILEGED)
    subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", str(folder)], check=True)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
