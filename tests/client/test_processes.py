"""What becomes of exchanges when their process ends, forks, or is killed."""

import signal
import subprocess
import sys
import textwrap

import pytest

from conversations.models import Generation
from tests.client.conftest import files, wait_until
from tests.client.recorded import recorded

PROGRAM = """
    import os, sys, time
    sys.path[:0] = {path!r}
    import anthropic
    from counterfoil_recorder import Recorder, record, recorder, recording

    def call(client, name):
        with recording(account="customer-7", request_id=name):
            client.messages.create(max_tokens=9, model="m", messages=[{{"role": "user", "content": name}}])

    def client_of(recorder):
        return anthropic.Anthropic(api_key="k", base_url={provider!r}, max_retries=0,
            http_client=recorder.record(anthropic.DefaultHttpxClient()))
"""


@pytest.fixture
def start(provider, store, key, spool):
    """Start a program beside this process, whose recorder is set up by its environment."""
    started = []

    def start(body):
        head = textwrap.dedent(PROGRAM.format(path=sys.path, provider=provider.url))
        environment = {
            "PATH": "/usr/bin:/bin",
            "COUNTERFOIL_URL": store.url,
            "COUNTERFOIL_KEY": key,
            "COUNTERFOIL_SPOOL": str(spool),
        }
        process = subprocess.Popen(
            [sys.executable, "-c", head + textwrap.dedent(body)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_program_that_ends_sends_what_it_has(start):
    process = start('call(client_of(recorder()), "a")')
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    assert recorded() == ["a"]


def test_a_program_that_holds_its_recorder_no_more_sends_what_it_has(start):
    process = start("""
        def work():
            settings = {"url": "URL", "key": "KEY", "spool": "SPOOL"}
            settings = {name: os.environ["COUNTERFOIL_" + named] for name, named in settings.items()}
            call(client_of(Recorder(**settings)), "a")
        work()
        import gc
        gc.collect()
    """)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    assert recorded() == ["a"]


def test_a_program_that_ends_while_the_store_is_down_leaves_it_to_the_next(start, store, spool):
    store.close()
    process = start('call(client_of(recorder()), "a")')
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert (recorded(), len(files(spool))) == ([], 1)

    store.open()
    _, errors = start('call(client_of(recorder()), "b")\nassert recorder().flush(20)').communicate(timeout=60)
    assert recorded() == ["a", "b"], errors
    assert files(spool) == []


def test_a_program_that_is_killed_loses_nothing_that_was_spooled_first(start, make_recorder, store, spool):
    store.faults.extend(["hang"] * 8)
    process = start("""
        first = Recorder(url=os.environ["COUNTERFOIL_URL"], key=os.environ["COUNTERFOIL_KEY"],
            spool=os.environ["COUNTERFOIL_SPOOL"], spool_first=True)
        client = client_of(first)
        for name in "abc":
            call(client, name)
        time.sleep(60)
    """)
    wait_until(lambda: len(files(spool)) == 3, seconds=60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store.faults.clear()

    assert make_recorder().flush(20)
    # What hung in the gateway is sent again too, and known.
    store.release.set()
    assert recorded() == ["a", "b", "c"]
    assert Generation.objects.count() == 3


def test_forked_processes_send_their_own_and_double_nothing(start, spool):
    process = start("""
        shared = recorder()
        call(client_of(shared), "parent-before")
        children = []
        if (idle := os.fork()) == 0:
            # What never records has no threads, and ends as any process does.
            import threading
            assert threading.active_count() == 1, threading.enumerate()
            sys.exit(0)
        children.append(idle)
        for number in range(3):
            child = os.fork()
            if child == 0:
                call(client_of(shared), f"child-{number}")
                assert shared.flush(20)
                sys.stdout.flush()
                os._exit(0)
            children.append(child)
        call(client_of(shared), "parent-after")
        assert shared.flush(20)
        print([os.waitpid(child, 0)[1] for child in children])
    """)
    output, errors = process.communicate(timeout=90)

    assert (process.returncode, output.strip()) == (0, "[0, 0, 0, 0]"), errors
    assert recorded() == ["child-0", "child-1", "child-2", "parent-after", "parent-before"]
    assert files(spool) == []


def test_a_forked_process_whose_spool_is_gone_makes_its_calls_all_the_same(start):
    process = start("""
        import shutil
        shared = recorder()
        client = client_of(shared)
        child = os.fork()
        if child == 0:
            spool = os.environ["COUNTERFOIL_SPOOL"]
            shutil.rmtree(spool)
            open(spool, "w").close()
            call(client, "child")
            os._exit(0)
        print(os.waitpid(child, 0)[1])
    """)
    output, errors = process.communicate(timeout=60)

    assert (process.returncode, output.strip()) == (0, "0"), errors
    assert "the recorder failed; the call goes on unrecorded" in errors
    assert recorded() == []


def test_an_environment_that_says_nothing_is_an_error_at_the_start(start):
    process = start("""
        del os.environ["COUNTERFOIL_SPOOL"]
        record(anthropic.DefaultHttpxClient())
    """)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "ConfigurationError: the environment lacks COUNTERFOIL_SPOOL" in errors
