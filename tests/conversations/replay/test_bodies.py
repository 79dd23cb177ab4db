import pytest

from conversations.models import Generation, MessagePart, RawBody
from conversations.replay import DamagedError, NotReplayableError, request_body, request_body_of
from tests.conversations.recording.exchanges import assistant, body, text, user


def test_an_attempt_gives_back_the_bytes_that_were_sent(record):
    sent = body(user("Hi"), system=[text("You help.")], tools=[{"name": "q"}], is_spaced=True)
    exchange = record(sent)

    generation = Generation.objects.get(conversation_id=exchange.conversation_id)

    assert request_body(generation) == sent


def test_what_was_said_later_does_not_change_what_was_sent(record):
    sent = body(user("Hi"))
    first = record(sent, "Hello.")
    record(body(user("Hi"), assistant("Hello."), user("More")), after=first)
    record(body(user("Hey")), after=first)

    assert request_body_of(conversation_id=first.conversation_id, number=1) == sent


def test_bytes_that_are_gone_are_named_by_message_and_block(record):
    first = record(body(user(text("Hi"), text("there"))), "Hello.")
    MessagePart.objects.filter(conversation_id=first.conversation_id, seq=1, ordinal=1).update(
        text=None, payload=None, shell=None, bytes_state="erased"
    )

    with pytest.raises(NotReplayableError, match="attempt 1: the bytes of message 1, block 1 are gone"):
        request_body_of(conversation_id=first.conversation_id, number=1)


def test_a_copy_that_was_purged_is_said_so(record):
    exchange = record(b"no json")
    RawBody.objects.all().delete()

    with pytest.raises(NotReplayableError, match="its copy has been purged"):
        request_body_of(conversation_id=exchange.conversation_id, number=1)


def test_an_unknown_attempt_is_named(record):
    exchange = record(body(user("Hi")))

    with pytest.raises(NotReplayableError, match="attempt 7: there is no such attempt"):
        request_body_of(conversation_id=exchange.conversation_id, number=7)


def test_bytes_that_are_not_those_sent_are_never_given_out(record):
    exchange = record(body(user("Hi")))
    Generation.objects.update(body_sha256=b"\x00" * 32)

    with pytest.raises(DamagedError, match="the rebuilt body is not the one that was sent"):
        request_body_of(conversation_id=exchange.conversation_id, number=1)


def test_a_renderer_that_this_program_lacks_is_named(record):
    exchange = record(body(user("Hi")))
    Generation.objects.update(body_renderer=99)

    with pytest.raises(DamagedError, match="no renderer number 99"):
        request_body_of(conversation_id=exchange.conversation_id, number=1)


def test_a_damaged_patch_is_refused(record):
    first = record(body(user("Hi")), "Hello.")
    record(body(user("Hi"), assistant("Hello."), user("So")), after=first)
    assert Generation.objects.get(number=2).body_proof == "patched"
    Generation.objects.filter(number=2).update(body_patch=b"\x00\x01\x02")

    with pytest.raises(DamagedError, match="patch"):
        request_body_of(conversation_id=first.conversation_id, number=2)


def test_a_large_image_is_read_back_from_blob_storage(record, settings, tmp_path):
    data = "QUJD" * 20_000
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    sent = body(user(image, text("What is this?")))

    exchange = record(sent, "Letters.")

    part = MessagePart.objects.get(type="image")
    assert (part.payload, part.blob.size > 80_000, part.media_type) == (None, True, "image/png")
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


@pytest.mark.parametrize("turns", [1, 6])
def test_a_body_is_read_back_in_one_query_however_long_its_path(record, django_assert_num_queries, turns):
    history = [user("0")]
    first = record(body(*history), "0.")
    for number in range(1, turns):
        history += [assistant(text(f"{number - 1}.")), user(str(number))]
        record(body(*history), f"{number}.", after=first)

    # the attempt with its fragments, the messages and their parts
    with django_assert_num_queries(1):
        request_body_of(conversation_id=first.conversation_id, number=turns)
