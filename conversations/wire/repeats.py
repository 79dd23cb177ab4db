"""Names that stand twice in one JSON object: legal bytes, of which every reader shows the last value only."""

from json import JSONDecodeError, JSONDecoder


def repeated_names(payload: bytes) -> list[str]:
    """The names that some object in `payload` repeats, in order of their first repetition."""
    found: dict[str, None] = {}

    def note(pairs: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                found[name] = None
            seen.add(name)

    decoder = JSONDecoder(object_pairs_hook=note, parse_int=str, parse_float=str)
    try:
        decoder.decode(payload.decode())
    except (JSONDecodeError, UnicodeDecodeError, RecursionError):
        return []
    return list(found)
