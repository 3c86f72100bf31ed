"""A trace without what is the person's own, in the same form, so that it can be shown around.

A word stays only if it is one of ``safe_words.txt``, so that names go whoever's they are; UIDs,
names and files are renamed alike all through one export, times are shifted, coordinates
numbered. What was the person's is not kept anywhere: this cannot be undone by a key.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache, partial
from importlib.resources import files
from typing import Any, TypeAlias

from photocraft_local.agent.trajectory import json_schema
from photocraft_local.errors import TimeWordsError
from photocraft_local.library.uids import ALPHABET
from photocraft_local.records import Json
from photocraft_local.timelang import find_times
from photocraft_local.timelang.when import When

_EPISODE = re.compile(r"\b(\d{8}-\d{6}-[0-9a-f]{6,})(-\d+)?\b")
_ESCAPE = re.compile(r"\\u003[ce]")  # of JSON within a text, where no control mark may stand
_OPEN, _CLOSE = "\ue000", "\ue001"
_WEEKS = 52  # a shift of so many keeps weekdays, and seasons nearly
_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)(?:-(\d\d)(?:([T ])(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?)?(?!\d)"
)
_YEAR = re.compile(r"(?<![\d.,])(1[89]\d\d|20\d\d|21\d\d)(?![\d.,]*\d)")
_PATH = re.compile(r"(?:file:/*|~|[A-Za-z]:)?[/\\][^\s\"'<>|]*[/\\][^\s\"'<>|]*|[/~][\w.-]{3,}")
_ENDINGS = "jpe?g|png|heic|heif|webp|tiff?|gif|dng|nef|cr2|arw|mov|mp4|pdf|md|html?"
_FILE = re.compile(rf"[^\s\"'/\\]+\.(?:{_ENDINGS})\b", re.IGNORECASE)
_MAIL = re.compile(r"[^\s@<>\"']+@[^\s@<>\"']+")
_PHONE = re.compile(r"(?<![\w.-])\+?\d{2,5}(?:[ /]\d{2,5}){2,}(?![\w.-])")
_DEGREES = r"-?\d{1,3}(?:\.\d+)?"
_PAIR = re.compile(
    rf"-?\d{{1,3}}\.\d+\s*[,;]\s*-?\d{{1,3}}\.\d+|\"\s*{_DEGREES}\s*,\s*{_DEGREES}\s*\""
)
_FINE = re.compile(r"-?\d{1,3}\.\d{3,}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DIGEST = re.compile(r"\b[0-9a-f]{16,}\b")
_WORD = re.compile(r"p[0-9a-z]+\.c[0-9]+\b|\w+")
_UID = re.compile(rf"p[{ALPHABET}]{{5,}}(?:\.c[0-9]+)?")
_KEPT = re.compile(r"[0-9]+|q[0-9]{1,2}|[xX]?[0-9a-f]{0,2}")
_QUOTED = re.compile(r"\"([^\"]+)\"")
_BEGINS = frozenset(".!?:;\"'([{=<>|/\n\\")
_COORDINATES = frozenset(("latitude", "longitude", "lat", "lon", "south", "north", "west", "east"))
_NAMES = frozenset(("place", "address", "city", "region", "country", "camera"))
# Keys whose values are words of the form.
_WORDS = frozenset(("name", "tool", "backbone", "encoder", "hemisphere", "first_weekday", "fields"))
# Words of many names that say nothing by themselves; the rest of such a name goes.
_GENERIC = frozenset(
    (
        "the",
        "new",
        "old",
        "json",
        "north",
        "south",
        "east",
        "west",
        "upper",
        "lower",
        "great",
        "saint",
    )
)
_StandIn: TypeAlias = Callable[[re.Match[str]], str]
_UIDS = frozenset(("uid", "uids", "images", "anchors", "photos", "like"))


@cache
def safe_words() -> frozenset[str]:
    """Those of the file, and the keys of a trace."""
    source = files(__package__).joinpath("safe_words.txt").read_text("utf-8")
    words = {line for line in source.splitlines() if not line.startswith("#")}
    return frozenset(words | set(_keys(json_schema())))


def _keys(schema: Json) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for part in schema.values():
            yield from _keys(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _keys(part)


class Redaction:
    """One for all traces of an export: the same name becomes the same stand-in in all of them.

    ``names`` are words that must go even if they are common ones: names of the library's places,
    cameras and persons. ``weeks`` is the shift in time, by default a secret one.
    """

    def __init__(self, names: Iterable[str] = (), *, weeks: int | None = None) -> None:
        self._weeks = _secret_weeks() if weeks is None else weeks
        self._names: dict[str, str] = {}
        self._uids: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._episodes: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self._known_uids: set[str] = set()
        words = {word.casefold() for name in names for word in _WORD.findall(name)}
        self._forced = words - _GENERIC
        self._num_traces = 0
        self._today = date(2000, 1, 1)

    def trace(self, data: Mapping[str, Any]) -> dict[str, Json]:
        """What ``Trajectory.to_json`` gives, without what is the person's own."""
        self._num_traces += 1
        self._today = date.fromisoformat(data["today"])
        own = self._episode(data["episode_id"])
        self._learn("", data)
        told: dict[str, Json] = {self._key(k): self._value(k, value) for k, value in data.items()}
        told["schema"], told["status"] = data["schema"], data["status"]
        told["package_version"] = data["package_version"]
        told["episode_id"] = own
        for number, picture in enumerate(told["pictures"], start=1):
            path = f"/redacted/{self._num_traces}/{number}"
            coded = base64.b64encode(path.encode("ascii")).decode("ascii")
            picture.update(path=path, path_base64=coded, sha256="")
        return told

    def _learn(self, key: str, value: Json) -> None:
        """Notes UIDs, and names wherever a key or a capital letter says that they are some."""
        if isinstance(value, Mapping):
            for inner, item in value.items():
                self._learn_uid(inner)
                self._learn(inner, item)
        elif isinstance(value, list | tuple):
            for item in value:
                self._learn(key, item)
        elif isinstance(value, str):
            if key in _UIDS:
                self._known_uids.add(value)
            self._learn_uid(value)
            self._learn_names(key, value)

    def _learn_uid(self, text: str) -> None:
        for word in _WORD.findall(text):
            if _UID.fullmatch(word) and word not in safe_words():
                self._known_uids.add(word)

    def _learn_names(self, key: str, text: str) -> None:
        quoted = " | ".join(_QUOTED.findall(text)) if "place(" in text or "address" in text else ""
        for source, is_name in ((text, key in _NAMES), (quoted, bool(quoted))):
            for found in _WORD.finditer(source):
                word = found[0]
                told = is_name or _is_inside(source, found)
                if told and len(word) > 2 and word[0].isupper() and word.casefold() not in _GENERIC:
                    self._forced.add(word.casefold())

    def _value(self, key: str, value: Json) -> Json:
        if isinstance(value, str):
            return self._key(value) if key in _WORDS else self.text(value)
        if isinstance(value, Mapping):
            return {self._key(inner): self._value(inner, item) for inner, item in value.items()}
        if isinstance(value, list | tuple):
            if len(value) == 2 and all(type(one) is float for one in value):
                return [self._coordinate(one) for one in value]
            return [self._value(key, item) for item in value]
        if key in _COORDINATES and isinstance(value, int | float):
            return self._coordinate(value)
        if key == "year" and isinstance(value, int):
            return value + self._weeks // _WEEKS
        return value

    def _key(self, text: str) -> str:
        """A word of the form, not of a person: it stays even if it is part of a name, too."""
        return text if text.islower() and text in safe_words() else self.text(text)

    def text(self, text: str) -> str:
        """The words of a text that may stay, stand-ins for the others.

        What is more than a word comes first: files, times, coordinates. What is put in for them
        stands between marks that no text can hold, so that it is not replaced again.
        """
        text = "".join(letter for letter in text if letter not in (_OPEN, _CLOSE))
        stand_ins: list[tuple[re.Pattern[str], _StandIn]] = [
            (_ESCAPE, lambda found: found[0]),
            (_EPISODE, lambda found: self._episode(found[0])),
            (_MAIL, self._address),
            (_PHONE, lambda found: "0"),
            (_PATH, self._file),
            (_FILE, self._file),
            (_DIGEST, lambda found: "0"),
            (_ISO, self._moment),
        ]
        text = self._replaced(text, stand_ins)
        text = _outside(text, self._mentions)
        numbers: list[tuple[re.Pattern[str], _StandIn]] = [
            (_YEAR, self._year),
            (_PAIR, self._numbered),
            (_FINE, self._numbered),
        ]
        return self._words(self._replaced(text, numbers))

    @staticmethod
    def _replaced(text: str, stand_ins: Iterable[tuple[re.Pattern[str], _StandIn]]) -> str:
        for pattern, stand_in in stand_ins:
            sub = partial(pattern.sub, _marked(stand_in))
            text = _outside(text, sub)
        return text

    def _words(self, text: str) -> str:
        def common(part: str) -> str:
            return _WORD.sub(lambda found: self._word(part, found), part)

        return _outside(text, common).replace(_OPEN, "").replace(_CLOSE, "")

    def _word(self, text: str, found: re.Match[str]) -> str:
        word, folded = found[0], found[0].casefold()
        if word in self._known_uids:
            return self._uid(word)
        if _KEPT.fullmatch(word):
            return word
        is_common = folded in safe_words() and folded not in self._forced
        if is_common and (word.islower() or word.isupper() or not _is_inside(text, found)):
            return word
        return self._name(folded)

    def _uid(self, uid: str) -> str:
        parent, dot, crop = uid.partition(".")
        if parent not in self._uids:
            number = len(self._uids) + 1
            while (made := f"p{number:06d}") in self._known_uids or made in self._uids.values():
                number += 1_000
            self._uids[parent] = made
        return self._uids[parent] + dot + crop

    def _episode(self, episode_id: str) -> str:
        """The id itself tells when the question was asked, and with it the shift in time."""
        found = _EPISODE.fullmatch(episode_id)
        base, run = (found[1], found[2] or "") if found else (episode_id, "")
        return self._episodes.setdefault(base, f"redacted-{len(self._episodes) + 1:06d}") + run

    def _address(self, found: re.Match[str]) -> str:
        return self._name(found[0].casefold())

    def _name(self, folded: str) -> str:
        return self._names.setdefault(folded, f"name{len(self._names) + 1}")

    def _file(self, found: re.Match[str]) -> str:
        path = found[0]
        ending = re.search(r"\.[A-Za-z]{2,4}\Z", path)
        made = f"file{len(self._files) + 1}{ending[0].lower() if ending else ''}"
        return self._files.setdefault(path, made)

    def _moment(self, found: re.Match[str]) -> str:
        year, month, day, between, hour, minute, second = found.groups()
        try:
            day_of = date(int(year), int(month), int(day or 1))
            shifted = day_of + timedelta(weeks=self._weeks)
        except (ValueError, OverflowError):  # no date; its figures must go all the same
            return "0000-00-00"
        text = f"{shifted:%Y-%m}" if day is None else f"{shifted:%Y-%m-%d}"
        if hour is not None:
            text += f"{between}{hour}:{minute}" + (f":{second}" if second else "")
        return text

    def _mentions(self, text: str) -> str:
        """Times in words that a calendar fixes ("October 2008") in words for the shifted ones."""
        if not any(letter.isdigit() for letter in text):
            return text
        try:
            mentions = find_times(text, today=self._today)
        except TimeWordsError:
            return text  # a date that does not exist; years and words are looked at next
        for mention in reversed(mentions):
            if mention.when.intervals:
                told = _mark(self._shifted(mention.when))
                not_ = "not " if mention.negated else ""
                text = f"{text[: mention.start]}{not_}{told}{text[mention.end :]}"
        return text

    def _shifted(self, when: When) -> str:
        intervals = tuple((self._moved(start), self._moved(end)) for start, end in when.intervals)
        return replace(when, intervals=intervals, notes=(), text="", without=()).meaning

    def _moved(self, moment: datetime) -> datetime:
        is_open = moment.year in (datetime.min.year, datetime.max.year)
        return moment if is_open else moment + timedelta(weeks=self._weeks)

    def _year(self, found: re.Match[str]) -> str:
        return str(int(found[0]) + self._weeks // _WEEKS)

    def _numbered(self, found: re.Match[str]) -> str:
        return _NUMBER.sub(lambda one: str(self._coordinate(float(one[0]))), found[0])

    def _coordinate(self, value: float) -> float:
        text = self._numbers.setdefault(f"{value:.6f}", f"{(len(self._numbers) + 1) / 1000:.3f}")
        return float(text)


def _secret_weeks() -> int:
    years = 4 + secrets.randbelow(9)
    return (years * _WEEKS + secrets.randbelow(3) - 1) * secrets.choice((1, -1))


def _is_inside(text: str, found: re.Match[str]) -> bool:
    """Whether a word stands within a sentence, where only names have a capital letter."""
    before = text[: found.start()].rstrip(" \t*-")
    return bool(before) and before[-1] not in _BEGINS


def _mark(text: str) -> str:
    return f"{_OPEN}{text}{_CLOSE}"


def _marked(make: _StandIn) -> _StandIn:
    return lambda found: _mark(make(found))


def _outside(text: str, change: Callable[[str], str]) -> str:
    """``change`` for what stands outside of the marks."""
    parts = re.split(f"({_OPEN}[^{_CLOSE}]*{_CLOSE})", text)
    return "".join(part if part.startswith(_OPEN) else change(part) for part in parts)
