"""Ways in which files come damaged: on the way, by their exporter, by hand, on purpose."""

import gzip
import io
import json
import random
import zipfile
from copy import deepcopy

from evidence.fuzz_seeds import Seed

ODD_VALUES: tuple[object, ...] = (
    None, True, False, 0, -1, 1.5, 2**70, "", " ", "x" * 300, "\x00", "a\x00b", "\ud83d", "\u202e", "root",
    [], {}, [[]], [None], {"": None}, {"type": "text"}, "1e400", "9999-12-31T23:59:59Z", "0001-01-01",
    -62135596800, 10**18, "tool_use", "assistant", [{"type": "tool_result"}], "\ue203",
)  # fmt: skip
ODD_BYTES = (
    b"\x00", b"\xff", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b"\n",
    b"1e999",
)  # fmt: skip


def damage(seed: Seed, dice: random.Random) -> tuple[str, bytes]:
    """Give a file's name and bytes after one to four injuries."""
    data = seed.text.encode("utf-8")
    if dice.random() < 0.75:
        data = _damage_values(seed, dice)
    if dice.random() < 0.45:
        for _ in range(dice.randrange(1, 4)):
            data = _damage_bytes(data, dice)
    chance = dice.random()
    if chance < 0.05:
        return f"{seed.name}.gz", _cut_at_times(gzip.compress(data, mtime=0), dice)
    if chance < 0.10:
        return "export.zip", _cut_at_times(_zipped(seed.name, data), dice)
    return seed.name, data


def _damage_values(seed: Seed, dice: random.Random) -> bytes:
    """Injure the values of the JSON in the text, and write it in another spacing."""
    if seed.name.endswith(".csv"):
        return _damage_cells(seed.text, dice).encode("utf-8", "surrogatepass")
    if seed.name.endswith(".jsonl"):
        records = [json.loads(line) for line in seed.text.splitlines()]
    else:
        records = [json.loads(seed.text)]
    for _ in range(dice.randrange(1, 4)):
        _injure(records, dice)
    if dice.random() < 0.1:
        dice.shuffle(records)
    spacing = dice.choice([(",", ":"), (", ", ": ")])
    texts = [json.dumps(record, separators=spacing, ensure_ascii=dice.random() < 0.7) for record in records]
    return "\n".join(texts).encode("utf-8", "surrogatepass")


def _injure(root: list[object], dice: random.Random) -> None:
    """Replace, remove, double, rename or move one value anywhere in the records."""
    holders: list[list[object] | dict[str, object]] = []
    waiting: list[object] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list) and value:
            holders.append(value)
            waiting += value.values() if isinstance(value, dict) else value
    if not holders:
        return
    holder = dice.choice(holders)
    key: str | int = dice.choice(list(holder)) if isinstance(holder, dict) else dice.randrange(len(holder))
    way = dice.randrange(6)
    if way == 0 and isinstance(holder, list):
        holder.insert(dice.randrange(len(holder) + 1), deepcopy(dice.choice(holder)))
    elif way == 1 and isinstance(holder, dict):
        holder[dice.choice(["id", "uuid", "parent", "role", "x", "\x00", ""])] = holder.pop(str(key))
    elif way == 2:
        _take(holder, key)
    elif way == 3:
        other = dice.choice(holders)
        donor = list(other.values()) if isinstance(other, dict) else other
        _put(holder, key, deepcopy(dice.choice(donor)))
    else:
        _put(holder, key, deepcopy(dice.choice(ODD_VALUES)))


def _put(holder: list[object] | dict[str, object], key: str | int, value: object) -> None:
    if isinstance(holder, dict):
        holder[str(key)] = value
    elif isinstance(key, int):
        holder[key] = value


def _take(holder: list[object] | dict[str, object], key: str | int) -> None:
    if isinstance(holder, dict):
        del holder[str(key)]
    elif isinstance(key, int):
        del holder[key]


def _damage_cells(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    cells = lines[dice.randrange(len(lines))].split(",")
    cells[dice.randrange(len(cells))] = str(dice.choice(ODD_VALUES))
    lines[dice.randrange(len(lines))] = ",".join(cells)
    return "\n".join(lines)


def _damage_bytes(data: bytes, dice: random.Random) -> bytes:
    if not data:
        return dice.choice(ODD_BYTES)
    place = dice.randrange(len(data))
    end = min(len(data), place + dice.randrange(1, 40))
    way = dice.randrange(5)
    if way == 0:
        return data[:place]
    if way == 1:
        return data[:place] + data[end:]
    if way == 2:
        return data[:end] + data[place:]
    if way == 3:
        return data[:place] + dice.choice(ODD_BYTES) + data[place:]
    return data[:place] + bytes([dice.randrange(256)]) + data[place + 1 :]


def _zipped(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), data)
        archive.writestr(zipfile.ZipInfo("user.json"), '{"id":"u"}')
    return buffer.getvalue()


def _cut_at_times(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data))] if dice.random() < 0.5 else data
