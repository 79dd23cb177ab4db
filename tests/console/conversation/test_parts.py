"""Calls, thinking and unknown blocks stand folded."""

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import PartStatus, PartType, Role
from tests.conversations.drafts import call, calls, result, user


def test_a_call_stands_folded_with_arguments_result_and_outcome(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    say(conversation, calls("toolu_01"))
    failed = MessageDraft(Role.USER, [result("toolu_01", "timed out", status=PartStatus.ERROR)])
    say(conversation, failed)

    response = page_of(conversation)

    [block] = response.context["thread"].turns[1].blocks
    assert (block.kind, block.name, block.state) == ("call", "get_order", "failed")
    page = response.content.decode()
    assert "Result of 1 call, shown with the call" in page
    assert '<pre class="raw is-error-text" tabindex="0">' in page
    assert "timed out" in page


def test_arguments_that_repeat_a_key_are_shown_whole_with_a_warning(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    arguments = '{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}'
    say(conversation, MessageDraft(Role.ASSISTANT, [call("toolu_K1", "q", arguments)]))

    page = page_of(conversation).content.decode()

    assert "<bdi>input.zeta</bdi> occurs more than once" in page
    assert (
        "{&quot;zeta&quot;: 1, &quot;alpha&quot;: {&quot;z&quot;: 2, &quot;a&quot;: 3}, &quot;zeta&quot;: 4}"
        in page
    )


def test_thinking_and_unknown_blocks_are_folded(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    thinking = PartDraft(PartType.THINKING, payload=b'{"type":"thinking"}')
    unknown = PartDraft(PartType.OTHER, payload=b'{"type":"mcp_list","n":1e2}', provider_type="mcp_list")
    say(
        conversation,
        MessageDraft(Role.ASSISTANT, [thinking, unknown, PartDraft(PartType.TEXT, text="Done.")]),
    )

    page = page_of(conversation).content.decode()

    assert page.count('<details class="block">') == 2
    assert '<span class="block-name">mcp_list</span>' in page
    assert "1e2" in page
