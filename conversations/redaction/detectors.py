"""What is cut: payment cards, bank accounts, keys; found by proof where there is one.

A card number passes its check digit and lies in the range of an issuer; an IBAN has its
country's length and passes modulo 97; keys carry the marks that their makers give them. So an
order number of sixteen digits stays, unless it is a card number too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from conversations.vocabulary import SecretKind


@dataclass(frozen=True, slots=True)
class Span:
    """Where a secret stands in a text, half open; never what it is."""

    kind: SecretKind
    start: int
    end: int


# What people and pages put between groups of digits: blanks of any width, hyphens, dashes.
_BETWEEN = "[ \\u00a0\\u2007\\u2009\\u200b\\u202f\\u2010-\\u2013-]"
# Digits in groups. After a point they are a fraction, which may have as many digits as a card.
_DIGITS = re.compile(rf"(?<![\d.])\d+(?:{_BETWEEN}{{1,2}}\d+)*(?!\.\d)")
_GROUP = re.compile(r"\d+")
_DOTTED = re.compile(r"(?<![\d.])\d{4}(?:\.\d{4}){3}(?!\.?\d)")
# What nearly every text lacks is asked first: it costs a twentieth of looking for whole secrets.
_MAY_BE_CARD = re.compile(rf"\d(?:(?:{_BETWEEN}{{1,2}}|\.)?\d){{12}}")
# How cards are printed; in this form one is known beside a security code or a date.
_PRINTED = ((4, 4, 4, 4, 3), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (16,), (15,), (14,), (19,))
_SHORTEST, _LONGEST = 13, 19
_MOST_GROUPS_BEFORE, _MOST_GROUPS_BEHIND, _LONGEST_BESIDE = 1, 3, 4


def find_cards(text: str) -> Iterator[Span]:
    if not _MAY_BE_CARD.search(text):
        return
    for match in _DIGITS.finditer(text):
        groups = list(_GROUP.finditer(match[0]))
        for first, last in _cards_among([_plain(group[0]) for group in groups]):
            start, end = groups[first].start(), groups[last - 1].end()
            yield Span(SecretKind.CARD, match.start() + start, match.start() + end)
    for match in _DOTTED.finditer(text):
        if is_card_number(_plain(match[0].replace(".", ""))):
            yield Span(SecretKind.CARD, match.start(), match.end())


def _cards_among(groups: Sequence[str]) -> list[tuple[int, int]]:
    """Return the stretches that are cards: one with little beside it, else a row, else those in one piece."""
    for first, last in _may_be_cards([len(digits) for digits in groups]):
        if is_card_number("".join(groups[first:last])):
            return [(first, last)]
    return _row_of_cards(groups) or [
        (place, place + 1)
        for place, digits in enumerate(groups)
        if _SHORTEST <= len(digits) <= _LONGEST and is_card_number(digits)
    ]


def _row_of_cards(groups: Sequence[str]) -> list[tuple[int, int]]:
    """Return the cards of a row that holds nothing but cards, each as it is printed; else none."""
    row: list[tuple[int, int]] = []
    place = 0
    while place < len(groups):
        for printed in _PRINTED:
            end = place + len(printed)
            card = groups[place:end]
            if tuple(map(len, card)) == printed and is_card_number("".join(card)):
                row.append((place, end))
                place = end
                break
        else:
            return []
    return row


def _may_be_cards(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give the stretches of groups that may be a card: all, or one as it is printed with little beside it.

    Any stretch of a long row of numbers would be taken for a card too often.
    """
    if _SHORTEST <= sum(lengths) <= _LONGEST:
        yield 0, len(lengths)
    for first in range(min(_MOST_GROUPS_BEFORE + 1, len(lengths))):
        for printed in _PRINTED:
            last = first + len(printed)
            beside = [*lengths[:first], *lengths[last:]]
            is_alone = (
                len(lengths) - last <= _MOST_GROUPS_BEHIND and max(beside, default=0) <= _LONGEST_BESIDE
            )
            if tuple(lengths[first:last]) == printed and beside and is_alone:
                yield first, last


def _plain(number: str) -> str:
    """The number in the digits that checks are made for, whatever script it is written in."""
    return "".join(str(int(digit)) for digit in number)


def is_card_number(number: str) -> bool:
    return _is_issued(number) and _passes_luhn(number)


def _is_issued(number: str) -> bool:
    """Ranges of the issuers: Visa, Mastercard, American Express, Discover, Diners, JCB, UnionPay, Maestro."""
    length, two, three, four = len(number), int(number[:2]), int(number[:3]), int(number[:4])
    return (
        (number[0] == "4" and length in (13, 16, 19))
        or ((51 <= two <= 55 or 2221 <= four <= 2720) and length == 16)
        or (two in (34, 37) and length == 15)
        or ((four == 6011 or 644 <= three <= 649 or two == 65) and 16 <= length <= 19)
        or ((300 <= three <= 305 or three == 309 or two in (36, 38, 39)) and 14 <= length <= 19)
        or (3528 <= four <= 3589 and 16 <= length <= 19)
        or (two == 62 and 16 <= length <= 19)
        or (four in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763) and 13 <= length <= 19)
    )


