"""The store fails in every way that networks and servers fail: nothing is lost, nothing is doubled."""

import logging
import threading
import time

import pytest

from access.models import ApiKey
from conversations.api.exchanges import ExchangesView
from conversations.models import Exchange, Generation
from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from counterfoil_recorder import ConfigurationError, Limits, Recorder, recording
from evidence.replay_server import Reply
from tests.client.conftest import ask, claude_of, files, message, wait_until
from tests.client.recorded import recorded


def say(client, *names, account="customer-7", text="hi"):
    for name in names:
        with recording(account=account, request_id=name):
            ask(client, f"{text} {name}")


def test_a_store_that_fails_and_recovers_gets_everything_once_and_in_order(recorder, claude, store):
    store.faults.extend([500, 502, 503])
    say(claude, "a", "b", "c")

    assert recorder.flush(20)
    by_time = Generation.objects.order_by("created_at").values_list("request_id", flat=True)
    assert list(by_time) == ["a", "b", "c"]
    assert [b'"request_id": "a"' in store.sent[0], len(store.sent)] == [True, 3]
    counts = recorder.counts()
    assert (counts.stored, counts.dropped, counts.refused) == (3, 0, 0)


def test_an_answer_that_is_lost_on_its_way_back_leaves_one_row(recorder, claude, store):
    store.faults.append("lost")
    say(claude, "a")

    assert recorder.flush(20)
    assert len(store.sent) == 2
    assert store.sent[0].count(b"exchange_id") == store.sent[1].count(b"exchange_id") == 1
    assert (recorded(), Exchange.objects.count()) == (["a"], 1)
    assert recorder.counts().stored == 1


def test_a_connection_that_breaks_in_the_middle_of_a_request_leaves_nothing_half(recorder, claude, store):
    store.faults.extend(["cut", "cut"])
    say(claude, "a", text="x" * 300_000)

    assert recorder.flush(20)
    assert (recorded(), len(store.sent)) == (["a"], 1)


def test_a_store_that_hangs_holds_up_nobody(make_recorder, provider, store):
    recorder = make_recorder(timeout=30.0)
    claude = claude_of(recorder, provider)
    store.faults.append("hang")
    began = time.monotonic()
    say(claude, "a", "b", "c")
    assert time.monotonic() - began < 15

    store.release.set()
    assert recorder.flush(20)
    assert recorded() == ["a", "b", "c"]


def test_while_the_store_is_down_exchanges_are_on_disk_and_leave_it_when_it_is_back(
    recorder, claude, store, spool
):
    store.close()
    say(claude, "a", "b", "c")
    wait_until(lambda: len(files(spool)) == 3)
    assert recorded() == []

    store.open()
    assert recorder.flush(20)
    assert recorded() == ["a", "b", "c"]
    assert files(spool) == []
    assert (recorder.counts().stored, recorder.counts().spooled) == (3, 3)


def test_without_a_spool_a_store_that_is_down_for_a_moment_costs_nothing(make_recorder, provider, store):
    recorder = make_recorder(spool=None)
    store.close()
    say(claude_of(recorder, provider), "a", "b")
    time.sleep(0.3)

    store.open()
    assert recorder.flush(20)
    assert recorded() == ["a", "b"]


def test_a_full_memory_goes_to_disk(make_recorder, provider, store, spool):
    recorder = make_recorder(limits=Limits(memory_count=4), timeout=60.0)
    store.faults.append("hang")
    claude = claude_of(recorder, provider)
    say(claude, "a", "b")
    for count, name in enumerate("cdef", start=1):
        say(claude, name)
        wait_until(lambda count=count: len(files(spool)) == count)

    store.release.set()
    assert recorder.flush(20)
    by_time = Generation.objects.order_by("created_at").values_list("request_id", flat=True)
    assert list(by_time) == list("abcdef")


def test_what_neither_memory_nor_disk_can_hold_is_counted_and_named(
    make_recorder, provider, store, spool, caplog
):
    recorder = make_recorder(limits=Limits(memory_count=3, spool_bytes=0), timeout=60.0)
    store.faults.append("hang")
    with caplog.at_level(logging.ERROR):
        say(claude_of(recorder, provider), *"abcdef")

    assert recorder.counts().dropped == 3
    lost = [record.message for record in caplog.records if "is lost" in record.message]
    assert len(lost) == 3
    assert "memory and spool are full" in lost[0]
    store.release.set()
    assert recorder.flush(20)
    assert recorded() == ["a", "b", "c"]


