"""One block of any dialect as a part: its words as text, all else in a shell or a payload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, HOLE_STRING, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.cuts import LONGEST_SHELL, Hole, TextPlace, cache_marks, cut_block, cut_string
from conversations.wire.forms import text_block, text_type
from conversations.wire.literals import is_storable, spell
from conversations.wire.shapes import Style
from conversations.wire.slices import Item, Member, Reader, Sliced, read_list, read_object, slice_object

CACHE_MEMBERS = frozenset({"cache_control", "prompt_cache_breakpoint"})
_TEXT_LIST: Reader = read_list(read_object({}))


@dataclass(frozen=True, slots=True)
class BlockRules:
    """What a dialect's blocks are made of.

    `words` names, for each type of block, the members that hold what somebody
    said: a string, or a list of text blocks. `describe` fills in type, ids,
    names and status from the block's value.
    """

    dialect: Dialect
    words: Mapping[str, tuple[str, ...]]
    describe: Callable[[PartDraft, Mapping[str, object], Role], None]


def cut_content(
    text: str, content: Member | None, *, rules: BlockRules, role: Role, style: Style
) -> tuple[list[PartDraft], list[Hole]]:
    """The parts of a message's content, a string or a list of blocks, and where they stood."""
    if content is None or content.value is None:
        return [], []
    value = content.value
    if isinstance(value, str):
        part, mark = cut_string(text, start=content.value_start, end=content.end, value=value, style=style)
        return [part], [Hole(content.value_start, content.end, mark)]
    if not isinstance(value, Sliced) or value.is_object:
        part = PartDraft(PartType.OTHER, payload=text[content.value_start : content.end].encode())
        return [part], [Hole(content.value_start, content.end, HOLE_BLOCK)]
    if not value.items:
        return [], [Hole(value.start + 1, value.start + 1, HOLE_BLOCKS)]
    parts = [read_block(text, block, rules=rules, role=role, style=style) for block in value.items]
    return parts, [Hole(block.start, block.end, HOLE_BLOCK) for block in value.items]


def read_block(text: str, item: Item, *, rules: BlockRules, role: Role, style: Style) -> PartDraft:
    """One content block as a part."""
    value = item.value
    if not isinstance(value, dict):
        return PartDraft(PartType.OTHER, payload=text[item.start : item.end].encode())
    kind = value.get("type")
    words = rules.words.get(kind, ()) if isinstance(kind, str) else ()
    is_text = kind == text_type(rules.dialect, role)
    if is_text:
        part = _read_plain_text(text, item, value, rules=rules, role=role, style=style)
        if part is not None:
            return part
    part = cut_value(text, item, value, words, style)
    rules.describe(part, value, role)
    if is_text:
        part.shell = _drop_usual_shell(part.shell, rules=rules, role=role, style=style)
    return part


def cut_value(
    text: str, item: Item, value: Mapping[str, object], words: tuple[str, ...], style: Style
) -> PartDraft:
    """A block that was read as a plain value, cut by the cheapest way that is exact."""
    has_marks = not CACHE_MEMBERS.isdisjoint(value)
    if not words and not has_marks:
        return PartDraft(PartType.OTHER, payload=text[item.start : item.end].encode())
    if len(words) == 1 and not has_marks:
        part = _cut_single_word(text[item.start : item.end], words[0], value.get(words[0]), style)
        if part is not None:
            return part
    return read_worded(text, item.start, words, style)


def _cut_single_word(block: str, name: str, words: object, style: Style) -> PartDraft | None:
    """The quick way for a block with one string of words that stands in it exactly once."""
    if not isinstance(words, str) or not is_storable(words):
        return None
    before = f'"{name}"{style.colon}'
    literal = before + spell(words, style)
    if block.count(literal) != 1 or len(block) - len(literal) > LONGEST_SHELL:
        return None
    return PartDraft(PartType.OTHER, text=words, shell=block.replace(literal, before + HOLE_STRING))


def read_worded(text: str, start: int, words: tuple[str, ...], style: Style) -> PartDraft:
    """A block that holds words: they become the part's text, the rest its shell."""
    block, _ = slice_object(text, start, dict.fromkeys(words, _TEXT_LIST))
    return cut_worded(text, block, words, style)


def cut_worded(text: str, block: Sliced, words: tuple[str, ...], style: Style) -> PartDraft:
    """The same for a block that has been walked already, its word lists too."""
    gone = cache_marks(block, CACHE_MEMBERS)
    places: list[TextPlace] = []
    for name in words:
        member = block.last(name)
        if member is None:
            continue
        if isinstance(member.value, Sliced):
            for item in member.value.items:
                if isinstance(item.value, Sliced):
                    gone += cache_marks(item.value, CACHE_MEMBERS)
                    places += _inner_place(item.value)
        else:
            places += text_places(member)
    places.sort()
    return cut_block(text, start=block.start, end=block.end, places=places, style=style, taken_out=gone)


def cut_walked(text: str, block: Sliced, words: tuple[str, ...], style: Style) -> PartDraft:
    """The same for a block whose members were walked but not the lists of words in them."""
    if any(isinstance(block.value(name), list | Sliced) for name in words):
        return read_worded(text, block.start, words, style)
    return cut_worded(text, block, words, style)


def text_places(member: Member | None) -> list[TextPlace]:
    if member is None or not isinstance(member.value, str):
        return []
    return [TextPlace(member.value_start, member.end, member.value)]


def _inner_place(block: Sliced) -> list[TextPlace]:
    kind = block.value("type")
    return text_places(block.last("text")) if isinstance(kind, str) and kind.endswith("text") else []


def _read_plain_text(
    text: str, item: Item, value: dict[str, object], *, rules: BlockRules, role: Role, style: Style
) -> PartDraft | None:
    """The quick way for most blocks: exactly the usual text block."""
    words = value.get("text")
    if not isinstance(words, str) or not is_storable(words):
        return None
    before, after = text_block(rules.dialect, role, style)
    if text[item.start : item.end] != before + spell(words, style) + after:
        return None
    return PartDraft(PartType.TEXT, text=words)


def _drop_usual_shell(shell: str | None, *, rules: BlockRules, role: Role, style: Style) -> str | None:
    before, after = text_block(rules.dialect, role, style)
    return None if shell == before + HOLE_STRING + after else shell
