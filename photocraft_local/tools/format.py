"""Facts for a model: plain values, fixed float formats, untrusted words made safe.

Camera names, addresses and file names come from strangers' files: they may hold line breaks,
control and invisible characters, fences or a chat template's special tokens. ``safe_text``
turns all of these into something visible and harmless.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime

from photocraft_local.records import Json, Photo

MAX_TEXT = 120  # characters of one untrusted value

_DECIMALS = 5  # of any float in an observation; finer roundings are made by the helpers
_JOINERS = "\u200c\u200d"  # needed inside words of some scripts and inside emoji
_TAG = re.compile(r"<(?![\s=\d\"'(-]|$)")  # "<" that opens a tag or token, not a comparison
_BRACKETED = re.compile(r"\[(/?[A-Z_]{2,})\]")  # [INST], [/INST], [SYSTEM_PROMPT] …


def stable(value: Json) -> Json:
    """``value`` with string keys, plain containers and rounded floats (no nan, no -0.0), so that
    equal facts become equal bytes of JSON."""
    if isinstance(value, float):
        return _rounded(value, _DECIMALS)
    if isinstance(value, Mapping):
        return {str(key): stable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [stable(item) for item in value]
    return value


def safe_text(text: str, limit: int = MAX_TEXT) -> str:
    """Untrusted text on one line of at most ``limit`` characters.

    White space of any kind becomes one blank; control, invisible, private and unpaired
    surrogate characters become ``\\u{hex}``; back quotes, and "<" where it opens a tag, become
    look-alikes, so that no fence and no special token (``<|im_end|>``, ``[INST]``) survives.
    """
    shown = "".join(_safe_char(char) for char in text[: 4 * limit])
    shown = _TAG.sub("‹", " ".join(shown.split())).replace("`", "ˋ")
    shown = _BRACKETED.sub(r"(\1)", shown)
    if len(shown) <= limit and len(text) <= 4 * limit:
        return shown
    return shown[: limit - 1].rstrip() + "…"


def _safe_char(char: str) -> str:
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    hidden = category in ("Cc", "Cf", "Cs", "Co", "Cn") and char not in _JOINERS
    if hidden or "\U000e0100" <= char <= "\U000e01ef":  # selectors that can carry hidden words
        return f"\\u{{{ord(char):x}}}"
    return char


def score_value(score: float) -> float:
    """A calibrated score, three decimals."""
    return _rounded(score, 3)


def degrees(value: float) -> float:
    """Latitude or longitude, five decimals (about a metre)."""
    return _rounded(value, 5)


def kilometres(value: float) -> float:
    """A distance, two decimals."""
    return _rounded(value, 2)


def time_text(moment: datetime | None) -> str:
    """Wall-clock time to the second, ``-`` for none."""
    return "-" if moment is None else moment.replace(microsecond=0, tzinfo=None).isoformat()


def photo_row(photo: Photo, **facts: Json) -> dict[str, Json]:
    """One photo of a result: UID, wall-clock time, address (``-`` for none) and ``facts``."""
    return {
        "uid": photo.uid,
        "time": time_text(photo.taken.local if photo.taken else None),
        "place": safe_text(photo.place.address()) if photo.place else "-",
        **facts,
    }


def counted(number: int, noun: str) -> str:
    """``1 photo``, ``2 photos``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listing(words: Sequence[str], most: int = 20) -> str:
    """``a, b, c`` with a count of what was left out."""
    shown = ", ".join(words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown


def _rounded(value: float, decimals: int) -> float:
    if not math.isfinite(value):
        raise ValueError(f"a fact must be finite, got {value}")
    return round(float(value), decimals) + 0.0  # + 0.0 turns -0.0 into 0.0
