"""Words of a text as the index holds them, and a question as a query of that index.

Scripts that are written without blanks count character by character. Whatever a question holds,
it is only ever words: no operator of the index gets through.
"""

from __future__ import annotations

import re

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_EACH = re.compile(rf"([{_CJK}])")
_MAX_TERMS = 64


def spread(text: str) -> str:
    """The text as it is indexed."""
    return _EACH.sub(r" \1 ", text)


def query_of(text: str) -> str:
    """Any of the words; "" if there is none."""
    terms = dict.fromkeys(_WORD.findall(text.casefold()))
    return " OR ".join(f'"{term}"' for term in list(terms)[:_MAX_TERMS])
