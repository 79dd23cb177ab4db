"""The folder where exchanges wait: whole files or none, in order, taken over from processes that are gone."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterfoil_recorder.exchanges import Parcel, from_file, to_file
from counterfoil_recorder.spool import Spool, SpoolFullError
from counterfoil_recorder.tickets import Ticket

LARGE = 10**9


def parcel(order, *, answer=b"answer", exchange_id=""):
    exchange_id = exchange_id or f"x{order}"
    return Parcel(
        order=order,
        exchange_id=exchange_id,
        facts={"exchange_id": exchange_id, "dialect": "anthropic_messages"},
        request_body=b"request\n\x00\xff",
        response_body=answer,
        ticket=Ticket(exchange_id),
    )


def drained(spool):
    """Take everything out, oldest first."""
    ids = []
    while (taken := spool.take()) is not None:
        path, found = taken
        ids.append(found.exchange_id)
        spool.remove(path)
    return ids


@pytest.mark.parametrize("answer", [b"answer", b"", None])
def test_an_exchange_comes_back_as_it_went_in(tmp_path, answer):
    spool, put = Spool(tmp_path, largest=LARGE), parcel(7, answer=answer)
    spool.put(put)
    _, found = spool.take()

    assert (found.order, found.exchange_id, found.facts) == (7, "x7", put.facts)
    assert (found.request_body, found.response_body) == (put.request_body, answer)
    assert found.ticket is put.ticket


def test_files_are_for_their_owner_alone(tmp_path):
    spool = Spool(tmp_path / "spool", largest=LARGE)
    path = spool.put(parcel(1))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "spool").stat().st_mode) == 0o700


def test_the_oldest_comes_first_whatever_was_put_first(tmp_path):
    spool = Spool(tmp_path, largest=LARGE)
    for order in (30, 10, 20):
        spool.put(parcel(order))

    assert drained(spool) == ["x10", "x20", "x30"]
    assert (spool.bytes, spool.first) == (0, None)


def test_one_that_is_moved_back_comes_last_under_the_same_ticket(tmp_path):
    spool = Spool(tmp_path, largest=LARGE)
    for order in (1, 2):
        spool.put(parcel(order))
    path, first = spool.take()
    spool.move_back(path, order=3)

    second_path, second = spool.take()
    spool.remove(second_path)
    assert (second.exchange_id, spool.take()[1].exchange_id) == ("x2", "x1")
    assert spool.take()[1].ticket is first.ticket


def test_the_limit_counts_what_waits_and_what_was_set_aside(tmp_path):
    size = len(to_file(parcel(1)))
    spool = Spool(tmp_path, largest=2 * size)
    first = spool.put(parcel(1))
    spool.put(parcel(2))
    with pytest.raises(SpoolFullError):
        spool.put(parcel(3))

    spool.set_aside(first, "why")
    with pytest.raises(SpoolFullError):
        spool.put(parcel(3))
    with pytest.raises(SpoolFullError):
        Spool(tmp_path, largest=size).put(parcel(3))
    assert sorted(path.name for path in (tmp_path / "refused").iterdir()) == [
        f"{1:020d}-x1.exchange",
        f"{1:020d}-x1.reason",
    ]


def test_a_write_that_fails_leaves_no_file_behind(tmp_path, monkeypatch):
    spool = Spool(tmp_path, largest=LARGE)
    spool.put(parcel(1))

    def no_room(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space left"):
        spool.put(parcel(2))

    assert [path.name for path in tmp_path.rglob("*.exchange*")] == [f"{1:020d}-x1.exchange"]
    assert spool.bytes == len(to_file(parcel(1)))


@pytest.mark.parametrize("content", [b"", b"{}\n", b"no json\n", b'{"version": 99}\n', b"[" * 50_000 + b"\n"])
def test_a_file_that_cannot_be_read_is_set_aside_and_the_next_comes(tmp_path, content):
    spool = Spool(tmp_path, largest=LARGE)
    broken, whole = parcel(1), parcel(2)
    spool.put(broken).write_bytes(content)
    spool.put(whole)

    assert drained(spool) == ["x2"]
    assert broken.ticket.outcome is not None
    assert (tmp_path / "refused" / f"{1:020d}-x1.exchange").read_bytes() == content


@pytest.mark.parametrize(("length", "why"), [(-1, "bodies are not as long"), (10, "Expecting ':'")])
def test_a_file_cut_short_is_not_taken_for_whole(length, why):
    with pytest.raises(ValueError, match=why):
        from_file(to_file(parcel(1))[:length], order=1)


def test_what_a_living_process_holds_is_left_to_it(tmp_path):
    first, second = Spool(tmp_path, largest=LARGE), Spool(tmp_path, largest=LARGE)
    first.put(parcel(1))

    assert second.adopt() == 0
    first.close()
    assert second.adopt() == 1
    assert drained(second) == ["x1"]
    assert list(tmp_path.iterdir()) == []


def holder(folder, then):
    """Start a process that holds a spool with one exchange in it; give the one that lives after `then`."""
    program = f"""
import os, sys, time
from pathlib import Path
sys.path[:0] = {sys.path!r}
from tests.client.test_spool import parcel
from counterfoil_recorder.spool import Spool
spool = Spool(Path({str(folder)!r}), largest=10**9)
path = spool.put(parcel(1))
{then}
print(os.getpid(), flush=True)
time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def test_what_a_killed_process_left_is_taken_over_and_its_half_written_file_is_not(tmp_path):
    process, _ = holder(tmp_path, '(path.parent / "2-x2.exchange.begun").write_bytes(b"half")')
    spool = Spool(tmp_path, largest=LARGE)
    assert spool.adopt() == 0

    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert spool.adopt() == 1
    assert drained(spool) == ["x1"]
    assert list(tmp_path.iterdir()) == []


def test_a_forked_child_does_not_keep_its_parents_lock(tmp_path):
    # The parent gives its lock back and ends; the child lives on.
    process, child = holder(tmp_path, "if os.fork(): spool.close(); os._exit(0)\nspool.forget_in_child()")
    try:
        assert process.wait(10) == 0
        assert Spool(tmp_path, largest=LARGE).adopt() == 1
    finally:
        os.kill(child, signal.SIGKILL)
        process.stdout.close()


def test_a_folder_that_is_removed_under_it_is_made_again(tmp_path):
    spool = Spool(tmp_path, largest=LARGE)
    path = spool.put(parcel(1))
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()

    assert spool.take() is None
    spool.put(parcel(2))
    assert drained(spool) == ["x2"]


def test_thousands_are_taken_out_in_order_quickly(tmp_path):
    folder = tmp_path / "1-dead"
    folder.mkdir()
    for order in range(3_000):
        (folder / f"{order:020d}-x{order}.exchange").write_bytes(to_file(parcel(order)))
    spool = Spool(tmp_path, largest=LARGE)
    began = time.monotonic()

    assert spool.adopt() == 3_000
    assert drained(spool) == [f"x{order}" for order in range(3_000)]
    assert time.monotonic() - began < 5
    assert not Path(folder).exists()
