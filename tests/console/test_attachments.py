import pytest

from console.thread.attachments import content_of, file_of


@pytest.mark.parametrize(
    ("payload", "name", "content"),
    [
        (
            b'{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}',
            "message-7-block-2.png",
            b"hi",
        ),
        (
            b'{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,aGk="}}',
            "message-7-block-2.jpg",
            b"hi",
        ),
        (
            b'{"type":"input_image","image_url":"data:image/webp;base64,aGk="}',
            "message-7-block-2.webp",
            b"hi",
        ),
        (
            b'{"type":"input_file","filename":"../../etc/passwd","file_data":"data:application/pdf;base64,aGk="}',
            "message-7-block-2.pdf",
            b"hi",
        ),
        (
            b'{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}}',
            "message-7-block-2.txt",
            b"words",
        ),
        (
            b'{"type":"image","source":{"media_type":"text/html","data":"aGk="}}',
            "message-7-block-2.bin",
            b"hi",
        ),
    ],
)
def test_a_file_has_its_bytes_and_a_name_of_ours(payload, name, content):
    assert file_of(payload, seq=7, ordinal=2) == (name, content)


@pytest.mark.parametrize(
    "payload",
    [
        b"not json",
        b"[]",
        b'{"source":{"data":"%%%"}}',
        b'{"source":{"data":5}}',
        b"\xff\x00",
        b'{"source":null}',
    ],
)
def test_a_block_without_a_readable_file_is_given_as_it_came(payload):
    assert file_of(payload, seq=1, ordinal=0) == ("message-1-block-0.json", payload)


def test_an_address_and_a_providers_file_are_named_and_not_visited():
    assert content_of(b'{"image_url":{"url":"https://elsewhere.example/x.png"}}').address == (
        "https://elsewhere.example/x.png"
    )
    assert content_of(b'{"type":"input_file","file_id":"file_01"}').provider_file == "file_01"


def test_a_media_type_that_is_none_is_dropped():
    assert content_of(b'{"source":{"media_type":"<script>","data":"aGk="}}').media_type == ""
