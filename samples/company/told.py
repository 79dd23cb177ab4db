"""The told stories, in the order in which they are loaded."""

from collections.abc import Callable
from datetime import datetime

from samples.company.stories import (
    attachments,
    cut_stream,
    dinars,
    dispute,
    edited_question,
    fallback,
    hostile,
    hotel_twice,
    long_thread,
    parallel_tools,
    refund_failed,
    refused_request,
    retried_tool,
    thinking,
    unanswered,
    wide_fork,
    yen,
)
from samples.company.story import Story

TELLERS: tuple[Callable[[datetime], Story], ...] = (
    edited_question.story,
    hotel_twice.story,
    retried_tool.story,
    yen.story,
    dinars.story,
    refund_failed.story,
    cut_stream.story,
    fallback.story,
    unanswered.story,
    dispute.story,
    long_thread.story,
    wide_fork.story,
    thinking.story,
    hostile.story,
    attachments.story,
    parallel_tools.story,
    refused_request.story,
)


def stories(today: datetime) -> list[Story]:
    return [tell(today) for tell in TELLERS]
