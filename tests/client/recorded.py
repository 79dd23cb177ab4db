"""What is in the store of the calls that went through a watched client."""

from conversations.models import Generation
from conversations.replay.bodies import request_body_of
from conversations.services.raw_bodies import open_raw_body


def generations():
    return list(Generation.objects.order_by("created_at", "conversation_id", "number"))


def recorded_by(recorder):
    """The attempts in the store, once everything is handed over."""
    assert recorder.flush()
    return generations()


def body_of(generation):
    return request_body_of(conversation_id=generation.conversation_id, number=generation.number)


def raw_answer(generation):
    return open_raw_body(Generation.objects.select_related("raw_response").get(pk=generation.pk).raw_response)


def recorded():
    """The ids of the requests in the store."""
    return sorted(Generation.objects.values_list("request_id", flat=True))
