import json
from io import StringIO
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from access.actors import ActorKind
from access.models import AccessEntry
from access.models.log import AccessAction, TargetKind
from conversations.models import Blob, Conversation, Generation, MessagePart, RawBody
from conversations.services.blobs import blob_storage
from tests.conversations.recording.exchanges import answer, assistant, body, user


def run(*arguments, **options) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err, **options)
    return out.getvalue().strip(), err.getvalue().strip()


def test_verify_replay_counts_how_every_body_is_given_back(record):
    first = record(body(user("Hi")), "Hello.")
    record(body(user("Hi"), assistant("Hello."), user("So?")), after=first)
    record(b"no json")
    gone = record(body(user("Bye")))
    MessagePart.objects.filter(conversation_id=gone.conversation_id, seq=1).update(
        text=None, payload=None, shell=None, bytes_state="erased"
    )
    patched = len(Generation.objects.get(body_proof="patched").body_patch)

    out, _ = run("verify_replay")

    assert out == (
        f"1 exact, 1 patched ({patched} bytes of patches), 1 verbatim, 1 no longer replayable, 0 failed"
    )


def test_verify_replay_fails_and_names_the_attempt_where_bytes_differ(record):
    exchange = record(body(user("Hi")))
    Generation.objects.update(body_sha256=b"\x00" * 32)

    with pytest.raises(CommandError, match="came back different"):
        run("verify_replay", conversation=exchange.conversation_id)


def test_verify_replay_names_what_is_damaged_and_goes_on(record):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 50_000}}
    whole = record(b"no json")
    large = record(body(user(image)))
    record(body(user("Hi")))
    RawBody.objects.filter(raw_class="request").update(compressed=b"junk")
    blob_storage().delete(Blob.objects.get().storage_key)
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError, match="came back different"):
        call_command("verify_replay", stdout=out, stderr=err)

    assert sorted(line.partition(": ")[0] for line in err.getvalue().splitlines()) == sorted(
        f"conversation {one.conversation_id}, attempt 1" for one in (whole, large)
    )
    assert out.getvalue().startswith("1 exact, 0 patched")
    assert out.getvalue().endswith("2 failed\n")


def test_verify_replay_of_an_empty_store_counts_nothing(db):
    assert run("verify_replay")[0] == (
        "0 exact, 0 patched (0 bytes of patches), 0 verbatim, 0 no longer replayable, 0 failed"
    )


def test_verify_replay_goes_through_more_than_a_batch(record, monkeypatch):
    monkeypatch.setattr("conversations.replay.verify.BATCH", 2)
    for number in range(5):
        record(body(user(str(number))))

    assert run("verify_replay")[0].startswith("5 exact, 0 patched")


def test_replay_body_gives_the_bytes_to_a_file_and_to_standard_output(record, tmp_path, capsysbinary):
    sent = body(user("Héllo"))
    exchange = record(sent)
    path = tmp_path / "body.json"

    run("replay_body", str(exchange.conversation_id), "1", "--output", str(path))
    run("replay_body", str(exchange.conversation_id), "1")

    assert path.read_bytes() == sent
    assert capsysbinary.readouterr().out == sent


@pytest.mark.parametrize(
    ("asked", "kind", "spelled"),
    [(["1"], TargetKind.ATTEMPT, "{}.g1"), (["--next", "2"], TargetKind.MESSAGE, "{}.m2")],
)
def test_who_took_a_body_out_stands_in_the_access_log(record, tmp_path, asked, kind, spelled):
    exchange = record(body(user("Hi")), "Hello.")
    staff = User.objects.create_user("ada", is_staff=True)

    run("replay_body", str(exchange.conversation_id), *asked, "--by", "ada", output=tmp_path / "body.json")

    entry = AccessEntry.objects.get()
    assert (entry.actor_kind, entry.actor_id) == (ActorKind.STAFF, str(staff.pk))
    assert (entry.action, entry.target_kind) == (AccessAction.DOWNLOAD, kind)
    assert entry.target_id == spelled.format(exchange.conversation_id)
    assert (entry.conversation_id, entry.row_count) == (exchange.conversation_id, None)
    assert None not in (entry.realm_id, entry.account_id)


