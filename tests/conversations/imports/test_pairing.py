from conversations.drafts import MessageDraft, PartDraft
from conversations.imports.pairing import PairedMessage, pair
from conversations.vocabulary import CallStatus, PartStatus, PartType, Role


def call(call_id: str) -> PartDraft:
    return PartDraft(PartType.TOOL_USE, payload=b"{}", tool_call_id=call_id, tool_name="refund")


def result(call_id: str | None, status: PartStatus | None = None) -> PartDraft:
    return PartDraft(PartType.TOOL_RESULT, payload=b"{}", tool_call_id=call_id, status=status)


def says(*parts: PartDraft, below: int, role: Role = Role.USER) -> PairedMessage:
    return PairedMessage(MessageDraft(role, list(parts)), below)


def text() -> PartDraft:
    return PartDraft(PartType.TEXT, text="hi")


def test_results_in_messages_of_their_own_answer_the_message_with_the_calls():
    line = [says(call("c1"), call("c2"), below=-1), says(result("c2"), below=0), says(result("c1"), below=1)]
    findings: list[str] = []

    pair(line, findings)

    assert [message.answers for message in line] == [-1, 0, 0]
    assert line[0].call_statuses == {"c1": CallStatus.SUCCEEDED, "c2": CallStatus.SUCCEEDED}
    assert findings == []


def test_a_failed_result_fails_its_call():
    line = [says(call("c1"), below=-1), says(result("c1", PartStatus.ERROR), below=0)]

    pair(line, [])

    assert line[0].call_statuses == {"c1": CallStatus.FAILED}


def test_a_result_that_does_not_follow_its_call_is_an_orphan():
    line = [says(call("c1"), below=-1), says(text(), below=0), says(result("c1"), below=1)]
    findings: list[str] = []

    pair(line, findings)

    assert line[2].message.parts[0].orphan
    assert line[2].answers == -1
    assert line[0].call_statuses == {"c1": CallStatus.UNANSWERED}
    assert findings == [
        "a result for c1 does not follow its call; kept as an orphan",
        "call c1 was never answered, and the conversation went on",
    ]


def test_a_second_result_on_one_path_is_an_orphan_and_on_another_branch_is_not():
    tree = [
        says(call("c1"), below=-1),
        says(result("c1"), below=0),
        says(result("c1"), below=1),
        says(result("c1"), below=0),
    ]

    findings: list[str] = []

    pair(tree, findings)

    assert [message.message.parts[0].orphan for message in tree] == [False, False, True, False]
    assert findings == ["a second result for c1 on one path; kept as an orphan"]


def test_a_second_call_with_one_id_in_a_message_is_an_orphan():
    line = [says(call("c1"), call("c1"), below=-1)]

    pair(line, [])

    assert [part.orphan for part in line[0].message.parts] == [False, True]


def test_a_call_at_the_end_of_a_branch_waits():
    line = [says(call("c1"), below=-1)]

    findings: list[str] = []

    pair(line, findings)

    assert (line[0].call_statuses, findings) == ({}, [])


def test_a_call_answered_on_one_branch_and_passed_over_on_another_is_unanswered():
    tree = [says(call("c1"), below=-1), says(result("c1"), below=0), says(text(), below=0)]

    pair(tree, [])

    assert tree[0].call_statuses == {"c1": CallStatus.UNANSWERED}
