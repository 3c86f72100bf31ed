"""Reads a query: which words the encoder can use, in English, and which it cannot.

The sentence model was trained on English; a word that it does not know falls into meaningless
pieces and would be searched as noise. So each word is either English (in the model's
vocabulary or the class texts, or made of such words), or translated by the glossary, or named
as not understood. A misspelt word for a thing is read as what it must have meant, and told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from photocraft_local.embeddings.labels.function_words import (
    ALSO_ENGLISH,
    FOREIGN,
    FOREIGN_ALONE,
    SILENT_WORDS,
)
from photocraft_local.embeddings.labels.glossary import (
    LANGUAGES,
    MAX_WORDS,
    SILENT,
    Glossary,
    load_glossary,
    without_accents,
)
from photocraft_local.embeddings.labels.label_space import data_text
from photocraft_local.embeddings.labels.spelling import Speller

Span = tuple[int, int]
Rank = Callable[[str], int | None]  # a word's place in the vocabulary, frequent ones first

_COMMON = 9000  # a word of a better rank is taken as English even if the glossary has it
_WORD = re.compile(r"[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[^\W_])+")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_KANA = re.compile(r"[\u3040-\u30ff]")  # beside kana, Han is Japanese
_LONGEST_HAN = 8
_LATIN_SPACED = ("de", "fr", "es")
_ENGLISH_ENDINGS = "s es ed d ing er ers y ly ist ists ness able less like ful est ish istic"
_PREFIXES = ("un", "re", "non", "over", "mid")
_SUFFIXES = tuple(_ENGLISH_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """``english`` is what to embed, empty if nothing of the query can be used."""

    english: str
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """One word or phrase of the query, at text[start:end]. ``english`` is None where it is not
    understood; ``silent`` words carry nothing visual."""

    start: int
    end: int
    english: str | None
    silent: bool = False
    corrected: bool = False

    def told(self, text: str) -> str:
        """The words as they are in the query, and what they were taken for if misspelt."""
        words = text[self.start : self.end]
        return f"{words} (read as {self.english})" if self.corrected else words


class QueryReader:
    """``rank`` asks the sentence model's vocabulary, ``lexicon`` holds further English words,
    ``names`` those that a misspelt word may have meant."""

    def __init__(
        self, rank: Rank, lexicon: frozenset[str], names: Collection[str] = frozenset()
    ) -> None:
        self._rank = rank
        self._speller = Speller(names)
        own = data_text("english.txt").splitlines()
        self._lexicon = lexicon | {word for word in own if not word.startswith("#")}
        self._glossary: Glossary = load_glossary()

    def read(self, text: str) -> ReadQuery:
        text = unicodedata.normalize("NFC", text)
        spans = [match.span() for match in _WORD.finditer(text)]
        language = self._language([text[start:end].casefold() for start, end in spans])
        reads = self._read_all(text, spans, language)
        useful = [read for read in reads if read.english and not read.silent]
        english = _rewritten(text, reads, keep_gaps=language == "en") if useful else ""
        return ReadQuery(
            english,
            tuple(dict.fromkeys(read.told(text) for read in useful)),
            tuple(
                dict.fromkeys(text[read.start : read.end] for read in reads if read.english is None)
            ),
        )

    def _read_all(self, text: str, spans: Sequence[Span], language: str) -> list[_Read]:
        words = [text[start:end].casefold() for start, end in spans]
        reads: list[_Read] = []
        at = 0
        while at < len(words):
            start = spans[at][0]
            if _HAN.fullmatch(words[at]) and not _KANA.search(text):
                reads += self._read_han(words[at], start)
                at += 1
                continue
            count, english = self._translate(words, at, language)
            if english is None:
                english = self._english(words[at], foreign=language)
            written = text[spans[at][0] : spans[at][1]]
            meant = None
            if count == 1 and language == "en" and written.islower():  # no name of a person
                meant = self._meant(words[at], english)
            corrected = meant is not None
            english = meant if corrected else english
            silent = english == SILENT or (count == 1 and words[at] in SILENT_WORDS)
            english = "" if english == SILENT else english
            reads.append(_Read(start, spans[at + count - 1][1], english, silent, corrected))
            at += count
        return reads

    def _language(self, words: Sequence[str]) -> str:
        """The language that speaks for more words than English does, else "en". It must have
        at least one word that is not plainly English too, as "kind" is."""
        if len(words) == 1 and words[0] in FOREIGN_ALONE:
            return next(one for one in _LATIN_SPACED if self._glossary.exact(one, words))
        best, best_score = "en", 0.0
        for language in (*_LATIN_SPACED, *FOREIGN):
            own = [word for word in words if self._belongs(word, language)]
            certain = sum(not self._plainly_english(word) for word in own)
            english = sum(self._plainly_english(word) for word in words if word not in own)
            score = len(own) + certain
            if certain and len(own) > english and score > best_score:
                best, best_score = language, score
        return best

    def _belongs(self, word: str, language: str) -> bool:
        if language in FOREIGN:
            return word in FOREIGN[language].split()
        if self._glossary.exact(language, [word]) is not None:
            return True
        return not self._known(word) and self._glossary.loose(language, [word]) is not None

    def _translate(self, words: Sequence[str], at: int, language: str) -> tuple[int, str | None]:
        """(number of words, English) of the longest glossary entry that starts there: of the
        query's own language, or of another one if English does not know the word."""
        if language in FOREIGN:
            return 1, None
        for count in range(min(MAX_WORDS, len(words) - at), 0, -1):
            phrase = words[at : at + count]
            for candidate in sorted(_LATIN_SPACED, key=lambda other: other != language):
                if candidate != language and all(map(self._known, phrase)):
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

    def _meant(self, word: str, english: str | None) -> str | None:
        """What a misspelt word must have meant. Two common words written as one are a word, but
        a worse reading than a thing that is one slip away, as in "skatebord"."""
        if english is None:
            return self._speller.nearest(word)
        if english != word or self._base(word) or self._derived(word):
            return None
        near = self._speller.nearest(word, most=1)
        return None if near == word else near

    def _plainly_english(self, word: str) -> bool:
        if word in SILENT_WORDS or word in self._lexicon:
            return True
        rank = self._rank(word)
        return rank is not None and rank < _COMMON and not self._foreign_function_word(word)

    def _foreign_function_word(self, word: str) -> bool:
        """As "und" or "les", which English texts hold too, but not as English."""
        tables = (self._glossary.entries[language] for language in _LATIN_SPACED)
        return word not in ALSO_ENGLISH and any(t.get((word,)) == SILENT for t in tables)

    def _base(self, word: str) -> bool:
        return word in self._lexicon or self._rank(word) is not None

    def _known(self, word: str) -> bool:
        if not word.isascii():
            plain = without_accents(word)
            return plain.isascii() and plain in self._lexicon
        return self._base(word) or self._derived(word) or self._compound(word)

    def _derived(self, word: str) -> bool:
        """A known word with an English ending or prefix, e.g. skiers, petting, foggy, untied."""
        for prefix in _PREFIXES:
            stem = word.removeprefix(prefix)
            if stem != word and len(stem) > 3 and (self._base(stem) or self._derived(stem)):
                return True
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

    def _read_han(self, text: str, start: int) -> list[_Read]:
        """Chinese has no spaces: the longest entry at each place; the rest is not understood."""
        table = self._glossary.entries["zh"]
        reads: list[_Read] = []
        at = unknown = 0
        while at < len(text):
            ends = range(min(len(text), at + _LONGEST_HAN), at, -1)
            end = next((end for end in ends if (text[at:end],) in table), None)
            if end is None:
                at += 1
                continue
            if unknown < at:
                reads.append(_Read(start + unknown, start + at, None))
            english = table[text[at:end],]
            silent = english == SILENT
            reads.append(_Read(start + at, start + end, "" if silent else english, silent))
            at = unknown = end
        if unknown < len(text):
            reads.append(_Read(start + unknown, start + len(text), None))
        return reads


def _rewritten(text: str, reads: Sequence[_Read], *, keep_gaps: bool) -> str:
    """The text with each read word replaced by its English; what is between the words of an
    English query (hyphens, commas) stays."""
    parts: list[str] = []
    at = 0
    for read in reads:
        parts.append((keep_gaps and text[at : read.start]) or " ")
        parts.append(read.english or "")
        at = read.end
    parts.append(text[at:] if keep_gaps else "")
    return " ".join("".join(parts).split())
