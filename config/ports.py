"""Which port a server may listen on."""

import socket
from dataclasses import dataclass


def is_free(port: int, *, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        # As servers do: a port that only waits out its last connections is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def choose(*, preferred: int | None) -> int:
    """Return the preferred port if nobody has it, else one that the system says is free."""
    if preferred is not None and is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass(frozen=True, slots=True)
class Held:
    """A port that nobody else is given until its server starts: `release` right before that."""

    port: int
    holder: socket.socket

    def release(self) -> None:
        self.holder.close()


def hold(*, preferred: int) -> Held:
    """Keep the preferred port, or one that the system says is free, for a server that starts later.

    Bound without SO_REUSEADDR, so that every other probe meets it, `is_free` too.
    """
    for port in (preferred, 0):
        holder = socket.socket()
        try:
            holder.bind(("127.0.0.1", port))
        except OSError:
            holder.close()
            continue
        return Held(holder.getsockname()[1], holder)
    raise OSError("the system has no free port")
