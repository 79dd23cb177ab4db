"""The difference between a body as rendered from the rows and the body that was sent.

A patch is one zstd frame without its magic number, compressed with the
rendering as a raw-content prefix: whatever the client sent as we would have
sent it costs a few bytes, however far it moved. A patch means nothing without
the exact rendering it was made on, so the renderer's number stands beside it,
and a released renderer never changes.
"""

from typing import Final

import zstandard

# A patch over a fifth of the body says that the two have little in common: the bytes are kept instead.
LARGEST_SHARE: Final = 5
# Past a fiftieth the second, slower search is worth its milliseconds: clients that
# space or sort every key anew leave a difference at each, a few bytes long.
_WORTH_SEARCHING_SHARE = 50
_LARGEST_CAREFUL = 2 * 2**20
_FORMAT = zstandard.FORMAT_ZSTD1_MAGICLESS
_SMALLEST_WINDOW, _LARGEST_WINDOW, _LARGEST_TABLE = 10, 27, 24


class PatchError(ValueError):
    """A patch that does not fit the rendering it is applied to."""


def make_patch(*, rendered: bytes, body: bytes) -> bytes | None:
    """Give the patch from the rendering to the body, or None where keeping the body is better."""
    size = len(rendered) + len(body)
    if size > _LARGEST_CAREFUL:
        patch = _compress(rendered, body, _search_widely(size))
    else:
        patch = _compress(rendered, body, _search_quickly(size))
        if len(patch) * _WORTH_SEARCHING_SHARE > len(body):
            patch = min(patch, _compress(rendered, body, _search_thoroughly(size)), key=len)
    return patch if len(patch) * LARGEST_SHARE <= len(body) else None


def apply_patch(*, rendered: bytes, patch: bytes, size: int) -> bytes:
    """Give the body back; `size` bounds what a damaged patch may unfold to."""
    prefix = zstandard.ZstdCompressionDict(rendered, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    decompressor = zstandard.ZstdDecompressor(
        dict_data=prefix, max_window_size=2**_LARGEST_WINDOW, format=_FORMAT
    )
    try:
        with decompressor.stream_reader(patch) as reader:
            body = reader.read(size + 1)
    except zstandard.ZstdError as error:
        raise PatchError(f"the patch does not fit the rendering: {error}") from error
    if len(body) != size:
        raise PatchError(f"the patch gives {len(body)} bytes or more where {size} were recorded")
    return body


def _compress(rendered: bytes, body: bytes, parameters: zstandard.ZstdCompressionParameters) -> bytes:
    prefix = zstandard.ZstdCompressionDict(rendered, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(dict_data=prefix, compression_params=parameters).compress(body)


def _search_quickly(size: int) -> zstandard.ZstdCompressionParameters:
    return zstandard.ZstdCompressionParameters.from_level(10, window_log=_window_log(size), format=_FORMAT)


def _search_thoroughly(size: int) -> zstandard.ZstdCompressionParameters:
    """Find matches of three bytes at a price of some milliseconds."""
    window = _window_log(size)
    return zstandard.ZstdCompressionParameters(
        format=_FORMAT,
        window_log=window,
        chain_log=min(window, 17),
        hash_log=min(window, 17),
        search_log=2,
        min_match=3,
        target_length=16,
        strategy=zstandard.STRATEGY_BTOPT,
    )


def _search_widely(size: int) -> zstandard.ZstdCompressionParameters:
    """Bodies with images in them: tables large enough not to forget the prefix's beginning."""
    window = _window_log(size)
    table = min(window, _LARGEST_TABLE)
    return zstandard.ZstdCompressionParameters.from_level(
        1, window_log=window, hash_log=table, chain_log=table, format=_FORMAT
    )


def _window_log(size: int) -> int:
    return min(max(size.bit_length(), _SMALLEST_WINDOW), _LARGEST_WINDOW)
