"""Which words of a query name something that a network can see directly.

Owns two tables of words: data/objects.tsv for the detector's things (numbers of COCO's list) and
data/kinds.tsv for classes of the classifier, beside the classes' own names. A query that names
nothing else is decided by what was seen; beside other words its things are one part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.function_words import UNCHECKED_WORDS
from photocraft_local.embeddings.labels.glossary import words_of
from photocraft_local.embeddings.labels.label_space import NUM_OBJECTS, data_text, numbers_in

_NOTHING = "-"
_LONGEST = 4  # words of one entry
_ANIMALS = 398  # classes below it; the end of an animal's name says what kind it is
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Thing:
    """``rows`` of the thing part of a vector; any of them will do. ``exact``: the word means the
    thing itself, not a kind or a part of it."""

    rows: tuple[int, ...]
    exact: bool = True

    @property
    def detected(self) -> bool:
        """By the detector, which is the surer judge, not by the classifier."""
        return self.rows[0] < NUM_OBJECTS


@dataclass(frozen=True, slots=True)
class Things:
    """``alone``: no other word of the query says anything about how the photo looks."""

    named: tuple[Thing, ...] = ()
    alone: bool = False


def class_numbers() -> list[int]:
    """COCO's numbers of the things, ascending: what a row of the detector's output stands for."""
    single = (line.split("\t")[0] for line in _lines("objects.tsv"))
    return sorted({int(number) for number in single if number.isdigit()})


class ThingReader:
    """Words of ``silent`` say nothing of how a photo looks."""

    def __init__(self, silent: frozenset[str]) -> None:
        self._silent = silent | UNCHECKED_WORDS

    def read(self, english: str) -> Things:
        """The things that an English query names, each once."""
        named: dict[tuple[int, ...], Thing] = {}
        rest = False
        for phrase, thing in self._found(words_of(english)):
            if thing is None or not thing.rows:
                rest |= any(word not in self._silent for word in phrase)
            else:
                named.setdefault(thing.rows, thing)
        things = tuple(named.values())
        # Two judges have two scales: their words together are weighed like other words.
        alike = len({thing.detected for thing in things}) == 1
        alone = alike and not rest and all(thing.exact for thing in things)
        return Things(things, alone)

    @property
    def vocabulary(self) -> set[str]:
        """Every single word that the tables use to name a thing."""
        return {word for phrase, thing in self._table.items() if thing.rows for word in phrase}

    def _found(self, words: Sequence[str]) -> Iterator[tuple[Phrase, Thing | None]]:
        """The longest entry at each place, or the one word that has none."""
        at = 0
        while at < len(words):
            for count in range(min(_LONGEST, len(words) - at), 0, -1):
                phrase = tuple(words[at : at + count])
                entries = (self._table[form] for form in _forms(phrase) if form in self._table)
                thing = next(entries, None)
                if thing is not None or count == 1:
                    yield phrase, thing
                    at += count
                    break

    @cached_property
    def _table(self) -> dict[Phrase, Thing]:
        """The first entry of a phrase wins."""
        table: dict[Phrase, Thing] = {}
        objects = list(_objects())
        exact = [entry for entry in objects if entry[1].exact and entry[1].rows]
        others = [entry for entry in objects if not (entry[1].exact and entry[1].rows)]
        for words, thing in (*exact, *_kinds(), *_classes(), *others):
            phrase = tuple(words_of(words))
            if phrase and not (len(phrase) == 1 and phrase[0] in self._silent):
                table.setdefault(phrase, thing)
        return table


def _objects() -> Iterator[tuple[str, Thing]]:
    rows = {number: row for row, number in enumerate(class_numbers())}
    for line in _lines("objects.tsv"):
        number, *columns = line.split("\t")
        found = () if number == _NOTHING else tuple(rows[int(part)] for part in number.split("|"))
        for exact, column in zip((True, False), columns, strict=False):
            for words in column.split("|"):
                yield words, Thing(found, exact)


def _kinds() -> Iterator[tuple[str, Thing]]:
    for line in _lines("kinds.tsv"):
        numbers, column = line.split("\t")
        if numbers != _NOTHING:
            for words in column.split("|"):
                yield words, _of_classes(numbers_in(numbers))


def _classes() -> Iterator[tuple[str, Thing]]:
    """Each class by its name; animals also by the last word of it, with all that end so."""
    names = json.loads(sources.CLASS_NAMES.checked().read_bytes())
    no_kind = {words for line in _lines("kinds.tsv") if line.startswith(_NOTHING)
               for words in line.split("\t")[1].split("|")}  # fmt: skip
    same: dict[str, list[int]] = {}
    ends: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        same.setdefault(name.lower(), []).append(number)
        if number < _ANIMALS and name.lower() not in no_kind:
            ends.setdefault(name.lower().split()[-1], []).append(number)
    for table in (same, ends):
        for name, numbers in table.items():
            yield name, _of_classes(numbers)


def _of_classes(numbers: Iterable[int]) -> Thing:
    return Thing(tuple(NUM_OBJECTS + number for number in numbers))


def _forms(phrase: Phrase) -> Iterator[Phrase]:
    """The phrase as it stands, then with the plural of its last word taken off."""
    yield phrase
    word = phrase[-1]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us")):
        yield (*phrase[:-1], word[:-1])
        if word.endswith("es"):
            yield (*phrase[:-1], word[:-2])
        if word.endswith("ies"):
            yield (*phrase[:-1], word[:-3] + "y")
        if word.endswith("ves"):
            yield (*phrase[:-1], word[:-3] + "f")


def _lines(name: str) -> list[str]:
    return [line for line in data_text(name).splitlines() if line and not line.startswith("#")]
