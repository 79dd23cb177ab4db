from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import PartType, Role
from conversations.wire.pairing import mark_orphans


def calls(*ids, role=Role.ASSISTANT):
    return MessageDraft(role, [PartDraft(PartType.TOOL_USE, tool_call_id=i, tool_name="f") for i in ids])


def results(*ids, role=Role.TOOL):
    return MessageDraft(role, [PartDraft(PartType.TOOL_RESULT, tool_call_id=i) for i in ids])


def text(role=Role.USER):
    return MessageDraft(role, [PartDraft(PartType.TEXT, text="x")])


def orphans(messages):
    return [[part.tool_call_id for part in message.parts if part.orphan] for message in messages]


def test_results_in_one_message_or_in_several_answer_the_same_calls():
    path = [text(), calls("a", "b", "c"), results("a"), results("c", "b"), text()]

    pairing = mark_orphans(path)

    assert pairing.answers == [None, None, 1, 1, None]
    assert pairing.unanswered == []
    assert orphans(path) == [[]] * 5


def test_a_result_whose_call_was_cut_away_is_an_orphan():
    path = [results("toolu_T1", role=Role.USER), text(Role.ASSISTANT)]

    pairing = mark_orphans(path)

    assert orphans(path) == [["toolu_T1"], []]
    assert pairing.answers == [None, None]


def test_a_second_result_for_one_call_is_an_orphan():
    path = [calls("a"), results("a"), results("a")]

    pairing = mark_orphans(path)

    assert orphans(path) == [[], [], ["a"]]
    assert pairing.answers == [None, 0, None]


def test_a_result_after_something_else_is_an_orphan_and_the_call_unanswered():
    path = [calls("a"), text(), results("a")]

    pairing = mark_orphans(path)

    assert orphans(path) == [[], [], ["a"]]
    assert pairing.unanswered == [(0, "a")]


def test_calls_at_the_end_of_a_path_are_still_open():
    assert mark_orphans([calls("a"), results("a"), calls("b", "c"), results("c")]).unanswered == []


def test_short_ids_that_repeat_in_later_messages_are_told_apart():
    path = [calls("call_0"), results("call_0"), calls("call_0"), results("call_0")]

    pairing = mark_orphans(path)

    assert pairing.answers == [None, 0, None, 2]
    assert orphans(path) == [[]] * 4


def test_a_message_that_answers_belongs_to_its_group_and_its_own_calls_stay_open():
    both = MessageDraft(Role.USER, [*results("a").parts, *calls("u").parts])
    path = [calls("a"), both, results("u")]

    assert mark_orphans(path).answers == [None, 0, None]
    assert orphans(path) == [[], [], ["u"]]
