"""What waits in the broker is looked into by an erasure, and left where it is."""

from collections.abc import Iterator

import pytest
import redis
from celery import Celery

from retention.erasure.broker import BrokerAwayError, waiting_messages
from retention.erasure.patterns import byte_forms, holds_any
from tests import databases

NAME = "Quirína Sample"
QUEUE = "tests-of-the-search"


@pytest.fixture
def broker(settings) -> Iterator[Celery]:
    with databases.broker() as url:
        settings.CELERY_BROKER_URL = url
        yield Celery("tests", broker=url)
        redis.Redis.from_url(url).delete(QUEUE)


def names_person() -> bool:
    forms = byte_forms([NAME])
    return any(holds_any(message, forms) for message in waiting_messages())


def test_a_message_that_names_the_person_is_found_and_stays(broker, settings):
    assert not names_person()

    broker.send_task("tests.nobody", args=[f"for {NAME}"], queue=QUEUE)

    assert names_person()
    assert redis.Redis.from_url(settings.CELERY_BROKER_URL).llen(QUEUE) == 1


@pytest.mark.parametrize("write", ["set", "hset", "sadd", "zadd"])
def test_every_kind_of_value_is_looked_into(broker, settings, write):
    server = redis.Redis.from_url(settings.CELERY_BROKER_URL)
    value = NAME.encode()
    arguments = {"set": [value], "hset": ["field", value], "sadd": [value], "zadd": [{value: 1.0}]}[write]

    getattr(server, write)(QUEUE, *arguments)

    assert names_person()


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "amqp://guest@127.0.0.1//"])
def test_a_broker_that_cannot_be_asked_is_said(settings, url):
    settings.CELERY_BROKER_URL = url

    with pytest.raises(BrokerAwayError):
        list(waiting_messages())