def test_replay_body_composes_the_next_one_and_says_what_it_breaks(record, tmp_path):
    exchange = record(body(user("Hi")), "Hello.")
    path = tmp_path / "body.json"

    _, err = run("replay_body", str(exchange.conversation_id), "--next", "2", "--output", str(path))

    assert json.loads(path.read_bytes())["messages"][1]["content"] == [{"type": "text", "text": "Hello."}]
    assert err.startswith("message 2:")


@pytest.mark.parametrize("arguments", [[], ["1", "--next", "2"]])
def test_replay_body_wants_an_attempt_or_a_message(record, arguments):
    exchange = record(body(user("Hi")))

    with pytest.raises(CommandError, match="Name an attempt, or a message with --next"):
        run("replay_body", str(exchange.conversation_id), *arguments)


def test_replay_body_says_what_is_missing(record):
    exchange = record(body(user("Hi")))

    with pytest.raises(CommandError, match="attempt 9: there is no such attempt"):
        run("replay_body", str(exchange.conversation_id), "9")
    assert not AccessEntry.objects.exists()


def test_replay_body_says_where_it_cannot_write(record, tmp_path):
    exchange = record(body(user("Hi")))

    with pytest.raises(CommandError, match=r"nowhere/body\.json: No such file or directory"):
        run("replay_body", str(exchange.conversation_id), "1", output=tmp_path / "nowhere" / "body.json")


def test_record_exchanges_takes_a_file_of_lines_once_only(realm, tmp_path):
    lines = [
        {
            "path": "/v1/messages",
            "request_body": body(user("Hi")).decode(),
            "response_body": answer("Hello.").decode(),
            "response_status": 200,
            "started_at": "2026-03-09T14:03:00Z",
            "finished_at": "2026-03-09T14:03:02.500Z",
            "exchange_id": "x-1",
        },
        {
            "dialect": "anthropic_messages",
            "request_body": body(user("Hi"), assistant("Hello."), user("So?")).decode(),
            "response_body": None,
            "exchange_id": "x-2",
        },
    ]
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n")

    out, _ = run("record_exchanges", str(path), realm=realm.slug, account="customer-1")
    again, _ = run("record_exchanges", str(path), realm=realm.slug, account="customer-1")

    conversation = Conversation.objects.get()
    assert [line.split(": ")[2:] for line in out.splitlines()] == [
        ["started, complete, body exact"],
        ["continued, interrupted, body patched"],
    ]
    assert again.count("known already") == 2
    assert list(Generation.objects.order_by("number").values_list("total_ms", flat=True)) == [2500, None]
    assert conversation.account.external_id == "customer-1"


def test_record_exchanges_names_the_lines_it_cannot_read(realm, tmp_path):
    path = tmp_path / "calls.jsonl"
    sent = {"path": "/v1/messages", "request_body": body(user("Hi")).decode()}
    bad = [
        "{",
        "[]",
        json.dumps({**sent, "path": "/v1/embeddings"}),
        json.dumps({**sent, "dialect": "morse"}),
        json.dumps({**sent, "started_at": "yesterday"}),
        json.dumps({**sent, "conversation_id": "7"}),
        json.dumps({**sent, "request_body": "\ud83d"}),
        json.dumps({**sent, "response_status": "200"}),
        json.dumps({**sent, "conversation_id": str(uuid4())}),
        "[" * 100_000,
    ]
    path.write_text("\n".join([*bad, json.dumps(sent)]))
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError, match="10 lines could not be read"):
        call_command(
            "record_exchanges", str(path), realm=realm.slug, account="customer-1", stdout=out, stderr=err
        )

    assert [line.split(": ")[0] for line in err.getvalue().strip().splitlines()] == [
        f"line {number}" for number in range(1, 11)
    ]
    assert out.getvalue().startswith("line 11: conversation")


def test_record_exchanges_wants_a_realm_that_exists(db, tmp_path):
    with pytest.raises(CommandError, match="no realm nowhere"):
        run("record_exchanges", str(tmp_path / "x"), realm="nowhere", account="a")


def test_record_exchanges_wants_a_file_and_an_account_that_can_be(realm, tmp_path):
    path = tmp_path / "calls.jsonl"
    with pytest.raises(CommandError, match="there is no such file"):
        run("record_exchanges", str(path), realm=realm.slug, account="customer-1")
    path.touch()
    with pytest.raises(CommandError, match="an account: a value that no column"):
        run("record_exchanges", str(path), realm=realm.slug, account="c" * 256)
