from uuid import UUID

import pytest

from conversations.search.pasted import LONGEST, MOST_IDS, read_pasted, shouted

CONVERSATION = UUID("0198f000-0000-7000-8000-000000000001")


@pytest.mark.parametrize(
    "pasted",
    [
        "toolu_01ABCtest",
        "  toolu_01ABCtest\n",
        '"toolu_01ABCtest"',
        "`toolu_01ABCtest`.",
        "(toolu_01ABCtest),",
        "https://console.example.com/calls/toolu_01ABCtest?tab=raw",
        '14:03:09 ERROR worker-2 call="toolu_01ABCtest" took 812ms',
        "\u200btoolu_01ABCtest\ufeff",
    ],
)
def test_an_id_is_found_in_the_noise_around_it(pasted):
    assert "toolu_01ABCtest" in read_pasted(pasted).ids


def test_a_log_line_may_hold_several_ids():
    pasted = read_pasted(f"req_9 for {CONVERSATION}: ch_TEST0101, pi_TEST0100 (mia@example.com)")

    assert pasted.ids == ["ch_TEST0101", "pi_TEST0100"]
    assert pasted.uuids == [CONVERSATION]
    assert pasted.emails == ["mia@example.com"]


def test_the_address_of_a_message_is_read_from_a_link():
    assert read_pasted(f"/conversations/{CONVERSATION}/#m17").messages == []
    assert read_pasted(f"{CONVERSATION}#m17").messages == [(CONVERSATION, 17)]


@pytest.mark.parametrize(
    ("pasted", "messages", "attempts"),
    [
        (f"{CONVERSATION}.m3", [3], []),
        (f'{{"message_id":"{CONVERSATION}.m3"}}', [3], []),
        (f"GET /api/v1/conversations/{CONVERSATION}/messages/3 200", [3], []),
        (f"{CONVERSATION}.g2", [], [2]),
        (f"POST /api/v1/generations/{CONVERSATION}.g2/finish", [], [2]),
        (f"{str(CONVERSATION).upper()}.M3, {CONVERSATION}.g2", [3], [2]),
        (f"{CONVERSATION}.m1234567890", [], []),
        (f"{CONVERSATION}.x3", [], []),
    ],
)
def test_the_ids_of_the_api_spell_their_place(pasted, messages, attempts):
    found = read_pasted(pasted)
    assert found.messages == [(CONVERSATION, seq) for seq in messages]
    assert found.attempts == [(CONVERSATION, number) for number in attempts]


def test_an_id_of_no_known_form_is_tried_as_it_stands():
    assert read_pasted(" order-77/A \n").ids == ["order-77/A"]


def test_words_are_no_ids():
    pasted = read_pasted("double charge for a hotel")

    assert (pasted.ids, pasted.whole) == ([], "double charge for a hotel")


@pytest.mark.parametrize("junk", ["", "\x00", "%00", "'''", "\u202e", "%", "_", "a' OR '1'='1", "\ud83d"])
def test_junk_is_never_an_error(junk):
    assert len(read_pasted(junk).ids) <= 1


def test_what_is_too_long_is_cut_and_says_so():
    pasted = read_pasted(" ".join(f"ch_{number:06}" for number in range(1000)))

    assert pasted.is_cut
    assert len(pasted.ids) == MOST_IDS
    assert not read_pasted("x" * LONGEST).is_cut


def test_a_shouted_prefix_has_a_hint_and_other_ids_keep_their_case():
    assert shouted("CH_TEST0101") == "ch_TEST0101"
    assert shouted("ch_TEST0101") is None
    assert shouted("Invoice_7") is None
