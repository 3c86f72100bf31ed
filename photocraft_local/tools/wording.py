"""Whether the words of one text stand in another: how a condition is traced to a question.

Words only, in whatever form they are bent; it knows no synonym and translates nothing.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\d+|[^\W\d_]+")
_SMALL_WORDS = """
a an the of in on at to by for from with and or not no is are was were my our this that any some
photo photos picture pictures
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_LEAST_STEM = 3  # letters
_MOST_ENDING = 3


def meaning_words(text: str) -> frozenset[str]:
    """Case-folded words and numbers, without those that say nothing of a photo."""
    found = _WORD.findall(unicodedata.normalize("NFC", text).casefold())
    return frozenset(word.lstrip("0") or word for word in found) - _SMALL


def says(text: str, words: str) -> bool:
    """Whether each word of ``words`` stands in ``text``, "dogs" for "dog", too. False for none."""
    there, wanted = meaning_words(text), meaning_words(words)
    return bool(wanted) and all(any(_alike(one, other) for other in there) for one in wanted)


def said(text: str, words: str) -> frozenset[str]:
    """The words of ``text`` that ``words`` say."""
    wanted = meaning_words(words)
    return frozenset(
        one for one in meaning_words(text) if any(_alike(one, other) for other in wanted)
    )


def _alike(one: str, other: str) -> bool:
    """The same but for an ending; numbers only where they are the same."""
    short, long = sorted((one, other), key=len)
    if short == long or short.isdigit() or long.isdigit():
        return short == long
    is_ending = len(long) - len(short) <= _MOST_ENDING and len(short) >= _LEAST_STEM
    return is_ending and long.startswith(short)
