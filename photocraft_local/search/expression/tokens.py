"""Text of a filter → tokens. Fast on the good path; positions are found only for an error."""

from __future__ import annotations

import re

from photocraft_local.errors import FilterSyntaxError

MAX_LENGTH = 20_000  # characters
# A name or a number is any run of word characters, dots and minuses, so that most tokens need
# one look; what such a run means, and whether it means anything, the parser decides.
_TOKEN = re.compile(
    r"""[\w.\-]+ | "[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\\\n]*(?:\\.[^'\\\n]*)*' | [=!<>]= | \S""",
    re.VERBOSE,
)
_find_tokens = _TOKEN.findall
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def tokens_of(text: str) -> list[str]:
    """The tokens, then an empty one. Raises FilterSyntaxError for a text of excessive length."""
    if len(text) > MAX_LENGTH:
        raise FilterSyntaxError(
            f"the filter has {len(text)} characters, at most {MAX_LENGTH} are read",
            position=MAX_LENGTH,
            hint="save a set of photos under a name and search within it",
        )
    tokens: list[str] = _find_tokens(text)
    tokens.append("")
    return tokens


def position_of(text: str, index: int) -> int:
    """Character offset of token ``index``; the end of the text past the last."""
    for at, match in enumerate(_TOKEN.finditer(text)):
        if at == index:
            return match.start()
    return len(text.rstrip())


def unquoted(token: str) -> str:
    """The value of a text token; escapes are JSON's, and ``\\'``."""
    body = token[1:-1]
    if "\\" not in body:
        return body
    return _ESCAPE.sub(_unescaped, body)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 5:
        char = chr(int(code[1:], 16))
        return char if not 0xD800 <= ord(char) < 0xE000 else "\N{REPLACEMENT CHARACTER}"
    return _ESCAPES.get(code, code)
