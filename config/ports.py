"""Which port a server may listen on."""

import socket


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
