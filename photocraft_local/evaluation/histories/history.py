"""A whole history: composed from sources and dials, written as a folder.

``photos/`` the library; ``questions.jsonl`` each question with its meaning and its photos;
``truth.jsonl`` what is true of each photo and what its file states; ``person.json`` what the
person would have named; ``history.json`` dials and counts; ``card.md`` the same to be read. The
same sources and dials give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.histories.card import card
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.drawing import Drawing, Drawn
from photocraft_local.evaluation.histories.life import TODAY, Shot, shots
from photocraft_local.evaluation.histories.members import write_members
from photocraft_local.evaluation.histories.scenes import sights_of
from photocraft_local.evaluation.histories.seeing import as_it_was, as_stated
from photocraft_local.evaluation.histories.sources import Sources
from photocraft_local.evaluation.histories.stating import Stated, statements
from photocraft_local.evaluation.histories.world import NAMED, NAMED_KM
from photocraft_local.evaluation.person import Person, write_person
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.records import Json
from photocraft_local.storage.atomic import part_of

PHOTOS, QUESTIONS, TRUTH, HEAD, CARD = (
    "photos", "questions.jsonl", "truth.jsonl", "history.json", "card.md",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class History:
    sources: Sources
    dials: Dials
    life: Sequence[Shot]
    stated: Sequence[Stated]
    drawn: Sequence[Drawn]
    dropped: Counter[str]

    @property
    def name(self) -> str:
        return f"history-{self.dials.size}-{self.dials.seed}"

    def eval_questions(self) -> list[EvalQuestion]:
        return [self._question(number, one) for number, one in enumerate(self.drawn, start=1)]

    def _question(self, number: int, one: Drawn) -> EvalQuestion:
        answerable = "answerable" if one.gold else "unanswerable"
        return EvalQuestion(
            id=f"q{number:04d}",
            library=self.name,
            text=one.text,
            gold=one.gold,
            kind=one.rule.kind,
            hops=one.rule.hops,
            groups=(answerable, one.shape),
            gold_text=str(len(one.gold)) if one.counts else "",
        )

    @property
    def person(self) -> Person:
        """Home and work as the person names them, and the day of the questions."""
        return Person(TODAY, {name: (*spot, NAMED_KM) for name, spot in NAMED.items()})

    def counts(self) -> dict[str, Json]:
        """What the card tells."""
        frames = [shot.frame for shot in self.life]
        return {
            "photos": len(self.life),
            "sources": len({frame.source for frame in frames} - {""}),
            "sources_left_out": self.sources.left_out,
            "pictures": len({(frame.source, frame.variant) for frame in frames}),
            "in_bursts": sum(bool(frame.close) for frame in frames),
            "screenshots": sum(frame.is_screenshot for frame in frames),
            "events": self.life[-1].event,
            "trips": max(shot.trip for shot in self.life),
            "towns": len({shot.town.name for shot in self.life}),
            "defects": _sorted(Counter(one.defect for one in self.stated if one.defect)),
            "questions": len(self.drawn),
            "unanswerable": sum(not one.gold for one in self.drawn),
            "asking_how_many": sum(one.counts for one in self.drawn),
            "by_kind": _sorted(Counter(one.rule.kind for one in self.drawn)),
            "by_hops": _sorted(Counter(str(one.rule.hops) for one in self.drawn)),
            "drafts_not_taken": _sorted(self.dropped),
        }

    def fingerprint(self) -> str:
        """Of sources, dials and questions."""
        digest = hashlib.sha256(self.sources.fingerprint().encode())
        digest.update(json.dumps(self.dials.to_json(), sort_keys=True).encode())
        digest.update("".join(_lines(self._question_lines())).encode())
        return digest.hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Goes on where writing this very history was cut; nothing to do where it stands. Raises
        EvaluationError if the folder holds anything else."""
        if (folder / HEAD).is_file():
            self.check_same(folder)
            return
        head = json.dumps(self._head(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        begun = part_of(folder / HEAD)
        _check_free(folder, begun, head)
        folder.mkdir(parents=True, exist_ok=True)
        begun.write_text(head, "utf-8")
        write_members(folder / PHOTOS, self.sources, self.life, self.stated)
        (folder / QUESTIONS).write_text("".join(_lines(self._question_lines())), "utf-8")
        (folder / TRUTH).write_text("".join(_lines(self._truth_lines())), "utf-8")
        write_person(folder, self.person)
        examples = [(one.text, one.rule.hops, len(one.gold)) for one in self.drawn[:10]]
        (folder / CARD).write_text(card(self._head(), examples), "utf-8")
        begun.replace(folder / HEAD)  # last: all of it is there

    def _head(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "fingerprint": self.fingerprint(),
            "sources": self.sources.fingerprint(),
            "dials": self.dials.to_json(),
            "counts": self.counts(),
        }

    def check_same(self, folder: Path) -> None:
        """Raises EvaluationError if ``folder`` holds another history than this."""
        try:
            there = json.loads((folder / HEAD).read_text("utf-8"))["fingerprint"]
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise EvaluationError(
                f"{folder / HEAD} cannot be read: {exc}", hint="name another folder"
            ) from exc
        if there != self.fingerprint():
            raise EvaluationError(
                f"the folder {folder} holds the history {there}, not {self.fingerprint()}",
                hint="give the dials and photos that it was made of, or name another folder",
            )

    def _question_lines(self) -> Iterable[dict[str, Json]]:
        for asked, one in zip(self.eval_questions(), self.drawn, strict=True):
            yield {
                "id": asked.id,
                "question": asked.text,
                "gold": sorted(asked.gold),
                "gold_text": asked.gold_text,
                "kind": asked.kind,
                "hops": asked.hops,
                "groups": list(asked.groups),
                "rule": one.rule.to_json(),
            }

    def _truth_lines(self) -> Iterable[dict[str, Json]]:
        for shot, one in zip(self.life, self.stated, strict=True):
            yield {
                "photo": shot.name,
                "source": shot.frame.source,
                "variant": shot.frame.variant,
                "labels": sorted(shot.frame.labels),
                "time": shot.time.isoformat(),
                "town": shot.town.name,
                "spot": shot.spot,
                "event": shot.event,
                "trip": shot.trip,
                "stated_time": one.time.isoformat() if one.time else None,
                "stated_position": one.position,
                "defect": one.defect,
            }


def _check_free(folder: Path, begun: Path, head: str) -> None:
    others = folder.exists() and any(path != begun for path in folder.iterdir())
    if others and not (begun.is_file() and begun.read_bytes() == head.encode()):
        raise EvaluationError(
            f"the folder {folder} is not empty", hint="name another one for the history"
        )


def compose(sources: Sources, dials: Dials) -> History:
    """Raises EvaluationError if the life has too few questions."""
    life = shots(sources, dials)
    stated = statements(life, dials)
    rng = np.random.default_rng([dials.seed, dials.size, 3])
    views = (as_it_was(life), as_stated(life, stated))
    drawing = Drawing(views, frozenset(sources.labels), sights_of(sources), rng)
    return History(sources, dials, life, stated, drawing.questions(dials), drawing.dropped)


def _lines(rows: Iterable[dict[str, Json]]) -> Iterable[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n"


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
