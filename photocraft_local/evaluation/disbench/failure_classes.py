"""Why an answer is wrong, by the classes that DISBench's authors publish, as far as code can tell.

Only what the course of the episode shows is named; the rest is "unclassified", never guessed: the
authors' own shares come from people who read trajectories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date

from photocraft_local.evaluation.questions import EvalQuestion, Status
from photocraft_local.records import Step

EXTERNAL = "external failure"
MISREAD = "query misinterpretation"
BOOKKEEPING = "hallucination and bookkeeping"
VISUAL = "visual discrimination"
EPISODE = "episode misgrounding"
REASONING = "reasoning breakdown"
UNCLASSIFIED = "unclassified"


@dataclass(frozen=True, slots=True)
class Course:
    """What an episode shows of how it went; photos in the data set's terms. ``days``: of each
    dated photo of the library."""

    status: Status
    listed: AbstractSet[str] = frozenset()  # in some result
    looked_at: AbstractSet[str] = frozenset()  # its picture was shown
    unknown_ids: int = 0  # calls that named photos which are not there
    limit: str = ""
    unused_words: Sequence[str] = ()
    days: Mapping[str, date] = field(default_factory=dict)


def failure_class(question: EvalQuestion, predicted: Sequence[str], course: Course) -> str:
    """Empty for a right answer."""
    gold, answer = question.gold, set(predicted)
    if answer == gold and course.status == "answered":
        return ""
    if course.status == "failed":
        return EXTERNAL
    if course.status == "declined" or (course.unused_words and not answer):
        return MISREAD
    if answer - course.listed or course.limit in ("replies", "window"):
        return BOOKKEEPING  # an id from nowhere, or a run that lost its own thread
    if course.limit:
        return REASONING if gold and gold <= course.listed else UNCLASSIFIED
    wrong = (answer | gold) - (answer & gold)
    if wrong <= course.looked_at:
        return VISUAL  # every photo that was judged wrongly had been seen
    if answer and gold and not _days(answer, course) & _days(gold, course):
        return (
            EPISODE
            if question.kind == "intra-event" and _all_dated(answer | gold, course)
            else (UNCLASSIFIED)
        )
    return UNCLASSIFIED


def course_ids(steps: Sequence[Step]) -> tuple[set[str], set[str]]:
    """UIDs that results listed, and those whose pictures were shown."""
    listed: set[str] = set()
    looked_at: set[str] = set()
    for step in steps:
        for key in ("photos", "doubtful", "unmet"):
            rows = step.observation.data.get(key, ())
            listed |= {_uid(row) for row in rows if isinstance(row, str | dict)} if rows else set()
        looked_at |= {uid.partition(".")[0] for uid, _ in step.observation.images}
    return listed - {""}, looked_at


def _uid(row: object) -> str:
    if isinstance(row, dict):
        row = row.get("uid") or row.get("photo_id") or ""
    return str(row).partition(".")[0]


def _days(names: AbstractSet[str], course: Course) -> set[date]:
    return {course.days[name] for name in names if name in course.days}


def _all_dated(names: AbstractSet[str], course: Course) -> bool:
    return all(name in course.days for name in names)
