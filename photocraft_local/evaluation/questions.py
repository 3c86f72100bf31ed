"""A question with its gold, what an answerer gives back for it, and who answers.

Photos are named in the data set's own terms. Knows no metric and no file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Status = Literal["answered", "declined", "failed", "cut"]
STATUSES: tuple[Status, ...] = ("answered", "declined", "failed", "cut")


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """``library``: the user or album that it is put to; ``kind``: the data set's own word for its
    kind; ``groups``: more labels to count by; ``gold_text``: of a question with a text answer,
    several right ones joined by ``|``. ``has_gold``: whether the set is known; no set is judged
    without, and ``gold`` is empty then, which else means that no photo is right."""

    id: str
    library: str
    text: str
    gold: frozenset[str]
    kind: str = ""
    hops: int = 0
    groups: tuple[str, ...] = ()
    gold_text: str = ""
    has_gold: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """Unique in a run: ids are unique in a library only."""
        return self.library, self.id


def mark_of(questions: Iterable[EvalQuestion]) -> str:
    """Of their words and their gold, 16 hex digits."""
    told = [{**asdict(one), "gold": sorted(one.gold)} for one in questions]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one question. ``predicted`` is in the order of the answer (for ranked metrics
    the best first). ``answered`` includes the empty set; ``declined``: the backbone refused the
    question; ``cut``: a limit ended it without an answer; ``failed``: an error did.

    ``value``: the bare answer in words, where it is known beside the sentence in ``text``.
    ``runs``: the sets that independent runs found, where one answer was chosen from several;
    ``tools``: calls by name; tokens over all of it; ``trace``: whether the file was written."""

    predicted: tuple[str, ...] = ()
    text: str = ""
    reason: str = ""
    status: Status = "answered"
    error: str = ""
    turns: int = 0
    finished_by_itself: bool = True
    tools: Mapping[str, int] = field(default_factory=dict)
    runs: tuple[tuple[str, ...], ...] = ()
    failure_class: str = ""
    has_trace: bool = False
    value: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    seconds: float = 0.0


class Answerer(Protocol):
    """Answers questions one after the other; each thread of a run has one of its own."""

    def answer(self, question: EvalQuestion, trace: Path) -> Reply:
        """Writes the episode to ``trace``, if there is one to write. An error that belongs to this
        question is a reply with ``failed``; what is raised ends the whole run."""
        ...

    def close(self) -> None: ...
