"""A made life of some 2,300 photos: what is true of each is known, what the encoder sees is not
always true, and the real tools work on it.

Five years at home and on trips; a photo shows a common thing or two, and some events show a thing
that is seen only there. Vectors are made: an axis a thing, noise, and now and then a thing that is
not there. ``Eyes`` look closer than the encoder and err less. Knows nothing of questions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np

from photocraft_local.embeddings.encoder import Calibration, EncoderSpec, TextEmbedding
from photocraft_local.errors import UnknownPhoto
from photocraft_local.library.columns import NO_OFFSET, LibraryColumns
from photocraft_local.records import CaptureTime, Event, GeoPoint, Photo, PlaceName
from photocraft_local.search.catalog import Catalog, PlaceLookup
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.searcher import Searcher
from photocraft_local.serving.judging import ANY, Condition, Left, Subject, Verdicts
from photocraft_local.settings import Settings
from photocraft_local.tools.context import ToolContext

TODAY = date(2024, 3, 15)
YEARS = range(2019, 2024)
_THINGS = "dog cat boat cake bridge flower bicycle train statue horse fountain kite umbrella piano"
_SIGHTS = """
wedding parade regatta marathon concert graduation picnic christening auction circus ballet opera
rodeo lecture eclipse rainbow snowman bonfire barbecue acrobat balloon harvest puppet lighthouse
waterfall windmill castle volcano glacier aquarium
"""
THINGS, SIGHTS = tuple(_THINGS.split()), tuple(_SIGHTS.split())
HOME = "Lisbon"
CITIES = {
    HOME: (38.72, -9.14),
    "Porto": (41.15, -8.61),
    "Rome": (41.90, 12.50),
    "Paris": (48.86, 2.35),
    "Berlin": (52.52, 13.40),
    "Vienna": (48.21, 16.37),
    "Athens": (37.98, 23.73),
}
COUNTRIES = {
    HOME: ("Portugal", "PT"),
    "Porto": ("Portugal", "PT"),
    "Rome": ("Italy", "IT"),
    "Paris": ("France", "FR"),
    "Berlin": ("Germany", "DE"),
    "Vienna": ("Austria", "AT"),
    "Athens": ("Greece", "GR"),
}
_SPOTS = 4  # of a city, a kilometre or more apart
_DIM = 64
_NOISE = 0.05
_MISTAKEN = 0.04  # share of photos: 3 of 1,000 pairs of a photo and a thing
_EYES_MISTAKEN = 0.001  # of such pairs
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Shot:
    """What is true of one photo."""

    uid: str
    time: datetime
    city: str
    spot: tuple[float, float]
    event: int
    trip: int
    shows: frozenset[str]


def shots(seed: int = 1, *, more_a_day: int = 0) -> tuple[Shot, ...]:
    """In order of time. ``more_a_day``: photos that each day at home has more, of one thing."""
    rng = np.random.default_rng(seed)
    sights = iter(rng.permutation(SIGHTS).tolist())
    days: list[tuple[date, str, int]] = []
    trip = 0
    for year in YEARS:
        for month in range(1, 13):
            trip += 1
            first = date(year, month, int(rng.integers(3, 9)))
            days += [(first + timedelta(days=7 * week), HOME, trip) for week in range(2)]
            if month % 3 == 0:
                trip += 1
                away = str(rng.choice([city for city in CITIES if city != HOME]))
                start = date(year, month, int(rng.integers(17, 21)))
                length = int(rng.integers(4, 7))
                days += [(start + timedelta(days=day), away, trip) for day in range(length)]
    made: list[Shot] = []
    event = 0
    for day, city, number in days:
        for hour in (9, 15):
            event += 1
            shown = next(sights, "") if hour == 15 and rng.random() < 0.2 else ""
            made += _event(rng, day, hour, city, (event, number), shown, len(made))
        if city == HOME:
            made += _more(day, number, event, more_a_day, len(made))
    return tuple(made)


def _event(
    rng: np.random.Generator,
    day: date,
    hour: int,
    city: str,
    numbers: tuple[int, int],
    sight: str,
    first: int,
) -> list[Shot]:
    spot = _spot(city, int(rng.integers(_SPOTS)))
    start = datetime(day.year, day.month, day.day, hour, int(rng.integers(0, 40)))
    found = []
    for at in range(int(rng.integers(4, 7))):
        shows = set(rng.choice(THINGS, size=int(rng.integers(1, 3)), replace=False).tolist())
        shows |= {sight} if sight and at in (0, 1) else set()
        moment = start + timedelta(minutes=12 * at)
        found.append(Shot(_uid(first + at), moment, city, spot, *numbers, frozenset(shows)))
    return found


def _more(day: date, trip: int, event: int, number: int, first: int) -> list[Shot]:
    start = datetime(day.year, day.month, day.day, 18)
    spot, shows = _spot(HOME, 0), frozenset({thing_of(day)})
    return [
        Shot(_uid(first + at), start + timedelta(minutes=at), HOME, spot, event, trip, shows)
        for at in range(number)
    ]


def thing_of(day: date) -> str:
    """Of which a day at home has more."""
    return THINGS[day.toordinal() % len(THINGS)]


def _spot(city: str, number: int) -> tuple[float, float]:
    latitude, longitude = CITIES[city]
    return latitude + 0.012 * number, longitude - 0.009 * (number * 2 % 3)


def _uid(number: int) -> str:
    return f"p{number + 1:05d}"


def _chance(*words: str) -> float:
    """0…1, the same for the same words in every run."""
    digest = hashlib.sha256("\0".join(words).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


class MadeEncoder:
    """Knows the names of things, in singular and plural, and nothing else."""

    spec = EncoderSpec("made", "1", "1", _DIM, 0)
    calibration = Calibration(mean=0.0, std=_NOISE, cutoff=4.0)

    def __init__(self, mistaken: float = _MISTAKEN) -> None:
        """``mistaken``: the share of photos in which it sees a thing that is not there."""
        self._axes = {word: at for at, word in enumerate((*THINGS, *SIGHTS))}
        self._share = mistaken / len(THINGS)

    def encode_images(self, images: Sequence[Any]) -> Any:
        raise NotImplementedError("the vectors of the made life are made")

    def encode_text(self, text: str) -> TextEmbedding:
        words = text.casefold().split()
        known = [word for word in words if singular(word) in self._axes]
        if not known:
            return TextEmbedding(None, not_understood=tuple(words))
        return TextEmbedding(
            self.vector(map(singular, known)),
            tuple(known),
            tuple(word for word in words if word not in known),
        )

    def vector(self, things: Iterable[str]) -> Any:
        found = np.zeros(_DIM, np.float32)
        for thing in things:
            found[self._axes[thing]] = 1.0
        return found / max(float(np.linalg.norm(found)), 1e-6)

    def photos(self, life: Sequence[Shot]) -> Any:
        """(n, dim) float16 unit vectors."""
        rng = np.random.default_rng(7)
        rows = np.stack([self.vector(self._seen(shot)) for shot in life])
        rows += rng.normal(0.0, _NOISE / 2, rows.shape).astype(np.float32)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)

    def _seen(self, shot: Shot) -> set[str]:
        """With what is not there, as a search by vectors errs."""
        wrong = (one for one in THINGS if _chance(shot.uid, one, "seen") < self._share)
        return {*shot.shows, *wrong}


def singular(word: str) -> str:
    return word if word in (*THINGS, *SIGHTS) else word.removesuffix("s")


@dataclass
class Eyes:
    """A judge: looks at one photo at a time, and says what is there; 1 of 1,000 times it errs."""

    life: Mapping[str, Shot]
    most_anchors: int = 0
    looked: int = field(default=0)

    def judge(
        self,
        question: str,
        conditions: Sequence[Condition],
        anchors: Sequence[Subject],
        photos: Sequence[Subject],
        *,
        threshold: float = 0.5,
        left: Left = ANY,
    ) -> Verdicts:
        self.looked += len(photos)
        asked = conditions or [Condition(question)]
        return Verdicts({one.uid: self._sure(one.uid, asked) for one in photos})

    def _sure(self, uid: str, asked: Sequence[Condition]) -> float:
        met = True
        for one in asked:
            words = {singular(word) for word in re.findall(r"\w+", one.text.casefold())}
            named = words & {*THINGS, *SIGHTS}
            met &= bool(named & self.life[uid].shows) is not one.negated
        errs = _chance(uid, *(one.words() for one in asked), "eyes") < _EYES_MISTAKEN
        return 0.9 if met is not errs else 0.1


class _Library:
    """As much of a library as tools use that show no pixels. Every photo's file is the same."""

    def __init__(self, photos: Sequence[Photo]) -> None:
        self._by_id = {photo.photo_id: photo for photo in photos}
        self._by_uid = {photo.uid: photo for photo in photos}

    def photo(self, uid: str) -> Photo:
        if uid not in self._by_uid:
            raise UnknownPhoto(f"there is no photo {uid!r}")
        return self._by_uid[uid]

    def photos_by_id(self, ids: Iterable[int]) -> dict[int, Photo]:
        return {photo_id: self._by_id[photo_id] for photo_id in ids}

    def events(self) -> list[Event]:
        return []