def test_an_exchange_above_the_limit_is_counted_and_named_and_the_call_goes_on(
    make_recorder, provider, caplog
):
    recorder = make_recorder(limits=Limits(exchange_bytes=20_000))
    provider.answer = Reply(message("x" * 30_000))
    claude = claude_of(recorder, provider)
    assert len(ask(claude).content[0].text) == 30_000
    provider.answer = Reply(message("x" * 30_000), is_gzipped=True)
    ask(claude)

    assert recorder.flush()
    assert recorder.counts().dropped == 2
    assert sum("is lost" in record.message for record in caplog.records) == 2


def test_what_the_store_will_never_take_is_set_aside_and_the_others_pass(
    recorder, claude, store, spool, caplog
):
    store.faults.append(413)
    say(claude, "a", "b")

    assert recorder.flush()
    assert recorded() == ["b"]
    [kept] = files(spool)
    assert kept.parent == spool / "refused"
    assert kept.with_suffix(".reason").read_text().startswith("413")
    assert recorder.counts().refused == 1
    assert "refuses exchange" in caplog.text


def test_of_an_erased_person_nothing_stays_on_disk(make_recorder, provider, realm, store, spool):
    digest = subject_digest(kind=ErasedKind.EXTERNAL_ID, realm_id=realm.pk, value="customer-7")
    remember_erased(digests=[(ErasedKind.EXTERNAL_ID, digest)], now=realm.created_at)
    recorder = make_recorder(spool_first=True)
    say(claude_of(recorder, provider), "a")

    assert recorder.flush()
    assert recorder.counts().refused == 1
    assert (recorded(), files(spool)) == ([], [])


def test_a_key_that_has_ended_loses_nothing(recorder, claude, key, spool):
    ApiKey.objects.update(revoked_at=ApiKey.objects.get().created_at, revoked_by_id="1")
    say(claude, "a")
    wait_until(lambda: len(files(spool)) == 1)

    ApiKey.objects.update(revoked_at=None, revoked_by_id="")
    assert recorder.flush(20)
    assert recorded() == ["a"]


def test_a_limit_of_requests_slows_down_and_loses_nothing(recorder, claude):
    ApiKey.objects.update(requests_per_minute=1)
    say(claude, "a", "b")
    wait_until(lambda: recorded() == ["a"])
    time.sleep(0.2)
    ApiKey.objects.update(requests_per_minute=100)

    assert recorder.flush(20)
    assert recorded() == ["a", "b"]


def test_an_exchange_on_which_the_store_always_fails_does_not_hold_up_the_others(
    recorder, claude, store, monkeypatch
):
    record = ExchangesView._record

    def fails_on_a(view, told):
        if told["request_id"] == "a":
            raise RuntimeError("a bug in the store")
        return record(view, told)

    monkeypatch.setattr(ExchangesView, "_record", fails_on_a)
    say(claude, "a", "b", "c")
    wait_until(lambda: recorded() == ["b", "c"])

    monkeypatch.setattr(ExchangesView, "_record", record)
    assert recorder.flush(20)
    assert recorded() == ["a", "b", "c"]


def test_a_closed_recorder_lets_calls_pass_and_says_what_is_lost(recorder, claude, caplog):
    recorder.close()
    assert ask(claude).content[0].text == "hello"

    assert recorder.counts().dropped == 1
    assert "the recorder is closed" in caplog.text


def test_a_recorder_that_closes_while_the_store_is_down_leaves_all_on_disk(
    make_recorder, provider, store, spool
):
    store.close()
    first = make_recorder()
    say(claude_of(first, provider), "a", "b")
    first.close(timeout=0.3)
    assert len(files(spool)) == 2

    store.open()
    second = make_recorder()
    assert second.flush(20)
    assert recorded() == ["a", "b"]
    second.close()
    assert list(spool.iterdir()) == []


def test_many_threads_and_a_store_that_comes_and_goes_lose_and_double_nothing(
    recorder, claude, store, provider
):
    threads = [
        threading.Thread(target=say, args=(claude, *(f"{number}-{turn}" for turn in range(3))))
        for number in range(16)
    ]
    for thread in threads:
        thread.start()
    store.faults.extend([500, "lost", "cut", 503, "lost", "cut"])
    store.close()
    time.sleep(0.3)
    store.open()
    for thread in threads:
        thread.join()

    assert recorder.flush(60)
    assert recorded() == sorted(f"{number}-{turn}" for number in range(16) for turn in range(3))
    assert Exchange.objects.count() == 48


@pytest.mark.parametrize("url", ["store.example", "ftp://store.example", ""])
def test_a_wrong_address_is_said_when_the_recorder_is_made(url, spool):
    with pytest.raises(ConfigurationError, match="address begins with"):
        Recorder(url=url, key="cfk_x", spool=spool)
