"""Reads a query: which words the encoder can use, in English, and which it cannot.

The sentence model was trained on English; a word that it does not know falls into meaningless
pieces and would be searched as noise. So each word is either English (in the model's
vocabulary or the class texts, or made of such words), or translated by the glossary, or named
as not understood.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from photocraft_local.embeddings.labels.glossary import (
    LANGUAGES,
    MAX_WORDS,
    SILENT,
    Glossary,
    load_glossary,
    without_accents,
    words_of,
)
from photocraft_local.embeddings.labels.label_space import data_text

Rank = Callable[[str], int | None]  # a word's place in the vocabulary, frequent ones first

_COMMON = 9000  # a word of a better rank is taken as English even if the glossary has it
_HAN = re.compile(r"[\u3400-\u9fff]+")
_LATIN_SPACED = ("de", "fr", "es")
_STOP_WORDS = """
a an the of in on at with and or to from by for into onto is are was were be being been it its
this that these those there here some any his her their our my your one s t as while who which
very photo photos picture pictures image images pic pics photograph photographs shot shots show
showing find me all i we you he she they
"""
_STOP = frozenset(_STOP_WORDS.split())
_FOREIGN = {  # function words of languages that the glossary does not have
    "it": "il gli della dello delle degli sulla sul nella nel di che sono una",
    "pt": "um uma com na em não dos",
    "nl": "het een met op aan zijn bij",
    "sv": "och på ett med av",
    "pl": "i w na z do się",
}
_ENGLISH_ENDINGS = "s es ed d ing er ers y ly ist ists ness able less like ful est ish istic"
_SUFFIXES = tuple(_ENGLISH_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """``english`` is what to embed, empty if nothing of the query can be used."""

    english: str
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """One word or phrase of the query. ``english`` is None where it is not understood."""

    original: str
    english: str | None
    silent: bool = False


class QueryReader:
    """``rank`` asks the sentence model's vocabulary, ``lexicon`` holds further English words."""

    def __init__(self, rank: Rank, lexicon: frozenset[str]) -> None:
        self._rank = rank
        own = data_text("english.txt").splitlines()
        self._lexicon = lexicon | {word for word in own if not word.startswith("#")}
        self._glossary: Glossary = load_glossary()

    def read(self, text: str) -> ReadQuery:
        reads: list[_Read] = []
        for part, is_han in _parts(text):
            reads += self._read_han(part) if is_han else self._read_spaced(part)
        useful = any(read.english and not read.silent for read in reads)
        english = " ".join(read.english for read in reads if read.english) if useful else ""
        return ReadQuery(
            english,
            _unique(read.original for read in reads if read.english and not read.silent),
            _unique(read.original for read in reads if read.english is None),
        )

    # Words between spaces

    def _read_spaced(self, text: str) -> list[_Read]:
        words = words_of(text)
        shown = _originals(text)
        language = self._language(words)
        reads: list[_Read] = []
        at = 0
        while at < len(words):
            count, english = self._translate(words, at, language)
            original = " ".join(shown[at : at + count])
            if english is None:
                english = self._english(words[at], foreign=language)
            if english == SILENT:
                reads.append(_Read(original, "", silent=True))
            else:
                reads.append(_Read(original, english, silent=words[at] in _STOP and count == 1))
            at += count
        return reads

    def _language(self, words: Sequence[str]) -> str:
        """The language that most words speak for; "en" unless a word is plainly no English."""
        scores = dict.fromkeys((*_LATIN_SPACED, *_FOREIGN), 0.0)
        for word in words:
            plain = 0.1 if self._plainly_english(word) else 1.0
            for language in _LATIN_SPACED:
                if self._glossary.exact(language, [word]) is not None:
                    scores[language] += plain
                elif plain == 1.0 and self._glossary.loose(language, [word]) is not None:
                    scores[language] += 0.0 if self._known(word) else 0.9
            for language, function_words in _FOREIGN.items():
                if word in function_words.split():
                    scores[language] += plain
        best = max(scores, key=lambda language: scores[language])
        return best if scores[best] >= 0.8 else "en"

    def _translate(self, words: Sequence[str], at: int, language: str) -> tuple[int, str | None]:
        """(number of words, English) of the longest glossary entry that starts there."""
        if language not in _LATIN_SPACED:
            return 1, None
        others = [other for other in _LATIN_SPACED if other != language]
        for count in range(min(MAX_WORDS, len(words) - at), 0, -1):
            phrase = words[at : at + count]
            for candidate in (language, *others):
                if candidate != language and self._plainly_english(phrase[0]):
                    continue
                english = self._glossary.exact(candidate, phrase)
                if english is None and not (count == 1 and self._known(phrase[0])):
                    english = self._glossary.loose(candidate, phrase)
                if english is not None:
                    return count, english
        return 1, None

    def _english(self, word: str, *, foreign: str) -> str | None:
        """The word if the model can use it. Within a foreign sentence only words that the
        class texts have count, and none in a language without a glossary."""
        if foreign == "en":
            return word if self._known(word) else None
        if word.isdigit():
            return word
        return word if foreign in LANGUAGES and word in self._lexicon else None

    def _plainly_english(self, word: str) -> bool:
        rank = self._rank(word)
        return word in _STOP or word in self._lexicon or (rank is not None and rank < _COMMON)

    def _base(self, word: str) -> bool:
        return word in self._lexicon or self._rank(word) is not None

    def _known(self, word: str) -> bool:
        if not word.isascii():
            plain = without_accents(word)
            return plain.isascii() and plain in self._lexicon
        return self._base(word) or self._derived(word) or self._compound(word)

    def _derived(self, word: str) -> bool:
        """A known word with an English ending, e.g. skiers, petting, foggy, curvy, berries."""
        for suffix in _SUFFIXES:
            stem = word.removesuffix(suffix)
            if stem == word or len(stem) < 3:
                continue
            stems = [stem, stem + "e"]
            if stem[-1] == stem[-2]:
                stems.append(stem[:-1])
            if stem[-1] == "i":
                stems.append(stem[:-1] + "y")
            if any(len(base) >= 3 and self._base(base) for base in stems):
                return True
        return False

    def _compound(self, word: str) -> bool:
        """Two common words written as one, e.g. skateboard, stoplight, cellphone."""
        return any(
            self._plainly_english(word[:cut])
            and (self._plainly_english(word[cut:]) or self._derived(word[cut:]))
            for cut in range(3, len(word) - 2)
        )

    # Chinese, which has no spaces

    def _read_han(self, text: str) -> list[_Read]:
        table = self._glossary.entries["zh"]
        reads: list[_Read] = []
        unknown = ""
        at = 0
        while at < len(text):
            ends = range(min(len(text), at + 8), at, -1)
            end = next((end for end in ends if (text[at:end],) in table), None)
            if end is None:
                unknown += text[at]
                at += 1
                continue
            if unknown:
                reads.append(_Read(unknown, None))
                unknown = ""
            english = table[text[at:end],]
            silent = english == SILENT
            reads.append(_Read(text[at:end], "" if silent else english, silent=silent))
            at = end
        return [*reads, _Read(unknown, None)] if unknown else reads


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Runs of Han characters and what stands between them. Beside kana, Han is Japanese."""
    text = unicodedata.normalize("NFC", text)
    if re.search(r"[\u3040-\u30ff]", text):
        yield text, False
        return
    at = 0
    for match in _HAN.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        yield match.group(), True
        at = match.end()
    if at < len(text):
        yield text[at:], False


def _originals(text: str) -> list[str]:
    """The words as they were typed, beside ``words_of``."""
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text))


def _unique(words: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
