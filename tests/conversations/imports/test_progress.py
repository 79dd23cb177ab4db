from io import StringIO

import pytest

from conversations.management.progress import ProgressBar


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("total", "shown"),
    [
        (4 << 20, "f.json [###############...............]  50% 7 messages"),
        (None, "f.json 2 MiB read, 7 messages"),
    ],
)
def test_the_bar_says_what_share_was_read_or_that_it_moves(total, shown):
    stream = Terminal()
    bar = ProgressBar(label="f.json", total=total, stream=stream)

    bar.advance(size=2 << 20, count=7)

    assert shown in stream.getvalue()


def test_a_file_that_is_no_terminal_has_no_bar():
    stream = StringIO()

    bar = ProgressBar(label="f.json", total=None, stream=stream)
    bar.advance(size=9, count=1)
    bar.finish()

    assert stream.getvalue() == ""
