"""Why an answer is wrong, by the classes that DISBench's authors publish, as far as code can tell.

Told by what the episode shows and the gold set, each by a rule that docs/evaluation.md states; the
rest is "unclassified", never guessed: the authors' own shares come from people who read
trajectories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date

from photocraft_local.evaluation.questions import EvalQuestion, Status
from photocraft_local.records import Json, Step

EXTERNAL = "external failure"
MISREAD = "query misinterpretation"
BOOKKEEPING = "hallucination and bookkeeping"
VISUAL = "visual discrimination"
CLUE = "clue mislocalisation"
EPISODE = "episode misgrounding"
REASONING = "reasoning breakdown"
UNCLASSIFIED = "unclassified"
CLASSES = (REASONING, VISUAL, EPISODE, CLUE, MISREAD, BOOKKEEPING, EXTERNAL, UNCLASSIFIED)

_SUBMIT = "submit_answer"


@dataclass(frozen=True, slots=True)
class Course:
    """What an episode shows of how it went; photos in the data set's terms. ``listed``: in a result
    or a named set before the answer; ``is_whole``: no result held more photos than it listed;
    ``looked_at``: its picture was shown; ``days``: of each dated photo of the library."""

    status: Status
    listed: AbstractSet[str] = frozenset()
    looked_at: AbstractSet[str] = frozenset()
    is_whole: bool = True
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
    from_nowhere = course.is_whole and answer - course.listed
    if from_nowhere or course.limit in ("replies", "window"):
        return BOOKKEEPING  # an id that no tool gave, or a run that lost its own thread
    wrong = (answer | gold) - (answer & gold)
    if not course.limit and wrong <= course.looked_at:
        return VISUAL  # every photo that was judged wrongly had been seen
    return _by_context(question, answer, course)


def _by_context(question: EvalQuestion, answer: AbstractSet[str], course: Course) -> str:
    """By whether the episode came to the days of the right photos, and whether it left them."""
    gold = question.gold
    right_days, days = _days(gold, course), _days(course.listed, course)
    is_dated = bool(gold) and all(name in course.days for name in gold)
    was_there = bool(gold & course.listed or right_days & days)
    if is_dated and course.is_whole and days and not was_there:
        return CLUE  # it looked, and never at the right time
    answered_days = _days(answer, course)
    if (
        question.kind != "inter-event"  # whose photos lie in many
        and is_dated
        and answer
        and answer <= set(course.days)
        and not right_days & answered_days
    ):
        return EPISODE  # another event was taken, though the right one had come up
    if gold and gold <= course.listed:
        return REASONING  # all of it was at hand
    return UNCLASSIFIED


def course_ids(steps: Sequence[Step]) -> tuple[set[str], set[str]]:
    """UIDs that results before the answer listed, and those whose pictures were shown."""
    listed: set[str] = set()
    looked_at: set[str] = set()
    for step in steps:
        looked_at |= {uid.partition(".")[0] for uid, _ in step.observation.images}
        if step.call.name != _SUBMIT:  # it repeats what it is given
            for key in ("photos", "doubtful", "unmet"):
                listed |= _uids(step.observation.data.get(key))
    return listed - {""}, looked_at


def is_whole(steps: Sequence[Step], kept: Iterable[str] = ()) -> bool:
    """Whether each result listed all of its photos, or they stand in one of the named sets ``kept``
    (not in one that was replaced). A list of events holds photos that it does not name."""
    given = [one.observation.data for one in steps if one.call.name != _SUBMIT]
    known = set(kept) - {data.get("saved_as") for data in given if "replaced" in data}
    return not any(
        "events" in data or (_is_cut(data) and data.get("saved_as") not in known) for data in given
    )


def _is_cut(data: Mapping[str, Json]) -> bool:
    count, rows = data.get("count"), data.get("photos")
    return isinstance(count, int) and isinstance(rows, list | tuple) and count > len(rows)


def _uids(rows: object) -> set[str]:
    if not isinstance(rows, list | tuple):
        return set()
    return {_uid(row) for row in rows if isinstance(row, str | dict)}


def _uid(row: object) -> str:
    if isinstance(row, dict):
        row = row.get("uid") or row.get("photo_id") or ""
    return str(row).partition(".")[0]


def _days(names: AbstractSet[str], course: Course) -> set[date]:
    return {course.days[name] for name in names if name in course.days}
