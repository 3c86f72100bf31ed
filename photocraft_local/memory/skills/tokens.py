"""How many tokens a short English text takes at most, without a tokenizer.

Vocabularies of language models hold the common words whole; here a word is a token for each four
letters, a digit or a mark is one, and any other character is as many as it has bytes.
"""

from __future__ import annotations

import re

_PIECE = re.compile(r"[A-Za-z]+|\S")


def estimated_tokens(text: str) -> int:
    """Rather too many than too few."""
    return sum(_tokens(piece) for piece in _PIECE.findall(text))


def _tokens(piece: str) -> int:
    return -(-len(piece) // 4) if piece[0].isascii() else len(piece.encode("utf-8", "replace"))
