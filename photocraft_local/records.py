"""Plain facts that travel between the layers: frozen dataclasses, no behaviour but formatting.

Knows nothing of files, databases or models.
"""

from __future__ import annotations

import base64
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any, Literal

Json = Any  # a value that ``json.dumps`` takes


@dataclass(frozen=True, slots=True)
class CaptureTime:
    """When a photo was taken: the wall clock where it was taken, and the UTC offset if known.

    ``source`` names the field, e.g. ``exif:DateTimeOriginal``; ``flags`` are doubts about it.
    """

    local: datetime  # naive
    offset_minutes: int | None = None
    source: str = ""
    flags: tuple[str, ...] = ()

    def isoformat(self) -> str:
        """ISO 8601 local time; the offset is written only if it is known."""
        text = self.local.isoformat()
        if self.offset_minutes is None:
            return text
        sign = "-" if self.offset_minutes < 0 else "+"
        hours, minutes = divmod(abs(self.offset_minutes), 60)
        return f"{text}{sign}{hours:02d}:{minutes:02d}"


@dataclass(frozen=True, slots=True)
class GeoPoint:
    """WGS 84 position in signed degrees."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class PlaceName:
    """The gazetteer's names for a position, fine to coarse."""

    city: str
    region: str
    country: str
    country_code: str  # ISO 3166-1 alpha-2
    distance_km: float  # from the photo to the city's centre

    def address(self) -> str:
        return address(self.city, self.region, self.country)


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """What a file's header says; no pixel was decoded for it. Sizes are upright."""

    format: str  # "JPEG", "PNG", "HEIF", …
    width: int
    height: int
    orientation: int  # EXIF 1…8 that still has to be applied to the decoder's pixels
    taken: CaptureTime | None = None
    location: GeoPoint | None = None
    camera: str = ""
    flags: tuple[str, ...] = ()
    address: str = ""  # where one was given; a gazetteer names all other positions


@dataclass(frozen=True, slots=True)
class Photo:
    """One photo of the library. Its identity is its content; paths are attributes."""

    photo_id: int  # dense row key of the library's database
    uid: str
    digest: str  # SHA-256 of the bytes, hex
    paths: tuple[bytes, ...]  # absolute; first is the preferred one
    width: int
    height: int
    format: str
    taken: CaptureTime | None = None
    location: GeoPoint | None = None
    place: PlaceName | None = None
    camera: str = ""
    flags: tuple[str, ...] = ()
    companions: tuple[bytes, ...] = ()  # RAW beside JPEG, video of a Live Photo
    event_id: int | None = None
    offline: bool = False  # its root is not mounted now


@dataclass(frozen=True, slots=True)
class Event:
    """A run of photos without a long pause or jump; computed from time and place only."""

    event_id: int
    trip_id: int
    start: datetime
    end: datetime
    count: int
    cover_uid: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not in the library, and why."""

    path: bytes
    reason: str  # stable code, e.g. "unsupported", "video", "unreadable"
    message: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One photo of a search result. ``score`` is calibrated; see search/calibration.py."""

    uid: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why one photo is in an answer: for one constraint the rule, the photo's value, and how
    it was decided."""

    constraint: str  # the constraint in words, e.g. "taken in June 2021"
    rule: str  # what was checked, e.g. "2021-06-01 <= time < 2021-07-01"
    value: str  # what the photo says, e.g. "2021-06-14T10:31:00"
    met: bool
    score: float | None = None  # of a look
    threshold: float | None = None  # reached if the look is wanted, not reached if it is not
    anchors: tuple[str, ...] = ()  # UIDs it came by


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One request of the model: a tool's name and its JSON arguments."""

    name: str
    arguments: dict[str, Json] = field(default_factory=dict)
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, and the pictures of its prompt: how many, and how many of them
    went as bytes; the backbone was told the others by name."""

    prompt: int = 0
    cached: int = 0
    generated: int = 0
    pictures: int = 0
    pictures_sent: int = 0

    @property
    def fresh(self) -> int:
        """Tokens through prefill and decode; those from a cache are not counted."""
        return self.prompt - self.cached + self.generated

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool gave back. A failure is data: ``error`` says what and how to mend it.

    ``images`` are (uid, path-or-PNG-bytes) pairs that enter the model's context; ``usage`` is what
    the tool itself asked of the model, which sees nothing of it.
    """

    tool: str
    data: dict[str, Json] = field(default_factory=dict)
    error: str = ""
    images: tuple[tuple[str, bytes], ...] = ()
    brief: str = ""  # one line for the digest: outcome, counts, set names
    usage: Usage = Usage()

    @property
    def ok(self) -> bool:
        return not self.error


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of an episode: what was asked of a tool and what came back."""

    index: int
    call: ToolCall
    observation: Observation
    thought: str = ""
    usage: Usage = Usage()


PlanStatus = Literal["open", "done", "failed", "ruled out"]


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question wants: the hidden context, the chain of steps to it, what to return."""

    episode: str = ""
    breakdown: tuple[str, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """``expect`` is one of ``tools/planning.py``'s words for a number of photos, or empty."""

    goal: str
    status: PlanStatus = "open"
    expect: str = ""
    why: str = ""  # it has this status


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of an episode: an exact set of photos, possibly empty, and the evidence."""

    uids: tuple[str, ...]
    evidence: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    text: str = ""
    reason: str = ""  # why the set is empty, or why the episode was cut
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()


def address(*names: str | None) -> str:
    """City, region, country in one; a name that two of them share stands once."""
    return ", ".join(dict.fromkeys(name for name in names if name))


def path_text(path: bytes) -> str:
    """A file name for people and JSON: UTF-8 where it is, undecodable bytes as ``\\xNN``."""
    return path.decode("utf-8", "backslashreplace")


def paths_json(paths: tuple[bytes, ...]) -> dict[str, Json]:
    """The documented JSON form of paths: ``paths`` for people and, only where a name is not
    UTF-8, ``paths_base64`` with the exact bytes of every path in the same order."""
    form: dict[str, Json] = {"paths": [path_text(path) for path in paths]}
    try:
        for path in paths:
            path.decode("utf-8")
    except UnicodeDecodeError:
        form["paths_base64"] = [base64.b64encode(path).decode("ascii") for path in paths]
    return form
