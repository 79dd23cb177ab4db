"""Choices that nobody named: Django calls `branch_root` "Branch Root", the pages write "Branch root"."""

from collections.abc import Iterable


def in_sentence_case(choices: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the choices as a page lists them; a label that was told may hold no capitals to lose."""
    return [(value, label.capitalize()) for value, label in choices]
