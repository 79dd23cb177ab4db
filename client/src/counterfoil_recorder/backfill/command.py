"""`counterfoil-backfill FILE...`: send recorded traffic to the store. docs/backfill.md describes it."""

import argparse
import logging
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from counterfoil_recorder.backfill.calls import DIALECTS, BadLine, NoCall, Terms, call_of
from counterfoil_recorder.backfill.cursor import CursorFile, Progress
from counterfoil_recorder.backfill.lines import LONGEST, Line, Place, read_lines
from counterfoil_recorder.backfill.sending import Senders, Settled, StoreGone
from counterfoil_recorder.errors import ConfigurationError
from counterfoil_recorder.store import Store

ALL_IN: Final = 0
WRONG_CALL: Final = 1
SOME_BAD: Final = 2
NOT_FINISHED: Final = 3
_SAVE_EVERY: Final = 1.0
_TIMEOUT: Final = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    # The store's own words are reported with their line; the library that speaks to it need not say more.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    options = _parser().parse_args(arguments)
    url, key = options.url or "", os.environ.get("COUNTERFOIL_KEY", "")
    out = _Reporter(sys.stderr, is_live=sys.stderr.isatty())
    missing = [str(file) for file in options.files if not file.is_file()]
    if missing or not url or not key:
        names = [f"{file}: there is no such file" for file in missing]
        names += [] if url else ["give --url or COUNTERFOIL_URL"]
        names += [] if key else ["set COUNTERFOIL_KEY: a key with the scope “write”"]
        out.say(*names)
        return WRONG_CALL
    terms = Terms(account=options.account, dialect=options.dialect, together=options.together)
    make_store = partial(Store, url=url, key=key, timeout=_TIMEOUT)
    try:
        store = make_store()
    except ConfigurationError as error:
        out.say(str(error))
        return WRONG_CALL
    is_up = store.is_up()
    store.close()
    if not is_up:
        out.say(f"{url} does not answer, or does not know the key")
        return NOT_FINISHED
    cursor = CursorFile(options.cursor, target=f"{url}\n{key}\n{terms}")
    run = _Run(cursor, out, terms, is_again=options.again)
    try:
        for file in options.files:
            senders = Senders(make_store, in_flight=options.in_flight, patience=options.patience)
            run.send(file, senders)
    except StoreGone as gone:
        out.say(f"the store takes nothing ({gone}): run the same command again to go on", run.summary())
        return NOT_FINISHED
    except KeyboardInterrupt:
        out.say("stopped: run the same command again to go on", run.summary())
        return 130
    except (OSError, EOFError) as error:
        out.say(f"a file cannot be read or the cursor cannot be written: {error}", run.summary())
        return WRONG_CALL
    out.say(run.summary())
    return SOME_BAD if run.bad else ALL_IN


class _Run:
    """One call of the command: its files one after the other."""

    def __init__(self, cursor: CursorFile, out: "_Reporter", terms: Terms, *, is_again: bool) -> None:
        self._cursor = cursor
        self._out = out
        self._terms = terms
        self._is_again = is_again
        self._earlier: Counter[str] = Counter()
        self._settled = Settled()
        self._began = time.monotonic()

    @property
    def bad(self) -> int:
        """How many lines are not in, those of earlier runs too."""
        counts = self._earlier + self._settled.counts
        return counts["bad"] + counts["refused"]

    def send(self, file: Path, senders: Senders) -> None:
        """Send one file from where it stood; how far it is by then is saved whatever ends this."""
        start = Progress() if self._is_again else self._cursor.read(file)
        if start.place.number:
            self._out.say(f"{file}: goes on behind line {start.place.number:,}")
        self._earlier += start.counts
        sending = _Sending(file, start, self._settled)
        self._cursor.write(file, start)
        try:
            for line in read_lines(file, after=start.place):
                self._take(sending, line, senders)
                self._save(sending)
            senders.finish()
        except BaseException:
            senders.abandon()
            raise
        finally:
            self._cursor.write(file, sending.progress())

    def summary(self) -> str:
        """What this run did, and what earlier ones did."""
        told = _told(self._settled.counts)
        return f"{told}; by earlier runs {_told(self._earlier)}" if self._earlier else told

    def _take(self, sending: "_Sending", line: Line, senders: Senders) -> None:
        number = sending.begin(line)
        if line.raw is None:
            self._out.bad(sending.file, line.number, f"longer than {LONGEST >> 20} MiB")
            sending.settled.settle(number, "bad")
            return
        if not line.raw.strip():
            sending.settled.settle(number, "empty")
            return
        try:
            call = call_of(line.raw, terms=self._terms, order=number)
        except NoCall:
            sending.settled.settle(number, "other")
        except BadLine as bad:
            self._out.bad(sending.file, line.number, str(bad))
            sending.settled.settle(number, "bad")
        else:
            senders.hand_over(call, partial(self._settle, sending, number, line.number))

    def _settle(self, sending: "_Sending", number: int, line: int, what: str, reason: str) -> None:
        if reason:
            self._out.bad(sending.file, line, f"refused by the store: {reason}")
        sending.settled.settle(number, what)

    def _save(self, sending: "_Sending") -> None:
        if not self._out.is_time():
            return
        progress = sending.progress()
        self._cursor.write(sending.file, progress)
        rate = sum(self._settled.counts.values()) / max(time.monotonic() - self._began, 0.001)
        told = f"{sending.file.name}, line {progress.place.number:,}: {_told(self._settled.counts)}"
        self._out.progress(f"{told}, {rate:,.0f} lines/s")