class World:
    """The life as the tools see it."""

    def __init__(
        self,
        life: Sequence[Shot],
        *,
        mistaken: float = _MISTAKEN,
        places: PlaceLookup | None = None,
    ) -> None:
        self._places = places
        self.life = {shot.uid: shot for shot in life}
        columns = _columns(life)
        self.catalog = Catalog.from_columns(columns)
        encoder = MadeEncoder(mistaken)
        index = ExactIndex(encoder.photos(life), columns.photo_id)
        self._searcher = Searcher(self.catalog, index, encoder)
        self._encoder = encoder
        self._library = _Library(_photos(life))

    def context(self, settings: Settings, memory: Any, judge: Eyes | None = None) -> ToolContext:
        """For one episode."""
        return ToolContext(
            library=cast(Any, self._library),
            catalog=self.catalog,
            make_searcher=lambda: self._searcher,
            make_encoder=lambda: cast(Any, self._encoder),
            gazetteer=self._places,
            today=TODAY,
            settings=settings,
            memory=memory,
            judge=judge,
        )


def _columns(life: Sequence[Shot]) -> LibraryColumns:
    num = len(life)
    cities = ("", *CITIES)
    countries, codes = (
        ("", *(one[0] for one in COUNTRIES.values())),
        ("", *(one[1] for one in COUNTRIES.values())),
    )
    city = np.array([cities.index(shot.city) for shot in life], np.int32)
    nothing = np.zeros(num, np.int32)
    return LibraryColumns(
        photo_id=np.arange(1, num + 1),
        uid=[shot.uid for shot in life],
        local_seconds=np.array([int((s.time - _EPOCH).total_seconds()) for s in life], np.int64),
        offset_minutes=np.full(num, NO_OFFSET, np.int32),
        latitude=np.array([shot.spot[0] for shot in life]),
        longitude=np.array([shot.spot[1] for shot in life]),
        width=np.full(num, 4000, np.int32),
        height=np.full(num, 3000, np.int32),
        event_id=np.array([shot.event for shot in life], np.int64),
        trip_id=np.array([shot.trip for shot in life], np.int64),
        flags=np.zeros(num, np.int64),
        camera=nothing,
        city=city,
        region=nothing,
        country=city,
        country_code=city,
        offline=np.zeros(num, np.bool_),
        flag_names=(),
        cameras=("",),
        cities=cities,
        regions=("",),
        countries=countries,
        country_codes=codes,
        generation=1,
    )


def _photos(life: Sequence[Shot]) -> list[Photo]:
    file = bytes(Path(__file__))
    return [
        Photo(
            photo_id=number,
            uid=shot.uid,
            digest="",
            paths=(file,),
            width=4000,
            height=3000,
            format="JPEG",
            taken=CaptureTime(shot.time),
            location=GeoPoint(*shot.spot),
            place=PlaceName(shot.city, "", *COUNTRIES[shot.city], 0.0),
            event_id=shot.event,
        )
        for number, shot in enumerate(life, 1)
    ]
