"""Personal details as lists show them: enough to tell two customers apart, not enough to know one."""

from typing import Final

DOT: Final = "•"
_MOST_DOTS: Final = 7


def masked_name(name: str) -> str:
    """Return "I••• O•••••" for "Inês Okafor"."""
    return " ".join(_masked_word(word) for word in name.split()[:4])


def masked_email(email: str) -> str:
    """Return "i•••••••@example.com"; what is no address is masked like a name."""
    person, at, host = email.rpartition("@")
    return f"{_masked_word(person)}{at}{host}" if at else masked_name(email)


def _masked_word(word: str) -> str:
    return word[:1] + DOT * min(max(len(word) - 1, 3), _MOST_DOTS)