def _told(counts: Counter[str]) -> str:
    told = [f"{counts['recorded']:,} recorded"]
    told += [f"{counts['known']:,} known before"] if counts["known"] else []
    told += [f"{counts['other']:,} passed over that are no calls to a model"] if counts["other"] else []
    told += [f"{counts['bad']:,} bad lines"] if counts["bad"] else []
    told += [f"{counts['refused']:,} refused by the store"] if counts["refused"] else []
    return ", ".join(told)


class _Sending:
    """One file on its way: which of its lines are settled."""

    def __init__(self, file: Path, start: Progress, settled: Settled) -> None:
        self.file = file
        self.settled = settled
        self._place = start.place
        self._counts = start.counts
        # Of the lines that are not settled yet: where to go on behind each.
        self._open: deque[Place] = deque()

    def begin(self, line: Line) -> int:
        self._open.append(line.behind)
        return self.settled.begin()

    def progress(self) -> Progress:
        """Return up to where everything is settled, and how, counted from the file's beginning."""
        for what in self.settled.take():
            behind = self._open.popleft()
            if behind != self._place:
                self._place = behind
                self._counts[what] += 1
        return Progress(self._place, self._counts)


class _Reporter:
    """Lines for a person, and one that is written over while the run goes on."""

    def __init__(self, stream: TextIO, *, is_live: bool) -> None:
        self._lock = threading.Lock()
        self._stream = stream
        self._is_live = is_live
        self._saved_at = time.monotonic()
        self._told_at = self._saved_at
        self._width = 0

    def is_time(self) -> bool:
        now = time.monotonic()
        if now - self._saved_at < _SAVE_EVERY:
            return False
        self._saved_at = now
        return True

    def bad(self, file: Path, line: int, reason: str) -> None:
        self.say(f"{file}, line {line}: {reason}")

    def say(self, *lines: str) -> None:
        with self._lock:
            self._say(lines)

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            # What is in a file may be anything; a terminal shows it as characters only.
            readable = "".join(letter if letter.isprintable() else "�" for letter in line)
            wiped = f"\r{' ' * self._width}\r" if self._width else ""
            self._stream.write(f"{wiped}{readable}\n")
            self._width = 0
        self._stream.flush()

    def progress(self, line: str) -> None:
        """Show how far it is: written over on a terminal, else a line every ten seconds."""
        if self._is_live:
            with self._lock:
                self._stream.write(f"\r{line.ljust(self._width)}")
                self._stream.flush()
                self._width = len(line)
        elif time.monotonic() - self._told_at >= 10:
            self._told_at = time.monotonic()
            self.say(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="counterfoil-backfill",
        description="Send recorded calls to models (JSON lines of request and response) to Counterfoil.",
        epilog="Exit status: 0 all is in; 1 called wrongly; 2 some lines are not in; 3 not finished: run it"
        " again.",
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="plain or gzipped")
    parser.add_argument(
        "--url", default=os.environ.get("COUNTERFOIL_URL", ""), help="the store (or COUNTERFOIL_URL)"
    )
    parser.add_argument("--account", default="", help="whose the calls are that do not say it")
    parser.add_argument(
        "--dialect", default="", choices=DIALECTS, help="the format of calls that do not say it"
    )
    parser.add_argument(
        "--together",
        default="",
        metavar="MEMBER",
        help="a member of the lines (a trace, a session) that tells which calls must stay in order; without"
        " it, all calls of an account that name no conversation do",
    )
    parser.add_argument("--in-flight", type=_at_least_one, default=4, help="how many at once (4)")
    parser.add_argument(
        "--patience",
        type=float,
        default=300.0,
        help="how many seconds to wait for a store that takes nothing (300)",
    )
    parser.add_argument(
        "--cursor",
        type=Path,
        default=Path(".counterfoil-backfill.json"),
        help="where it is kept how far each file is (.counterfoil-backfill.json)",
    )
    parser.add_argument(
        "--again", action="store_true", help="begin each file anew; what the store has, it has once"
    )
    return parser


def _at_least_one(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 64:
        raise argparse.ArgumentTypeError("a number from 1 to 64")
    return number
