"""Questions proposed from a person's own library, for the person to accept, reject or edit.

What a photo shows is what the encoder says, so a proposal may be wrong: it is no gold before
somebody has looked at its photos. The file has one JSON object a line; ``status`` is "proposed",
"accepted" or "rejected", and question, photos and answer in words may be changed. Knows no library.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.drawing import Drawing, Drawn
from photocraft_local.evaluation.histories.rules import Rule
from photocraft_local.evaluation.histories.seeing import Seen
from photocraft_local.evaluation.problems import Problems, text_lines
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.records import Json
from photocraft_local.storage import atomic
from photocraft_local.storage.faults import mapped

STATUSES = ("proposed", "accepted", "rejected")
PROPOSALS, ACCEPTED = "proposals.jsonl", "questions.jsonl"
_MOST_EVENTS = 3  # of a thing that can tell an event from the others


@dataclass(frozen=True, slots=True)
class Proposal:
    """``links``: what it leans on, from what is looked for to the beginning of the chain, with the
    photos of each."""

    id: str
    question: str
    photos: tuple[str, ...]  # UIDs
    kind: str
    hops: int
    status: str = "proposed"
    text: str = ""
    links: tuple[tuple[str, ...], ...] = ()
    sheet: str = ""

    def to_json(self) -> dict[str, Json]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def eval_question(self, library: str) -> EvalQuestion:
        gold = frozenset(self.photos)
        return EvalQuestion(
            self.id, library, self.question, gold, self.kind, self.hops, ("own",), self.text
        )


def proposals(view: Sequence[Seen], dials: Dials) -> tuple[list[Proposal], dict[str, int]]:
    """As many as there are, up to ``dials.questions``; and how many drafts were not taken, by
    reason. ``view``: the library, ``name`` a UID, ``labels`` what the encoder sees."""
    labels = frozenset(label for one in view for label in one.labels)
    if not labels:
        return [], {"nothing is seen in any photo": 1}
    drawing = Drawing((view,), labels, _rare(view, labels), np.random.default_rng(dials.seed))
    drawn = drawing.questions(dials, as_many_as_there_are=True)
    made = [
        Proposal(
            f"p{number:03d}",
            one.text,
            tuple(sorted(one.gold)),
            one.rule.kind,
            one.rule.hops,
            text=str(len(one.gold)) if one.counts else "",
            links=tuple(_links(drawing, one)),
        )
        for number, one in enumerate(drawn, start=1)
    ]
    return made, dict(sorted(drawing.dropped.items()))


def check_free(folder: Path) -> None:
    """Raises EvaluationError if the folder holds proposals: somebody may have worked on them."""
    if (folder / PROPOSALS).exists():
        raise EvaluationError(
            f"{folder / PROPOSALS} is there already",
            hint="name another folder, or review it with --review",
        )


def write(folder: Path, made: Iterable[Proposal]) -> Path:
    """Raises EvaluationError as ``check_free``."""
    check_free(folder)
    return rewrite(folder, made)


def rewrite(folder: Path, made: Iterable[Proposal]) -> Path:
    """As they are now, in place of what the folder holds."""
    path = folder / PROPOSALS
    _write_lines(path, [one.to_json() for one in made])
    return path


def reviewed(folder: Path, known: Collection[str]) -> list[Proposal]:
    """The file as the person left it. Raises EvaluationError naming the line that cannot be used;
    ``known``: the UIDs of the library."""
    path = folder / PROPOSALS
    try:
        lines = path.read_text("utf-8-sig").split("\n")  # a text may hold other ends of lines
    except (OSError, UnicodeDecodeError) as exc:
        raise EvaluationError(
            f"{path} cannot be read: {exc}",
            hint="photocraft eval synthesize FOLDER proposes questions there",
        ) from exc
    told = [(f"{path}, line {at}", line) for at, line in enumerate(lines, start=1) if line.strip()]
    found: list[Proposal] = []
    for where, one in _proposals(told, known):
        if isinstance(one, _Fault):
            raise EvaluationError(
                f"{where}: {one}",
                hint=f"status is one of {', '.join(STATUSES)}; photos are UIDs; question is a text",
            )
        found.append(one)
    return found


def accepted(folder: Path, known: Collection[str], problems: Problems) -> Iterator[Proposal]:
    """To be asked. A line that cannot be used stands in ``problems``, and the rest goes on."""
    for where, one in _proposals(text_lines(folder / PROPOSALS, problems), known):
        if isinstance(one, _Fault):
            problems.add(one.kind, where, one)
        elif one.status == "accepted":
            yield one


def write_accepted(folder: Path, found: Iterable[Proposal], library: str) -> Path:
    """The accepted ones as questions with their gold, in the form of a history's."""
    path = folder / ACCEPTED
    questions = [one.eval_question(library) for one in found if one.status == "accepted"]
    rows = [
        {
            "id": one.id,
            "question": one.text,
            "gold": sorted(one.gold),
            "gold_text": one.gold_text,
            "kind": one.kind,
            "hops": one.hops,
            "groups": list(one.groups),
        }
        for one in questions
    ]
    _write_lines(path, rows)
    return path


def _rare(view: Sequence[Seen], labels: Collection[str]) -> list[str]:
    events: dict[str, set[int]] = {label: set() for label in labels}
    for one in view:
        for label in one.labels:
            events[label].add(one.event)
    return sorted(label for label, where in events.items() if len(where) <= _MOST_EVENTS)


def _links(drawing: Drawing, one: Drawn) -> Iterable[tuple[str, ...]]:
    rule: Rule = one.rule
    while rule.relation:
        rule = rule.relation.anchor
        yield tuple(sorted(drawing.photos(rule)))


class _Fault(ValueError):
    """Why a line cannot be used; ``kind`` is one of ``problems.KINDS``."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def _proposals(
    lines: Iterable[tuple[str, str]], known: Collection[str]
) -> Iterator[tuple[str, Proposal | _Fault]]:
    """``lines``: where each stands, and its text."""
    seen: set[str] = set()
    for where, line in lines:
        try:
            one = _proposal(line, known)
            if one.id in seen:
                raise _Fault("duplicate-id", f"the id {one.id!r} stands twice")
        except _Fault as fault:
            yield where, fault
        else:
            seen.add(one.id)
            yield where, one


def _proposal(line: str, known: Collection[str]) -> Proposal:
    """Raises _Fault."""
    try:
        data: Mapping[str, Any] = json.loads(line)
        made = Proposal(
            id=_text(data["id"]),
            question=_text(data["question"]),
            photos=tuple(map(_text, data["photos"])),
            kind=_text(data["kind"]),
            hops=int(data["hops"]),
            status=_text(data["status"]),
            text=_said(data.get("text")),
            links=tuple(tuple(map(_text, link)) for link in data.get("links") or ()),
            sheet=_said(data.get("sheet")),
        )
    except (ValueError, OverflowError, KeyError, TypeError, RecursionError) as exc:
        raise _Fault("bad-line", f"{type(exc).__name__}: {exc}") from exc
    if made.status not in STATUSES:
        raise _Fault("bad-line", f"the status {made.status!r}")
    if unknown := sorted(set(made.photos) - set(known)):
        raise _Fault("unknown-answer", f"no photo of the library: {', '.join(unknown)}")
    return made


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{value!r} is no text")
    value.encode()  # half a character, as "\\ud800", could not be written again
    return value


def _said(value: object) -> str:
    """A number counts as its digits, where a person wrote it so."""
    return "" if value in (None, "") else _text(str(value))


def _write_lines(path: Path, rows: Iterable[dict[str, Json]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with mapped(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_atomically(path, text.encode())
