"""The SDK's own runner on our session and on its own, with the same model: it must not see a difference."""

import asyncio

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelSettings,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    handoff,
    input_guardrail,
)
from agents.memory import SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseReasoningItem
from openai.types.responses.response_reasoning_item import Summary

from conversations.models import Message, ToolCall
from tests.client.agents.conftest import do

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


# Both in the loop: in threads of their own it would hang on the machine's load which of them ends first.
@function_tool
async def refund(order: int) -> str:
    """Give the money back."""
    return f"refunded {order}"


@function_tool(failure_error_function=None)
async def fails() -> str:
    """Raise out of the run."""
    raise RuntimeError("no connection")


def thought(number):
    return ResponseReasoningItem(
        id=f"rs_{number}",
        type="reasoning",
        summary=[Summary(text=f"thought {number}", type="summary_text")],
        encrypted_content="gAAAA==",
    )


def both(work, session):
    """Do the work on the SDK's session and on ours; the model must be asked the same, the items be equal."""
    theirs = SQLiteSession("chat-42")
    asked, kept = [], []
    for one in (theirs, session):
        asked.append([call.input for model in do(work(one)) for call in model.calls])
        kept.append(do(one.get_items()))
    theirs.close()
    assert asked[1] == asked[0]
    assert kept[1] == kept[0]
    return kept[1]


def test_a_run_goes_on_from_the_one_before(session):
    async def work(session):
        model = ScriptedModel([[assistant_message("Paris.")], [assistant_message("In 1789.")]])
        agent = Agent("guide", model=model)
        assert (await Runner.run(agent, "Capital of France?", session=session)).final_output == "Paris."
        await Runner.run(agent, "When was its revolution?", session=session)
        return [model]

    assert len(both(work, session)) == 4


def test_tools_are_called_side_by_side_and_reasoning_stays(session):
    async def work(session):
        model = ScriptedModel(
            [
                [
                    thought(1),
                    function_call("refund", {"order": 1}, call_id="c1"),
                    function_call("refund", {"order": 2}, call_id="c2"),
                ],
                [thought(2), function_call("refund", {"order": 3}, call_id="c3")],
                [assistant_message("Done.")],
                [assistant_message("You are welcome.")],
            ]
        )
        agent = Agent(
            "support", model=model, tools=[refund], model_settings=ModelSettings(parallel_tool_calls=True)
        )
        await Runner.run(agent, "Refund all three", session=session)
        await Runner.run(
            agent, [{"role": "user", "content": [{"type": "input_text", "text": "Thanks"}]}], session=session
        )
        return [model]

    both(work, session)
    # In the store this is a conversation like any other: each call has its result.
    told = ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user", "assistant"]
    assert list(Message.objects.order_by("seq").values_list("role", flat=True)) == told
    assert set(ToolCall.objects.values_list("name", "status")) == {("refund", "succeeded")}


def test_a_streamed_run(session):
    async def work(session):
        model = ScriptedModel(
            [[function_call("refund", {"order": 1}, call_id="c1")], [assistant_message("Done.")]]
        )
        running = Runner.run_streamed(
            Agent("support", model=model, tools=[refund]), "Refund", session=session
        )
        async for _ in running.stream_events():
            pass
        return [model]

    both(work, session)


def test_a_hand_off_to_another_agent(session):
    async def work(session):
        second = ScriptedModel([[assistant_message("I can help.", item_id="m2")]])
        expert = Agent("expert", model=second)
        first = ScriptedModel([[function_call("transfer_to_expert", {}, call_id="c1")]])
        await Runner.run(Agent("desk", model=first, handoffs=[handoff(expert)]), "Hello", session=session)
        return [first, second]

    both(work, session)


def test_a_tool_that_raises_ends_the_run_and_the_next_goes_on(session):
    async def work(session):
        model = ScriptedModel(
            [
                [
                    function_call("refund", {"order": 1}, call_id="c1"),
                    function_call("fails", {}, call_id="c2"),
                ],
                [assistant_message("I could not.")],
            ]
        )
        agent = Agent("support", model=model, tools=[refund, fails])
        with pytest.raises(Exception, match="no connection"):
            await Runner.run(agent, "Refund", session=session)
        await Runner.run(agent, "What happened?", session=session)
        return [model]

    both(work, session)


def test_a_run_that_takes_too_many_turns_and_the_next(session):
    async def work(session):
        steps = [[function_call("refund", {"order": n}, call_id=f"c{n}")] for n in range(2)]
        model = ScriptedModel([*steps, [assistant_message("Enough.")]])
        agent = Agent("support", model=model, tools=[refund])
        with pytest.raises(MaxTurnsExceeded):
            await Runner.run(agent, "Refund", session=session, max_turns=2)
        await Runner.run(agent, "And?", session=session)
        return [model]

    both(work, session)


def test_an_approval_that_is_waited_for(session):
    @function_tool(needs_approval=True)
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    async def work(session):
        model = ScriptedModel(
            [
                [
                    function_call("refund", {"order": 1}, call_id="c1"),
                    function_call("pay", {"amount": 2}, call_id="c2"),
                ],
                [assistant_message("Paid.")],
            ]
        )
        agent = Agent("support", model=model, tools=[refund, pay])
        stopped = await Runner.run(agent, "Pay", session=session)
        state = stopped.to_state()
        for waiting in stopped.interruptions:
            state.approve(waiting)
        assert (await Runner.run(agent, state, session=session)).final_output == "Paid."
        return [model]

    both(work, session)


def test_a_guardrail_that_trips(session):
    @input_guardrail
    def trips(context, agent, said):
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    async def work(session):
        model = ScriptedModel([[assistant_message("Never.")]])
        with pytest.raises(InputGuardrailTripwireTriggered):
            await Runner.run(Agent("desk", model=model, input_guardrails=[trips]), "Hello", session=session)
        return []

    both(work, session)


def test_the_run_names_the_limit(session):
    async def work(session):
        model = ScriptedModel([[assistant_message(f"{n}")] for n in range(4)])
        agent = Agent("desk", model=model)
        for n in range(4):
            settings = RunConfig(session_settings=SessionSettings(limit=2))
            await Runner.run(agent, f"say {n}", session=session, run_config=settings)
        return [model]

    both(work, session)


def test_a_corrected_question(session):
    """The way that the SDK's guide shows: both items are popped, the question is asked anew."""

    async def work(session):
        model = ScriptedModel([[assistant_message("4")], [assistant_message("5")]])
        agent = Agent("desk", model=model)
        await Runner.run(agent, "2 + 2?", session=session)
        await session.pop_item()
        await session.pop_item()
        await Runner.run(agent, "2 + 3?", session=session)
        return [model]

    assert [item["role"] for item in both(work, session)] == ["user", "assistant"]


def test_runs_without_an_event_loop_of_ones_own(session):
    """`run_sync` brings its own loop, and a session is used from several."""
    model = ScriptedModel([[assistant_message("one")], [assistant_message("two")]])
    agent = Agent("desk", model=model)
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(Runner.run(agent, "a", session=session))
        do(Runner.run(agent, "b", session=session))
    finally:
        loop.close()

    assert len(do(session.get_items())) == 4
