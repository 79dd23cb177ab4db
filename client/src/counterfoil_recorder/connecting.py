"""A pool of connections to a store, as its key opens them."""

import httpx2

from counterfoil_recorder.errors import ConfigurationError


def connect(*, url: str, key: str, timeout: float, agent: str, most: int, path: str = "") -> httpx2.Client:
    """Return a client of the store below `path`; ConfigurationError where address or key cannot be one."""
    bare = url.strip().rstrip("/")
    if not bare.startswith(("http://", "https://")):
        raise ConfigurationError(f"the store's address begins with https:// or http://, not {bare[:40]!r}")
    if not key.isascii() or not key.isprintable() or not key.strip():
        raise ConfigurationError("the store's key must be plain printable characters")
    return httpx2.Client(
        base_url=f"{bare}{path}",
        headers={"Authorization": f"Bearer {key.strip()}", "User-Agent": agent},
        timeout=timeout,
        limits=httpx2.Limits(max_connections=most, keepalive_expiry=60),
    )
