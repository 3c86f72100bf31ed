"""A text cut into words, numbers and numeric dates, each with its place in the text.

Knows spelling and the shapes of numbers, not their meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from photocraft_local.timelang.lexicon import east_asian_words, fold

# {L}: letters and digits that make a longer word of a number; Chinese ones do not.
_LETTER = r"0-9A-Za-z_\u00aa-\u1fff"
_ALONE = r"(?<![{L}.,/-])"  # not inside a longer number, version or file name
_SHAPES = [  # the first that fits wins
    (
        "iso",
        r"(?<![{L}.-])\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z\b)?)?)?"
        r"(?![{L}]|-\d|[.:]\d)",
    ),
    ("ymd", r"(?<![{L}./-])\d{4}([/.])\d{1,2}\1\d{1,2}(?![{L}/-]|[.]\d)"),
    ("dmy", r"(?<![{L}./-])\d{1,2}([/.-])\d{1,2}\2(?:\d{4}|\d{2})(?![{L}/-]|[.]\d)"),
    ("dmyspaced", r"(?<![{L}./-])\d{1,2}\.\s\d{1,2}\.\s\d{4}(?![{L}])"),
    (
        "my",
        r"(?<![{L}./-])(?:\d{1,2}/|(?:0[1-9]|1[0-2])[.-])(?:19|20)\d{2}(?![{L}/-]|[.]\d)",
    ),
    ("compact", _ALONE + r"(?:19|20)\d{6}(?![{L}/-]|[.,]\d)"),
    (
        "clock",
        r"(?<![{L}.,:/-])\d{1,2}(?::\d{2}(?::\d{2})?\s?(?:[ap]\.?m\b\.?)?|\s?[ap]\.?m\b\.?|h\d{0,2}\b"
        r"|\.\d{2}\s?[ap]\.?m\b\.?|\s?h\s?\d{2}\b|\.\d{2}(?=\s?(?:Uhr|h\b)))(?![{L}:])",
    ),
    ("quarter", r"(?<![{L}])[qt][1-9](?![{L}])"),
    (
        "decade",
        r"(?<![{L}.,/])(?:['’]?\d0|(?:1[0-9]|20)\d0)(?:['’]?s|er(?:n|-jahre?n?)?)(?![{L}])"
        r"|(?<!\d)(?:19|20)?\d0年代",
    ),
    ("daymonth", r"(?<![{L}.,/-])\d{1,2}\.\s?\d{1,2}\.(?!\d|\s?\d{4})"),
    ("isoweek", r"(?<![{L}])\d{4}-?w\d{2}(?![{L}])"),
    ("zhyear", r"(?:\d{4}|[〇零一二三四五六七八九]{4})\s?年"),
    ("zhmonth", r"\d{1,2}\s?月(?:份)?"),
    ("zhday", r"(?:\d{1,2}\s?|[一二三]?十?[一二三四五六七八九]|[一二三]?十)[日号號]"),
    (
        "ordinal",
        r"(?<![{L}.,/])\d{1,2}(?:st|nd|rd|th|er|e|ere|ère|eme|ème|[ºª°]|\.(?=\s*[^\W\d_]|\s*[-–—]\s*\d))(?![{L}])",
    ),
    ("short", r"(?<![{L}])['’]\d{2}(?![{L}])"),
    (
        "number",
        r"(?<![{L}.,$€£#])\d+(?![{L}]|[.,:]\d|\s?[%°$€£]|-\d{3}(?!\d))"
        r"|(?<=[\u3400-\u9fff])\d+|\d+(?=\s?[\u3400-\u9fff])",
    ),
]


@dataclass(frozen=True, slots=True)
class Token:
    start: int
    end: int
    text: str
    key: str  # folded
    shape: str  # one of the names above, "word", "dash", "comma" or "other"


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    parts, groups = [], 0
    for name, shape in _SHAPES:
        groups += 1
        shape = shape.replace("{L}", _LETTER)
        if r"\1" in shape or r"\2" in shape:  # the shape's own group, renumbered
            groups += 1
            shape = re.sub(r"\\[12]", rf"\\{groups}", shape)
        parts.append(f"(?P<{name}>{shape})")
    chinese = "|".join(re.escape(word) for word in east_asian_words())
    parts.append(
        rf"(?P<word>{chinese}|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff])"
    )
    parts.append(r"(?P<junk>\d[\w.,:]*)|(?P<dash>[-–—~～/])|(?P<comma>[,，、])|(?P<other>\S)")
    return re.compile("|".join(parts), re.IGNORECASE)


def cut(text: str) -> list[Token]:
    """The tokens of a text, in order; spaces, apostrophes between words and underscores vanish
    or are of shape "other"."""
    return [
        Token(match.start(), match.end(), match[0], fold(match[0]), match.lastgroup or "other")
        for match in _pattern().finditer(text)
        if match[0] not in "'’`"
    ]
