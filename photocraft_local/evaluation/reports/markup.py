"""HTML and SVG from texts that nobody trusts: what is not ``Markup`` is always escaped.

Control and direction characters are written out, so that no text reorders or hides another.
"""

from __future__ import annotations

import html
import re
import unicodedata

_NAME = re.compile(r"[A-Za-z][\w:-]*")
_VOID = frozenset({"meta", "img", "br"})
_WRITTEN_OUT = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class Markup(str):
    """Made by ``tag`` alone."""

    __slots__ = ()


def tag(_name: str, *children: str, **attributes: object) -> Markup:
    """An element. ``class_`` is the attribute ``class``, ``x_y`` is ``x-y``; None leaves out."""
    given = "".join(
        f' {_attribute(name)}="{escaped(str(value), is_line=True)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if _name in _VOID:
        return Markup(f"<{_name}{given}>")
    return Markup(f"<{_name}{given}>{joined(*children)}</{_name}>")


def joined(*children: str) -> Markup:
    return Markup("".join(c if isinstance(c, Markup) else escaped(c) for c in children))


def escaped(text: str, *, is_line: bool = False) -> str:
    """Line ends and tabs stay but on a line of an attribute."""
    kept = "" if is_line else "\n\t"
    shown = text
    if not (text.isascii() and text.isprintable()):
        shown = "".join(letter if letter in kept else _letter(letter) for letter in text)
    return html.escape(shown, quote=True)


def _letter(letter: str) -> str:
    if unicodedata.category(letter) not in _WRITTEN_OUT:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def _attribute(name: str) -> str:
    plain = name.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(plain):
        raise ValueError(f"no name of an attribute: {name!r}")
    return plain
