"""What the rules would give if the encoder's eyes took the place of the labels.

A planner cannot do better than its encoder: here all but the look of a question is decided by
the table. Knows the search of the package, not its planner.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from album.gold import RuleError, gold
from album.life import Moment

from photocraft_local import PhotoSearch
from photocraft_local.embeddings.labels.sources import CLASS_NAMES
from photocraft_local.errors import PhotocraftError

_ABSENT = "no photo shows "


def relative(path: bytes, album: Path) -> str:
    """A photo's name in the album, as the table has it."""
    return Path(os.fsdecode(path)).relative_to(album).as_posix()


def wanted_things(questions: Iterable[Mapping[str, Any]]) -> list[str]:
    """All that is looked for: the rules' labels, and the absent things."""
    return sorted({thing for question in questions for thing in _things(question)})


def class_names() -> list[str]:
    """What the embedded encoder's classifier can tell apart, in words."""
    return [name.lower() for name in json.loads(CLASS_NAMES.checked().read_text("utf-8"))]


def all_named(question: Mapping[str, Any], classes: Sequence[str]) -> bool:
    """Whether each label of the rule is a class, or a class is a kind of it by its name's end."""
    return all(
        any(name == label or name.endswith(f" {label}") for name in classes)
        for label in _labels(question["gold_rule"])
    )


def _things(question: Mapping[str, Any]) -> Iterator[str]:
    if question["kind"] == "absent":
        yield question["gold_rule"]["nothing"].removeprefix(_ABSENT)
    else:
        yield from _labels(question["gold_rule"])


def _labels(rule: Mapping[str, Any]) -> Iterator[str]:
    for key in ("all", "any", "none"):
        yield from rule.get(key, ())
    inner = [*rule.get("or", ()), *(rule[key] for key in ("anchor", "but_not") if key in rule)]
    for part in inner:
        yield from _labels(part)


class EncoderEyes:
    """The life with the encoder's scores for its labels, from their cut-offs on; every search is
    made once."""

    def __init__(
        self, photos: PhotoSearch, album: Path, life: Sequence[Moment], things: Sequence[str]
    ) -> None:
        self._life = life
        self._scores: dict[str, dict[str, float]] = {}
        for thing in things:
            try:
                answer = photos.search(thing, top_k=len(life))
            except PhotocraftError:  # none of its words is known: nothing looks like it
                self._scores[thing] = {}
                continue
            cutoff = answer.cutoff or 0.0  # each thing may have one of its own
            self._scores[thing] = {
                relative(found.photo.paths[0], album): (found.score or 0.0) - cutoff
                for found in answer.photos
            }

    def cutoffs(self, question: Mapping[str, Any]) -> list[float]:
        """Every cut-off that can make a difference to the question, one above all included."""
        scores = {s for thing in _things(question) for s in self._scores[thing].values()}
        return [*sorted(scores), float("inf")]

    def answer(self, question: Mapping[str, Any], cutoff: float | None = None) -> frozenset[str]:
        """The files that the question's rule gives. An absent thing is looked for in the whole
        album, which is harder than a question that also names a time or place."""
        least = 0.0 if cutoff is None else cutoff
        if question["kind"] == "absent":
            (thing,) = _things(question)
            return frozenset(name for name, s in self._scores[thing].items() if s >= least)
        try:
            return frozenset(gold(question["gold_rule"], self._seen(_things(question), least)))
        except RuleError:  # the photo that another is dated by is not seen
            return frozenset()

    def _seen(self, things: Iterable[str], cutoff: float) -> list[Moment]:
        wanted = list(things)
        return [
            replace(
                moment,
                complete=True,
                labels=frozenset(
                    thing
                    for thing in wanted
                    if self._scores[thing].get(moment.file, float("-inf")) >= cutoff
                ),
            )
            for moment in self._life
        ]
