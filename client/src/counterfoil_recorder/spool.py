"""The folder where exchanges wait while the store cannot take them.

    <folder>/<process>/lock                      held (flock) by the process whose exchanges these are
    <folder>/<process>/<order>-<id>.exchange     one exchange
    <folder>/refused/<order>-<id>.exchange       what the store will not take, with the reason beside it

A file is written under another name, synced, and renamed: after a crash it is there whole or not
at all. A process that starts, and each one from time to time, takes over the folders whose lock
nobody holds any more: the kernel gives a lock back when its process ends, however it ends.
What is in the files are customers' words: the folders are the owner's alone.
"""

import fcntl
import heapq
import logging
import os
import secrets
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from counterfoil_recorder.exchanges import Parcel, from_file, to_file
from counterfoil_recorder.tickets import Outcome, Ticket

_ENDING: Final = ".exchange"
_LOCK: Final = "lock"
REFUSED: Final = "refused"
log = logging.getLogger(__name__)


class SpoolFullError(OSError):
    """The spool holds as many bytes as it may."""


class Spool:
    """Not safe for several threads: the delivery calls it under its own lock.

    `largest` counts the bytes of this process's folders and of what it set aside.
    """

    def __init__(self, root: Path, *, largest: int) -> None:
        self.root = root
        self.largest = largest
        self.bytes = 0
        self._own: Path | None = None
        self._locks: dict[Path, int] = {}
        self._files: list[tuple[int, Path]] = []
        self._left: Counter[Path] = Counter()
        self._tickets: dict[Path, Ticket] = {}
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (aside := root / REFUSED).is_dir():
            self.bytes = sum(_size(path) for path in aside.iterdir())

    @property
    def first(self) -> int | None:
        """The order of the oldest exchange that waits."""
        return self._files[0][0] if self._files else None

    def put(self, parcel: Parcel) -> Path:
        """Keep the parcel and return its file; SpoolFullError or another OSError where it cannot be kept."""
        content = to_file(parcel)
        if self.bytes + len(content) > self.largest:
            raise SpoolFullError(f"{self.root} holds {self.bytes:,} of {self.largest:,} bytes")
        path = self._own_folder() / f"{parcel.order:020d}-{parcel.exchange_id}{_ENDING}"
        write_whole(path, content)
        self.bytes += len(content)
        self._tickets[path] = parcel.ticket
        self._add(parcel.order, path)
        return path

    def take(self) -> tuple[Path, Parcel] | None:
        """Read the oldest exchange, which stays until it is removed; None where there is none.

        A file that cannot be read is set aside.
        """
        while self._files:
            order, path = self._files[0]
            try:
                content = path.read_bytes()
                return path, from_file(content, order=order, ticket=self._tickets.get(path))
            except FileNotFoundError:
                log.warning("%s is not in the spool any more", path.name)
                self.remove(path)
            except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                self._settle_lost(path)
                self.set_aside(path, f"cannot be read: {error}")
        return None

    def remove(self, path: Path) -> None:
        """Forget an exchange that the store has."""
        size = _size(path)
        path.unlink(missing_ok=True)
        self.bytes -= size
        self._drop(path)

    def move_back(self, path: Path, *, order: int) -> None:
        """Let the exchange wait behind all the others."""
        ticket = self._tickets.pop(path, None)
        self._files = [entry for entry in self._files if entry[1] != path]
        name = f"{order:020d}-{path.name.partition('-')[2]}"
        moved = path.rename(path.with_name(name))
        if ticket is not None:
            self._tickets[moved] = ticket
        self._files.append((order, moved))
        heapq.heapify(self._files)

    def set_aside(self, path: Path, reason: str) -> None:
        """Move an exchange that will never be taken to where an operator finds it."""
        aside = self.root / REFUSED
        aside.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            path.rename(aside / path.name)
            write_whole(aside / f"{path.stem}.reason", f"{reason}\n".encode())
        self._drop(path)

    def adopt(self) -> int:
        """Take over what processes that have ended left; return how many exchanges that were."""
        before = len(self._files)
        for folder in sorted(self.root.iterdir()):
            if folder.is_dir() and folder.name != REFUSED and folder not in self._locks:
                self._adopt(folder)
        return len(self._files) - before

    def close(self) -> None:
        """Give the locks back: what is still there is free for the next process."""
        for folder, descriptor in self._locks.items():
            if not any(folder.glob(f"*{_ENDING}")):
                _remove_folder(folder)
            os.close(descriptor)
        self._locks.clear()
        self._own = None
        self._files.clear()
        self._tickets.clear()

    def forget_in_child(self) -> None:
        """After a fork: the folders are the parent's, whose locks live on in its own descriptors."""
        for descriptor in self._locks.values():
            with suppress(OSError):
                os.close(descriptor)
        self._locks.clear()

    def _own_folder(self) -> Path:
        if self._own is None or not self._own.is_dir():
            folder = self.root / f"{os.getpid()}-{secrets.token_hex(4)}"
            folder.mkdir(mode=0o700)
            descriptor = _locked(folder)
            if descriptor is None:
                raise OSError(f"{folder} is locked by somebody else")
            self._locks[folder] = descriptor
            self._own = folder
        return self._own

    def _adopt(self, folder: Path) -> None:
        try:
            descriptor = _locked(folder)
        except FileNotFoundError:
            return
        if descriptor is None:
            return
        self._locks[folder] = descriptor
        for path in folder.iterdir():
            if path.suffix == _ENDING and (order := path.name.partition("-")[0]).isdigit():
                self.bytes += _size(path)
                self._add(int(order), path)
            elif path.name != _LOCK:
                # Its writer died before it was whole.
                path.unlink(missing_ok=True)
        self._give_up_empty(folder)

    def _add(self, order: int, path: Path) -> None:
        heapq.heappush(self._files, (order, path))
        self._left[path.parent] += 1

    def _drop(self, path: Path) -> None:
        self._tickets.pop(path, None)
        self._left[path.parent] -= 1
        if self._files and self._files[0][1] == path:
            heapq.heappop(self._files)
        else:
            self._files = [entry for entry in self._files if entry[1] != path]
            heapq.heapify(self._files)
        self._give_up_empty(path.parent)

    def _settle_lost(self, path: Path) -> None:
        if (ticket := self._tickets.get(path)) is not None:
            ticket.settle(Outcome.REFUSED)

    def _give_up_empty(self, folder: Path) -> None:
        """Remove the folder of another process once nothing of it is left."""
        if folder == self._own or folder not in self._locks or self._left[folder]:
            return
        _remove_folder(folder)
        os.close(self._locks.pop(folder))
        del self._left[folder]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves all of it or nothing."""
    begun = path.with_name(f"{path.name}.begun")
    try:
        descriptor = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        begun.rename(path)
    except OSError:
        with suppress(OSError):
            begun.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _locked(folder: Path) -> int | None:
    """Return the descriptor that holds the folder's lock, or None where another process holds it."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):
        (folder / _LOCK).unlink(missing_ok=True)
        folder.rmdir()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
