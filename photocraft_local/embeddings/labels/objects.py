"""Which words of a query name something that the object detector can see.

Owns data/objects.tsv: words → numbers in COCO's list of things. A query that names nothing else
is decided by the detector; beside other words its things are one part of what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from photocraft_local.embeddings.labels.glossary import words_of
from photocraft_local.embeddings.labels.label_space import data_text

_NOTHING = "-"
_LONGEST = 4  # words of one entry
Phrase = tuple[str, ...]
Numbers = tuple[int, ...]  # rows of the detector's output; any of them will do


@dataclass(frozen=True, slots=True)
class Things:
    """``named``: the things of a query, each a choice of detector classes. ``alone``: no other
    word of the query says anything about how the photo looks."""

    named: tuple[Numbers, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    numbers: Numbers
    exact: bool  # the word means the thing itself, not a kind of it


def class_numbers() -> list[int]:
    """COCO's numbers of the things, ascending: what a row of the detector's output stands for."""
    single = (line.split("\t")[0] for line in _lines())
    return sorted({int(number) for number in single if number.isdigit()})


def things_in(english: str, silent: frozenset[str]) -> Things:
    """The things that an English query names; words of ``silent`` say nothing."""
    words = words_of(english)
    named: dict[Numbers, bool] = {}
    rest = False
    for phrase, entry in _entries_in(words):
        if entry is None:
            rest |= any(word not in silent for word in phrase)
        elif entry.numbers:
            named[entry.numbers] = named.get(entry.numbers, True) and entry.exact
        else:
            rest = True
    return Things(tuple(named), bool(named) and not rest and all(named.values()))


def _entries_in(words: Sequence[str]) -> Iterator[tuple[Phrase, _Entry | None]]:
    """The longest entry at each place, or the one word that has none."""
    table = _table()
    at = 0
    while at < len(words):
        for count in range(min(_LONGEST, len(words) - at), 0, -1):
            phrase = tuple(words[at : at + count])
            entry = next((table[form] for form in _forms(phrase) if form in table), None)
            if entry is not None or count == 1:
                yield phrase, entry
                at += count
                break


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


@cache
def _table() -> dict[Phrase, _Entry]:
    rows = {number: row for row, number in enumerate(class_numbers())}
    table: dict[Phrase, _Entry] = {}
    for line in _lines():
        number, *columns = line.split("\t")
        numbers = () if number == _NOTHING else tuple(rows[int(part)] for part in number.split("|"))
        for exact, column in zip((True, False), columns, strict=False):
            for form in filter(None, column.split("|")):
                table.setdefault(tuple(words_of(form)), _Entry(numbers, exact))
    return table


def _lines() -> list[str]:
    return [
        line for line in data_text("objects.tsv").splitlines() if line and not line.startswith("#")
    ]
