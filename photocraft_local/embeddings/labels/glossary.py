"""The label dictionary: words of four languages → English, and which language a query is in.

Owns data/glossary.tsv and the regular endings of German, French and Spanish words. Knows
nothing of the sentence model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from photocraft_local.embeddings.labels.label_space import data_text

LANGUAGES = ("de", "fr", "es", "zh")
MAX_WORDS = 4  # of one entry, e.g. "tienda de campaña"
SILENT = "-"  # stands for a word that carries nothing visual
_ENDINGS = {
    "de": ("e", "n", "en", "er", "es", "em", "s"),
    "fr": ("s", "x", "e", "es"),
    "es": ("s", "es"),
}
_LINKS = ("", "s", "n", "en", "es", "e")  # between the parts of a German compound
_SHORTEST_PART = 3
_WORDS = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, case folded (ß is ss), accents kept."""
    return _WORDS.findall(unicodedata.normalize("NFC", text).casefold())


def without_accents(word: str) -> str:
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Glossary:
    """Entries by language; a Chinese entry is one "word" of any length."""

    entries: dict[str, dict[Phrase, str]]
    folded: dict[str, dict[Phrase, str]] = field(repr=False)  # the same without accents

    def exact(self, language: str, phrase: Sequence[str]) -> str | None:
        """The English for the phrase as it stands, or with a regular ending taken off."""
        table = self.entries[language]
        for form in _forms(language, tuple(phrase)):
            if form in table:
                return table[form]
        return None

    def loose(self, language: str, phrase: Sequence[str]) -> str | None:
        """As ``exact`` but for accents that were not typed, and for German compounds."""
        table = self.folded[language]
        for form in _forms(language, tuple(phrase)):
            if form in table:
                return table[form]
        return self._compound(phrase[0]) if language == "de" and len(phrase) == 1 else None

    def _compound(self, word: str) -> str | None:
        for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
            last = self.exact("de", [word[cut:]])
            if last is None or last == SILENT:
                continue
            for link in _LINKS:
                first = self.entries["de"].get((word[:cut].removesuffix(link),))
                if first and first != SILENT and word[:cut].endswith(link):
                    return f"{first} {last}"
        return None


def _forms(language: str, phrase: Phrase) -> Iterator[Phrase]:
    yield phrase
    word = phrase[-1]
    for ending in _ENDINGS.get(language, ()):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_PART:
            yield (*phrase[:-1], word[: -len(ending)])
    if language == "es":
        stem = word.removesuffix("s")
        if stem.endswith("a") and len(stem) > _SHORTEST_PART:
            yield (*phrase[:-1], stem[:-1] + "o")


@cache
def load_glossary() -> Glossary:
    """The table of data/glossary.tsv; the first line that gives a form wins."""
    entries: dict[str, dict[Phrase, str]] = {language: {} for language in LANGUAGES}
    folded: dict[str, dict[Phrase, str]] = {language: {} for language in LANGUAGES}
    for line in data_text("glossary.tsv").splitlines():
        if not line or line.startswith("#"):
            continue
        english, *columns = line.split("\t")
        for language, column in zip(LANGUAGES, columns, strict=True):
            for form in column.split("|"):
                phrase = tuple(words_of(form))
                entries[language].setdefault(phrase, english)
                for plain in _plain(language, phrase):
                    folded[language].setdefault(plain, english)
    return Glossary(entries, folded)


def _plain(language: str, phrase: Phrase) -> set[Phrase]:
    plain = {tuple(without_accents(word) for word in phrase)}
    if language == "de":
        umlauts = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
        plain.add(tuple(word.translate(umlauts) for word in phrase))
    return plain
