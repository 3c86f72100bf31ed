"""What the photos of an event show: common things, a sight now and then, bursts, near-duplicates,
photos like a sight without it, screenshots.

A *sight* is a thing that few sources show; they are shown in few events and nowhere else, so that
it can tell an event from all others. *Motifs* are sources that recur through the whole life, some
with people and some without. Knows nothing of times and places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.likeness import alike
from photocraft_local.evaluation.histories.sources import Source, Sources

PERSON = "person"
NUM_VARIANTS = 4  # of members.py
_MOST_OF_A_SIGHT = 4  # sources
_SIGHTS_SHARE = 0.45  # of sources, at most
_SIGHT_EVENTS = 0.3  # share of events with a sight, at most
_MOTIFS = 2  # of each kind
_BURST, _AGAIN, _MOTIF, _SCREENSHOT = 0.12, 0.1, 0.15, 0.03


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: a source in a variant. ``close``: seconds after the one before, in a burst."""

    source: str  # its name; empty for a screenshot
    labels: frozenset[str]
    variant: int = 0
    close: int = 0

    @property
    def is_screenshot(self) -> bool:
        return not self.source


class Scenes:
    """Of one life of ``events`` events."""

    def __init__(
        self, sources: Sources, dials: Dials, events: int, rng: np.random.Generator
    ) -> None:
        self._rng, self._dials = rng, dials
        sights = sights_of(sources)
        shown_in_few = {one.name for group in sights.values() for one in group}
        self._common = [one for one in sources.photos if one.name not in shown_in_few]
        with_people = [one for one in self._common if PERSON in one.labels]
        without = [one for one in self._common if one.labels and PERSON not in one.labels]
        self._motifs = [*_some(rng, with_people, _MOTIFS), *_some(rng, without, _MOTIFS)]
        self._sights = self._spread(sights, events)
        self._rows = {one.name: row for row, one in enumerate(sources.photos)}
        self._alike = alike(np.stack([one.look for one in sources.photos]))

    def of_event(self, event: int, size: int) -> list[Frame]:
        """``size`` pictures, the first one never a burst's second."""
        rng = self._rng
        wanted = [_frame(one) for one in self._wanted(event)]
        found: list[Frame] = []
        themes = _some(rng, self._common, 4)
        while len(found) + len(wanted) < size:
            source = self._motif() or themes[int(rng.integers(len(themes)))]
            if found and rng.random() < _AGAIN:  # the same again, later and not quite the same
                again = found[int(rng.integers(len(found)))]
                found.append(replace(again, variant=self._other(again), close=0))
            else:
                found.append(_frame(source))
            if rng.random() < _BURST:
                found += self._burst(found[-1])
        mixed = _mixed(rng, found[: size - len(wanted)], wanted)
        keep = {*wanted, mixed[0]}  # an event begins with a photo that has a place
        return [frame if frame in keep else self._or_screenshot(frame) for frame in mixed]

    def _wanted(self, event: int) -> list[Source]:
        """The sight's photos and, by the dial, one like them."""
        group = self._sights.get(event)
        if not group:
            return []
        rng = self._rng
        shown = _some(rng, group, int(rng.integers(1, min(len(group), 2) + 1)))
        if rng.random() < self._dials.lookalikes:
            shown.append(self._lookalike(shown[0]))
        return shown

    def _lookalike(self, shown: Source) -> Source:
        """Of the photos that do not show the sight, the one most like this one: in colours and
        edges, and in what else it shows."""
        row = self._rows[shown.name]
        return max(
            self._common,
            key=lambda one: (
                self._alike[row, self._rows[one.name]] + shared_labels(one, shown),
                one.name,
            ),
        )

    def _spread(self, sights: dict[str, list[Source]], events: int) -> dict[int, list[Source]]:
        """Event → the sight's sources: half of the sights are shown once, the others recur."""
        rng = self._rng
        names = rng.permutation(sorted(sights)).tolist()
        room = min(events, max(2, round(_SIGHT_EVENTS * events)))
        places = rng.choice(events, size=room, replace=False).tolist()
        recurring = names[: (len(names) + 1) // 2]
        shown = names[:room]
        while recurring and len(shown) < room:
            shown.append(recurring[int(rng.integers(len(recurring)))])
        return {place: sights[name] for place, name in zip(places, shown, strict=False)}

    def _motif(self) -> Source | None:
        rng = self._rng
        if not self._motifs or rng.random() >= _MOTIF:
            return None
        return self._motifs[int(rng.integers(len(self._motifs)))]

    def _burst(self, frame: Frame) -> list[Frame]:
        rng = self._rng
        more = int(rng.integers(1, 4))
        return [
            replace(frame, variant=self._other(frame), close=int(rng.integers(1, 4)))
            for _ in range(more)
        ]

    def _other(self, frame: Frame) -> int:
        return (frame.variant + int(self._rng.integers(1, NUM_VARIANTS))) % NUM_VARIANTS

    def _or_screenshot(self, frame: Frame) -> Frame:
        if frame.close or self._rng.random() >= _SCREENSHOT:
            return frame
        return Frame("", frozenset(), int(self._rng.integers(NUM_VARIANTS)))


def sights_of(sources: Sources) -> dict[str, list[Source]]:
    """Label → its sources, of labels that few sources show; each source belongs to one."""
    counts = sources.labels
    room = int(_SIGHTS_SHARE * len(sources.photos))
    taken: set[str] = set()
    found: dict[str, list[Source]] = {}
    for label, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        group = [one for one in sources.photos if label in one.labels and one.name not in taken]
        if count <= _MOST_OF_A_SIGHT and len(group) == count and len(taken) + count <= room:
            taken |= {one.name for one in group}
            found[label] = group
    return found


def _frame(source: Source) -> Frame:
    return Frame(source.name, source.labels)


def _some(rng: np.random.Generator, group: list[Source], number: int) -> list[Source]:
    chosen = rng.choice(len(group), size=min(number, len(group)), replace=False).tolist()
    return [group[at] for at in chosen]


def shared_labels(one: Source, other: Source) -> float:
    """Share of labels that both have; none are the sight's, which no common source shows."""
    both = one.labels | other.labels
    return len(one.labels & other.labels) / len(both) if both else 0.0


def _mixed(rng: np.random.Generator, frames: list[Frame], more: list[Frame]) -> list[Frame]:
    """``more`` somewhere between, no burst torn apart."""
    pieces: list[list[Frame]] = []
    for frame in frames:
        if frame.close and pieces:
            pieces[-1].append(frame)
        else:
            pieces.append([frame])
    for frame in more:
        pieces.insert(int(rng.integers(len(pieces) + 1)), [frame])
    return [frame for piece in pieces for frame in piece]
