"""Makes .venv from a lock file, hashes checked. Runs on a bare Python: standard library only."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
INSTALLER_LOCK = ROOT / "requirements-uv.lock"
# What tests need includes what the server needs, so installing the first serves both.
LOCKS = {"server": ROOT / "requirements.lock", "test": ROOT / "requirements-dev.lock"}
SERVES = {"server": ("server",), "test": ("server", "test")}


def main(purpose: str) -> int:
    lock = LOCKS[purpose]
    with lock.open() as file:
        # Two scripts that start at once: the second waits, and then finds all in place.
        fcntl.flock(file, fcntl.LOCK_EX)
        if not is_installed(purpose):
            try:
                install(purpose)
            except subprocess.CalledProcessError as error:
                sys.stderr.write(f"Installing the packages failed: {error}\n")
                return 1
    return 0


def is_installed(purpose: str) -> bool:
    mark = VENV / f"installed-{purpose}"
    return mark.is_file() and mark.read_text() == digest(LOCKS[purpose]) and runs(PYTHON)


def install(purpose: str) -> None:
    say(f"Installing packages for {purpose} into .venv")
    if not runs(PYTHON):
        if VENV.exists():
            shutil.rmtree(VENV)
        run(sys.executable, "-m", "venv", str(VENV))
    for other in LOCKS:
        (VENV / f"installed-{other}").unlink(missing_ok=True)
    install_packages(LOCKS[purpose])
    for served in SERVES[purpose]:
        (VENV / f"installed-{served}").write_text(digest(LOCKS[served]))


def install_packages(lock: Path) -> None:
    """Install exactly what the lock file says: by uv, which is quick, or by pip where uv cannot."""
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        run(str(PYTHON), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(INSTALLER_LOCK))
    arguments = ["pip", "sync", "-q", "--require-hashes", "-p", str(PYTHON)]
    try:
        run(str(uv), *arguments, str(lock), str(INSTALLER_LOCK))
    except subprocess.CalledProcessError:
        say("uv could not install the packages: trying pip")
        run(str(PYTHON), "-m", "ensurepip", "-q")
        run(str(PYTHON), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(lock))


def runs(python: Path) -> bool:
    if not python.exists():
        return False
    test = "import sys; sys.exit(sys.version_info < (3, 12))"
    return subprocess.run([python, "-c", test], capture_output=True, check=False).returncode == 0


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes() + INSTALLER_LOCK.read_bytes()).hexdigest()


def run(*command: str) -> None:
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
