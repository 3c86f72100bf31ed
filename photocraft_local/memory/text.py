"""Text that is safe inside a prompt: JSON that no model tokenizer reads as a control mark.

Angle brackets would let ``<|im_end|>`` in a caption close a message; invisible and
direction-changing characters would hide words from the person who reads a trace.
"""

from __future__ import annotations

import json
import unicodedata

from photocraft_local.records import Json

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def prompt_json(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces, every risky character as ``\\uXXXX``."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if text.isascii() and "<" not in text and ">" not in text:
        return text
    return "".join(_escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char not in "<>" and (char.isascii() or unicodedata.category(char) not in _HIDDEN):
        return char
    return "".join(f"\\u{unit:04x}" for unit in _utf16(char))


def _utf16(char: str) -> list[int]:
    raw = char.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]


def shortened(text: str, limit: int = 120) -> str:
    """At most ``limit`` characters; a cut is shown."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
