"""What an episode, or several runs of a question, come to: a reply in the data set's terms.

Knows neither how an episode is made nor what is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from photocraft_local.app.albums import Shelf
from photocraft_local.errors import (
    AgentError,
    PhotocraftError,
    QuestionNotUnderstood,
    SearchError,
    UsageError,
)
from photocraft_local.evaluation.disbench.failure_classes import Course, is_whole
from photocraft_local.evaluation.questions import Reply, Status
from photocraft_local.records import Step, Usage

if TYPE_CHECKING:
    from photocraft_local.agent.trajectory import Trajectory
    from photocraft_local.app.results import AskAnswer

Told = tuple[Reply, Sequence[Step], Course]
OF_THE_QUESTION = (AgentError, SearchError, UsageError)  # a reply; any other error ends the run


def refused(problem: PhotocraftError) -> Reply:
    """Of a question that an error ended before there was a record of it."""
    return Reply(status=_status_of(problem), error=problem.message)


def of_episode(
    shelf: Shelf, record: Trajectory, problem: PhotocraftError | None, *, has_trace: bool
) -> Told:
    """``problem``: what ended it, one of ``OF_THE_QUESTION``."""
    steps, answer = record.all_steps, record.answer
    status: Status = "answered"
    if problem is not None:
        status = _status_of(problem)
    elif record.limit and (answer is None or not (answer.uids or answer.text)):
        status = "cut"
    reply = Reply(
        predicted=shelf.in_order(answer.uids if answer else ()),
        text=answer.text if answer else "",
        reason=answer.reason if answer else "",
        status=status,
        error=problem.message if problem else "",
        turns=len(steps),
        finished_by_itself=not record.limit and status != "failed",
        tools=Counter(step.call.name for step in steps),
        has_trace=has_trace,
        seconds=record.seconds,
    )
    unused = answer.not_understood if answer else ()
    course = Course(status, limit=record.limit, unused_words=unused)
    return _with_tokens(reply, record.total_usage()), steps, course


def of_runs(shelf: Shelf, told: AskAnswer, *, has_trace: bool) -> Told:
    """Of the runs whose candidates were judged together."""
    steps = [step for run in told.runs for step in run.steps]
    uids = [found.photo.uid for found in told.photos]
    status: Status = "cut" if told.limit and not (uids or told.text) else "answered"
    reply = Reply(
        predicted=shelf.in_order(uids),
        text=told.text,
        reason=told.reason,
        status=status,
        turns=len(steps),
        finished_by_itself=not told.limit,
        tools=Counter(step.call.name for step in steps),
        runs=tuple(shelf.in_order(run.photos) for run in told.runs),
        has_trace=has_trace,
    )
    course = Course(
        status,
        limit=told.limit,
        unused_words=told.not_understood,
        is_whole=is_whole(steps),
    )
    return _with_tokens(reply, told.usage or Usage()), steps, course


def _status_of(problem: PhotocraftError) -> Status:
    is_declined = isinstance(problem, QuestionNotUnderstood | SearchError | UsageError)
    return "declined" if is_declined else "failed"


def _with_tokens(reply: Reply, usage: Usage) -> Reply:
    return replace(
        reply,
        prompt_tokens=usage.prompt,
        cached_tokens=usage.cached,
        generated_tokens=usage.generated,
    )