def _passes_luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[0::2]) + sum(doubled)) % 10 == 0


_IBAN_BEGINS = re.compile(r"\b[A-Za-z]{2}\d{2}")
# Printed in groups, pasted in one: a run that is longer than any account number is none.
_IBAN_GROUP = re.compile(r" ?([A-Za-z0-9]{1,36})\b")
_MOST_IBAN_GROUPS = 9
_IBANS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 "
    "DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 "
    "IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 "
    "MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 "
    "SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
)
_IBAN_LENGTHS = {country[:2]: int(country[2:]) for country in _IBANS.split()}


def find_ibans(text: str) -> Iterator[Span]:
    at = 0
    while begins := _IBAN_BEGINS.search(text, at):
        end = _end_of_iban(text, begins)
        if end is not None:
            yield Span(SecretKind.IBAN, begins.start(), end)
        # Behind its beginning only: an account number may stand behind a word like `no12`.
        at = end or begins.end()


def _end_of_iban(text: str, begins: re.Match[str]) -> int | None:
    """Return where the account number ends that begins there, if one does; words may follow it."""
    length = _IBAN_LENGTHS.get(begins[0][:2].upper())
    if length is None:
        return None
    number, at = begins[0], begins.end()
    for _ in range(_MOST_IBAN_GROUPS):
        group = _IBAN_GROUP.match(text, at)
        if group is None:
            return None
        number, at = number + group[1], group.end()
        if len(number) >= length:
            break
        if len(group[1]) == 1:
            return None
    beyond = len(number) - length
    return at - beyond if beyond >= 0 and _passes_modulo(number[:length].upper()) else None


def _passes_modulo(number: str) -> bool:
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1


_KEYS = re.compile(
    r"""
    \b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}      # Stripe
    | \bwhsec_[A-Za-z0-9+/=]{16,}
    | \bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{20,}  # model providers
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                    # AWS
    | \bgh[opsru]_[A-Za-z0-9]{36,}                     # GitHub
    | \bgithub_pat_[A-Za-z0-9_]{22,}
    | \bglpat-[A-Za-z0-9_-]{20,}
    | \bxox[abeprs]-[A-Za-z0-9-]{10,}                  # Slack
    | \bAIza[A-Za-z0-9_-]{35}
    """,
    re.VERBOSE,
)
# JSON web tokens, and private keys as files hold them. In parts, each looked at once: as one pattern, a
# text of nothing but beginnings would be read to its end from each of them.
_THREE_PARTS = re.compile(
    r"(?<![A-Za-z0-9_-])([A-Za-z0-9_-]{13,}+)\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+"
)
_WEB_TOKEN_BEGINS = re.compile(r"\beyJ[A-Za-z0-9_-]{10}")
_PRIVATE_KEY_BEGINS = re.compile(r"-----BEGIN (?:[A-Z]{1,20} )?PRIVATE KEY-----")
_PRIVATE_KEY_ENDS = re.compile(r"-----END (?:[A-Z]{1,20} )?PRIVATE KEY-----")
_BEARER = re.compile(r"\b[Bb]earer\s+([A-Za-z0-9._~+/=-]{16,})")


# One of these begins each of them.
_KEY_MARKS = ("k_", "whsec_", "sk-", "AKIA", "ASIA", "gh", "glpat-", "xox", "AIza", "eyJ", "-----BEGIN")


def find_keys(text: str) -> Iterator[Span]:
    for mark in _KEY_MARKS:
        if mark in text:
            break
    else:
        return
    for match in _KEYS.finditer(text):
        yield Span(SecretKind.API_KEY, match.start(), match.end())
    yield from _find_web_tokens(text)
    yield from _find_private_keys(text)


def _find_web_tokens(text: str) -> Iterator[Span]:
    at = 0
    while parts := _THREE_PARTS.search(text, at):
        begins = _WEB_TOKEN_BEGINS.search(parts[1])
        if begins is not None:
            yield Span(SecretKind.API_KEY, parts.start() + begins.start(), parts.end())
        at = parts.end() if begins is not None else parts.end(1)


def _find_private_keys(text: str) -> Iterator[Span]:
    at = 0
    while begins := _PRIVATE_KEY_BEGINS.search(text, at):
        ends = _PRIVATE_KEY_ENDS.search(text, begins.end())
        if ends is None:
            return
        yield Span(SecretKind.API_KEY, begins.start(), ends.end())
        at = ends.end()


def find_bearers(text: str) -> Iterator[Span]:
    """Only the token is cut: the word before it says what stood there."""
    if "earer" not in text:
        return
    for match in _BEARER.finditer(text):
        yield Span(SecretKind.BEARER, match.start(1), match.end(1))


DETECTORS: dict[SecretKind, Callable[[str], Iterator[Span]]] = {
    SecretKind.CARD: find_cards,
    SecretKind.IBAN: find_ibans,
    SecretKind.API_KEY: find_keys,
    SecretKind.BEARER: find_bearers,
}
