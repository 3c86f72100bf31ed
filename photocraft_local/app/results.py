"""What ``PhotoSearch`` gives back: frozen facts with whole photos in them, nothing to be looked
up again. Knows neither how they were found nor how they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from photocraft_local.agent.pictures import Picture
from photocraft_local.library.spaces import SpaceCounts
from photocraft_local.records import Event, Evidence, Photo, Skipped, Step, Usage


@dataclass(frozen=True, slots=True)
class FoundPhoto:
    """One photo of a search. ``score`` is calibrated (search/calibration.py), none if the search
    had no look to score."""

    photo: Photo
    score: float | None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The photos of one search, best first; by time where nothing was scored."""

    photos: tuple[FoundPhoto, ...]
    filter: str  # the expression that ran, normalised; empty if every photo was a candidate
    num_candidates: int  # photos that passed the filter and, for a look, have a vector
    num_unindexed: int = 0  # photos that passed it and have no vector yet, so cannot be found
    cutoff: float | None = None  # from this calibrated score on a photo is a match
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()
    engine: str = ""  # which path searched, and why

    def __len__(self) -> int:
        return len(self.photos)

    @property
    def matches(self) -> tuple[FoundPhoto, ...]:
        """The photos that reach the cut-off; all of them where nothing was scored."""
        return tuple(filter(self.is_match, self.photos))

    def is_match(self, found: FoundPhoto) -> bool:
        """Whether the photo reaches the cut-off."""
        return self.cutoff is None or (found.score is not None and found.score >= self.cutoff)


@dataclass(frozen=True, slots=True)
class AnsweredPhoto:
    """One photo of an answer, with why it is in it."""

    photo: Photo
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class AskedPlan:
    """What a question was understood as: one sentence, and the text that can be corrected."""

    question: str
    words: str
    text: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """A set on the way to the answer: a step's own words, its size, and its first photos."""

    step: str
    count: int
    photos: tuple[Photo, ...]


@dataclass(frozen=True, slots=True)
class AskedRun:
    """One of several runs of a question. ``is_kept``: all that it gave is in the answer;
    ``problem``: why it has no answer."""

    number: int  # from 1
    photos: tuple[str, ...]  # UIDs that it gave
    text: str = ""
    reason: str = ""
    problem: str = ""
    is_kept: bool = False
    steps: tuple[Step, ...] = ()
    trajectory: Path | None = None
    usage: Usage | None = None
    limit: str = ""  # as in ``AskAnswer``


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """The exact set that answers a question, possibly empty."""

    question: str
    photos: tuple[AnsweredPhoto, ...]
    text: str = ""
    reason: str = ""  # why the set is empty, or why the episode was cut short
    filter: str = ""  # the expressions that ran, in order, joined by "; "
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    trajectory: Path | None = None  # the episode on disk
    plan: AskedPlan | None = None
    usage: Usage | None = None  # of all turns and compactions; None where no model ran
    limit: str = ""  # that ended it: turns, tokens, seconds, replies, window; empty: none
    attempts: int = 1
    runs: tuple[AskedRun, ...] = ()  # where a model answered several times
    notes: tuple[str, ...] = ()  # on the choice between them
    value: str = ""  # of rules: the bare answer in ``text``, a number, a day, a place, a camera

    def __len__(self) -> int:
        return len(self.photos)

    @property
    def is_answered(self) -> bool:
        """With photos, or in words alone; an empty set with its reason is no answer."""
        return bool(self.photos or (self.text and not self.reason))


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What one run of ``index`` changed. ``num_photos`` is what the library holds now."""

    added: int  # photos that are new
    changed: int  # paths that hold other content than before
    moved: int  # photos found under another path
    restored: int  # photos that were missing and are back
    missing: int  # photos that are gone from disk
    duplicates: int  # further paths of a photo that has one
    unchanged: int  # files with the size and time of last time; they were not opened
    embedded: int  # photos that got a vector
    num_photos: int
    seconds: float
    skipped: tuple[Skipped, ...] = ()  # every file that is not in the library, and why
    problems: tuple[Skipped, ...] = ()  # what failed in this run; the next one tries again
    offline_roots: tuple[bytes, ...] = ()
    notes: tuple[str, ...] = ()  # what could not be done, e.g. no place names


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """What the library holds. Photos that are gone from disk count only as missing."""

    library: Path
    num_photos: int  # offline ones included
    num_offline: int  # their folder is not mounted now
    num_missing: int  # gone from disk, kept until `compact`
    num_forgotten: int
    num_files: int  # paths of photos, so exact duplicates count twice
    num_companions: int  # RAW beside JPEG, films of Live Photos
    num_with_time: int
    num_with_place: int
    num_events: int
    encoder: str  # the setting
    num_pending: int | None  # photos without a vector of this encoder; None: see ``notes``
    roots: tuple[bytes, ...] = ()
    offline_roots: tuple[bytes, ...] = ()
    skipped: tuple[Skipped, ...] = ()  # every file that is not in the library, and why
    spaces: Mapping[str, int] = field(default_factory=dict)  # vector space → stored vectors
    notes: tuple[str, ...] = ()
    vector_spaces: tuple[SpaceCounts, ...] = ()  # the same with encoder, numbers and what is left


@dataclass(frozen=True, slots=True)
class PhotoDetails:
    """All that is known of one photo."""

    photo: Photo
    event: Event | None
    neighbours: tuple[Photo, ...]  # the other photos of its event, by time, at most 10


@dataclass(frozen=True, slots=True)
class CompactReport:
    """What a compaction dropped."""

    photos: int  # rows of photos whose files are gone
    vectors: int  # over all vector spaces
    crops: int = 0  # pictures of crops that can be cut again
    crop_bytes: int = 0
