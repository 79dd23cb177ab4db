import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.template import TemplateSyntaxError

from console.states import LOOKS, look_of
from conversations.vocabulary import CallStatus, GenerationStatus
from jobs.models import RunState
from ledger.vocabulary import CompensationState, EffectState, Standing
from tests.console.rendering import render


def sign(name: str) -> str:
    return f'<svg class="icon" aria-hidden="true"><use href="#{name}"/></svg>'


LIVE_LINE = '<svg class="branch-line is-live" viewBox="0 0 18 8" aria-hidden="true"><path d="M0 4h18"/></svg>'


@pytest.mark.parametrize(
    ("code", "html"),
    [
        ("pending", f'<span class="state is-pending">{sign("s-pending")}Pending</span>'),
        ("unknown", f'<span class="state is-unknown">{sign("s-unknown")}Sent, answer unknown</span>'),
        ("applied", f'<span class="state is-applied">{sign("s-applied")}Applied</span>'),
        ("failed", f'<span class="state is-failed">{sign("s-failed")}Failed</span>'),
        ("compensated", f'<span class="state is-compensated">{sign("s-compensated")}Compensated</span>'),
        ("done", f'<span class="state is-done">{sign("s-applied")}Done</span>'),
        ("late", f'<span class="state is-late">{sign("s-late")}Late</span>'),
        ("succeeded", f'<span class="state is-done">{sign("s-applied")}Succeeded</span>'),
        ("truncated", f'<span class="state is-late">{sign("s-late")}Cut off at the limit</span>'),
    ],
)
def test_a_state_is_a_shape_and_a_word(code, html):
    assert render("{% state code %}", code=code) == html


def test_a_state_may_have_a_word_of_the_page_which_is_escaped():
    assert render("{% state 'running' word %}", word="Step 5 of <14>") == (
        f'<span class="state is-running">{sign("s-running")}Step 5 of &lt;14&gt;</span>'
    )


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (of, code)
        for of, choices in (
            ("call", CallStatus),
            ("generation", GenerationStatus),
            ("effect", EffectState),
            ("compensation", CompensationState),
            ("job", RunState),
        )
        for code in choices.values
    ],
)
def test_every_state_of_a_call_a_generation_an_effect_a_refund_and_a_job_has_a_look(of, code):
    assert look_of(code, of).word


def test_one_word_may_look_different_for_a_call_and_for_a_refund():
    assert render("{% state 'requested' %}") == (
        f'<span class="state is-waiting">{sign("s-waiting")}Waits for an answer</span>'
    )
    assert render("{% state 'requested' of='compensation' %}") == (
        f'<span class="state is-pending">{sign("s-pending")}Waits for approval</span>'
    )


@pytest.mark.parametrize("standing", Standing.values)
def test_every_standing_of_an_effect_can_be_shown(standing):
    assert f"{standing.capitalize()}</span>" in render("{% branch standing %}", standing=standing)


@pytest.mark.parametrize(
    ("state", "sent_at", "shown"),
    [
        ("pending", None, "pending"),
        ("pending", datetime(2026, 11, 24, 14, 5, tzinfo=UTC), "unknown"),
        ("failed", datetime(2026, 11, 24, 14, 5, tzinfo=UTC), "failed"),
        ("applied", None, "applied"),
    ],
)
def test_what_was_sent_and_not_answered_is_unknown_and_never_merely_pending(state, sent_at, shown):
    effect = SimpleNamespace(state=state, sent_at=sent_at)

    assert render("{{ effect|effect_state }}", effect=effect) == shown


def test_every_shape_is_in_the_sprite_and_has_its_colour_in_the_sheet():
    sprite = (Path(settings.BASE_DIR) / "templates/console/parts/sprite.html").read_text()
    sheet = (Path(settings.BASE_DIR) / "console/static/console/console.css").read_text()
    symbols = set(re.findall(r'id="(s-[a-z]+)"', sprite))

    assert {look.icon for look in LOOKS.values()} <= symbols
    assert all(re.search(rf"\.is-{look.shape}\b[^{{]*\{{ --state:", sheet) for look in LOOKS.values())


def test_a_state_without_a_look_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="state 'teleported' has no look"):
        render("{% state 'teleported' %}")


@pytest.mark.parametrize(
    ("standing", "word"), [("live", "Live"), ("abandoned", "Abandoned"), ("later", "Later")]
)
def test_a_branch_is_a_line_style_and_a_word(standing, word):
    assert render("{% branch standing %}", standing=standing) == (
        f'<span class="branch is-{standing}"><svg class="branch-line is-{standing}" viewBox="0 0 18 8"'
        f' aria-hidden="true"><path d="M0 4h18"/></svg>{word}</span>'
    )


def test_a_branch_may_have_a_word_of_the_page():
    assert (
        render("{% branch 'live' 'Live path' %}")
        == f'<span class="branch is-live">{LIVE_LINE}Live path</span>'
    )


def test_a_detached_effect_stands_on_no_branch():
    assert (
        render("{% branch 'detached' %}") == '<span class="branch"><span class="muted">Detached</span></span>'
    )


def test_an_unknown_standing_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="'sideways' is no standing"):
        render("{% branch 'sideways' %}")


def test_a_stub_is_one_link_from_the_call_to_its_effect():
    assert render(
        "{% stub url 'applied' 18000 'EUR' ref='ch_3SXq4kWm7T' standing='live' %}", url="/effects/1/"
    ) == (
        '<a class="stub is-applied" href="/effects/1/">'
        f'<span class="stub-state">{sign("s-applied")}Applied</span>'
        '<span class="stub-body"><span class="amount"><span class="cur">EUR</span>180.00</span>'
        '<span class="ident" title="ch_3SXq4kWm7T"><bdi class="ident-text">'
        '<span class="ident-head">ch_3SXq</span>'
        '<span class="ident-tail">4kWm7T</span></bdi></span>'
        f'<span><span class="branch is-live">{LIVE_LINE}Live</span></span></span></a>'
    )


def test_a_stub_without_a_reference_says_so():
    assert render("{% stub url 'pending' 4400 'GBP' %}", url="/effects/2/") == (
        '<a class="stub is-pending" href="/effects/2/">'
        f'<span class="stub-state">{sign("s-pending")}Pending</span>'
        '<span class="stub-body"><span class="amount"><span class="cur">GBP</span>44.00</span>'
        '<span class="muted">no reference yet</span></span></a>'
    )


def test_a_stub_needs_to_know_where_it_leads():
    with pytest.raises(TemplateSyntaxError):
        render("{% stub %}")
