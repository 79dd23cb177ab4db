"""What waits in the broker, for the search of an erasure: read, never taken."""

import base64
import binascii
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import orjson
import redis
from django.conf import settings

TIMEOUT_SECONDS = 2


class BrokerAwayError(Exception):
    """The broker does not answer, or is of a kind whose messages cannot be read without taking them."""


def waiting_messages() -> Iterator[bytes]:
    """Yield every value of a Redis or Valkey broker, messages opened; all of them, whatever they are for."""
    if not settings.CELERY_BROKER_URL.startswith(("redis://", "rediss://", "unix://")):
        raise BrokerAwayError(settings.CELERY_BROKER_URL.partition(":")[0])
    try:
        with closing(
            redis.Redis.from_url(
                settings.CELERY_BROKER_URL,
                socket_connect_timeout=TIMEOUT_SECONDS,
                socket_timeout=TIMEOUT_SECONDS,
            )
        ) as broker:
            for key in broker.scan_iter(count=500):
                yield key
                for value in _values(broker, key):
                    yield value
                    yield _opened(value)
    except redis.RedisError as error:
        raise BrokerAwayError(type(error).__name__) from error


def _values(broker: Any, key: bytes) -> Iterator[bytes]:
    kind = broker.type(key)
    if kind == b"list":
        yield from broker.lrange(key, 0, -1)
    elif kind == b"hash":
        for name, value in broker.hgetall(key).items():
            yield from (name, value)
    elif kind == b"zset":
        yield from broker.zrange(key, 0, -1)
    elif kind == b"set":
        yield from broker.smembers(key)
    elif kind == b"string":
        value = broker.get(key)
        if value is not None:
            yield value


def _opened(message: bytes) -> bytes:
    """Return the body of a Celery message, which stands in it as base64; nothing of what is none."""
    try:
        content = orjson.loads(message)
        # What was taken and not acknowledged stands in a list with its queue.
        envelope = content[0] if isinstance(content, list) else content
        return base64.b64decode(envelope["body"])
    except (ValueError, KeyError, TypeError, IndexError, binascii.Error):
        return b""
