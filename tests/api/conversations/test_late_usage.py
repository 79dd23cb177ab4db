"""Usage that the provider told later."""

import pytest

from tests.api.answers import refusal
from tests.api.conversations.talking import end

pytestmark = pytest.mark.django_db


def test_a_late_report_of_usage_replaces_the_estimate_once(talk, opened):
    end(talk, opened, "fail", {"status": "interrupted"})
    late = {"usage": {"input_tokens": 100, "output_tokens": 40}}

    told = end(talk, opened, "usage", late)
    assert told.status_code == 200
    assert told.json()["tokens"]["output"] == 40
    assert told.json()["cost_confidence"] == "exact"
    assert end(talk, opened, "usage", late).json() == told.json()
    other = end(talk, opened, "usage", {"usage": {"input_tokens": 100, "output_tokens": 41}})
    assert refusal(other) == (409, "usage-corrected")


def test_an_answer_that_told_its_usage_is_not_corrected(talk, opened):
    talk.finish(opened, "On its way.", usage={"input_tokens": 100, "output_tokens": 10})
    refused = end(talk, opened, "usage", {"usage": {"input_tokens": 1, "output_tokens": 1}})
    assert refusal(refused) == (409, "usage-known")


def test_a_report_without_counts_is_refused_and_the_estimate_stays(talk, opened):
    end(talk, opened, "fail", {"status": "interrupted"})
    assert refusal(end(talk, opened, "usage", {"usage": {}})) == (422, "usage-incomplete")
    late = {"usage": {"input_tokens": 100, "output_tokens": 40}}
    assert end(talk, opened, "usage", late).status_code == 200
