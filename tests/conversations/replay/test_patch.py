import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.replay.patch import PatchError, apply_patch, make_patch

RENDERED = json.dumps([{"type": "text", "text": f"What of order {n * 7919}?"} for n in range(200)]).encode()


def test_a_mark_that_moved_costs_a_few_bytes():
    body = RENDERED.replace(
        b'"What of order 71271?"', b'"What of order 71271?", "cache_control": {"type": "ephemeral"}'
    )

    patch = make_patch(rendered=RENDERED, body=body)

    assert body != RENDERED
    assert len(patch) < 80
    assert apply_patch(rendered=RENDERED, patch=patch, size=len(body)) == body


def test_a_body_with_little_in_common_gets_no_patch():
    assert make_patch(rendered=RENDERED, body=b'{"model": "m-1", "messages": []}') is None


def test_a_body_of_some_megabytes_is_patched_too():
    image = bytes((n * n + 7 * n) % 251 for n in range(3_000_000)).hex().encode()
    body = b'{"cache_control":1,' + image[1:]

    patch = make_patch(rendered=image, body=body)

    assert len(patch) < len(body) // 50
    assert apply_patch(rendered=image, patch=patch, size=len(body)) == body


def test_a_patch_on_another_rendering_is_refused_or_differs():
    body = RENDERED.replace(b"71271", b"00000")
    patch = make_patch(rendered=RENDERED, body=body)

    try:
        other = apply_patch(rendered=RENDERED[100:], patch=patch, size=len(body))
    except PatchError:
        return
    assert other != body


def test_a_damaged_patch_cannot_unfold_past_the_recorded_size():
    zeros = b"0" * 1_000_000
    patch = make_patch(rendered=b"x", body=zeros)

    with pytest.raises(PatchError, match="where 10 were recorded"):
        apply_patch(rendered=b"x", patch=patch, size=10)


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_whatever_patch_is_made_gives_the_body_back(rendered, body):
    patch = make_patch(rendered=rendered, body=body + rendered)

    if patch is not None:
        assert apply_patch(rendered=rendered, patch=patch, size=len(body + rendered)) == body + rendered
