"""What our session does is what the SDK's own does: any items, in any order, with branches."""

import pytest
from agents.extensions.memory import AdvancedSQLiteSession
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.client.agents.conftest import do

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])

LETTERS = st.sampled_from(["", " ", "hi", "zwölf", "\x00", "\ud800", '"', "\\u00e9", "–", "😀\n"])
CALL_IDS = st.sampled_from(["c1", "c2", "c3"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | LETTERS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(LETTERS, inner, max_size=2),
    max_leaves=4,
)


def of(**members):
    return st.fixed_dictionaries(members)


def one(kind):
    return st.just(kind)


TEXTS = st.lists(
    of(type=st.sampled_from(["input_text", "output_text", "refusal", "odd"]), text=LETTERS), max_size=3
)
MESSAGES = of(
    role=st.sampled_from(["user", "assistant", "system", "developer", "user", "assistant", "nobody"]),
    content=LETTERS | TEXTS,
)
FRAMED = of(type=one("message"), role=one("assistant"), id=LETTERS, status=one("completed"), content=TEXTS)
CALLS = of(
    type=one("function_call"),
    call_id=CALL_IDS,
    name=st.sampled_from(["f", "with space", ""]),
    arguments=one("{}"),
)
OUTPUTS = of(type=one("function_call_output"), call_id=CALL_IDS, output=LETTERS | TEXTS)
SHELLS = of(
    type=st.sampled_from(
        ["shell_call", "shell_call_output", "custom_tool_call", "tool_search_call", "tool_search_output"]
    ),
    call_id=CALL_IDS,
    execution=st.sampled_from(["client", "server"]),
    environment=st.sampled_from([None, {"type": "container_auto"}]),
)
REASONING = of(type=one("reasoning"), id=LETTERS, summary=TEXTS, encrypted_content=LETTERS)
ODD = of(
    type=st.sampled_from(
        ["agents_item", "agents_session", "mcp_call", "item_reference", "", "message", "function_call"]
    ),
    role=st.sampled_from(["user", "assistant", "tool", 7]),
    content=VALUES,
)
ITEMS = st.one_of(
    MESSAGES,
    MESSAGES,
    FRAMED,
    CALLS,
    CALLS,
    OUTPUTS,
    OUTPUTS,
    SHELLS,
    REASONING,
    ODD,
    st.dictionaries(LETTERS, VALUES, max_size=2),
)


def outcome(work):
    """Run, and return what came of it: a refusal is compared by its kind."""
    try:
        return do(work)
    except ValueError:
        return ValueError


class Beside(RuleBasedStateMachine):
    """Every step is done to both."""

    numbers = iter(range(10**9))

    def __init__(self, make_session):
        super().__init__()
        name = f"chat-{next(self.numbers)}"
        self.ours = make_session(name)
        self.theirs = AdvancedSQLiteSession(session_id=name, create_tables=True)
        self.made = 0

    def teardown(self):
        self.ours.close()
        self.theirs.close()

    def both(self, method, *arguments, **options):
        ours, theirs = (
            outcome(getattr(it, method)(*arguments, **options)) for it in (self.ours, self.theirs)
        )
        assert ours == theirs, method

    @rule(items=st.lists(ITEMS, max_size=4))
    def add(self, items):
        self.both("add_items", items)

    @rule(question=LETTERS, answer=LETTERS)
    def talk(self, question, answer):
        said = [{"role": "user", "content": question}]
        said += [
            {"type": "function_call", "call_id": call, "name": "f", "arguments": "{}"}
            for call in ("c1", "c2")
        ]
        said += [{"type": "function_call_output", "call_id": call, "output": answer} for call in ("c2", "c1")]
        self.both("add_items", said)

    @rule(times=st.integers(1, 4))
    def pop(self, times):
        for _ in range(times):
            self.both("pop_item")

    @rule(limit=st.integers(-1, 6))
    def read_some(self, limit):
        self.both("get_items", limit)

    @rule()
    def clear(self):
        self.both("clear_session")

    @rule(turn=st.integers(0, 3), again=st.booleans())
    def branch(self, turn, again):
        self.made += not again
        self.both("create_branch_from_turn", turn, f"branch {self.made}")

    @rule(number=st.integers(0, 3))
    def switch(self, number):
        self.both("switch_to_branch", f"branch {number}" if number else "main")

    @rule(number=st.integers(0, 3), force=st.booleans())
    def delete(self, number, force):
        self.both("delete_branch", f"branch {number}" if number else "main", force=force)

    @rule(number=st.integers(0, 3))
    def read_branch(self, number):
        self.both("get_items", branch_id=f"branch {number}" if number else "main")

    @rule()
    def list(self):
        def told(session):
            return {
                (it["branch_id"], it["message_count"], it["user_turns"], it["is_current"])
                for it in do(session.list_branches())
            }

        assert told(self.ours) == told(self.theirs)

    @rule()
    def turns(self):
        def told(session):
            return [
                (it["turn"], it["content"], it["full_content"]) for it in do(session.get_conversation_turns())
            ]

        assert told(self.ours) == told(self.theirs)

    @invariant()
    def says_the_same(self):
        self.both("get_items")


def test_any_steps_leave_both_sessions_saying_the_same(make_session):
    run_state_machine_as_test(
        lambda: Beside(make_session),
        settings=settings(
            max_examples=12, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
