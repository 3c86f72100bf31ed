"""Bytes of an old or careless page → text: byte-order mark, declared name, UTF-8, Windows-1252.

A declared name is the page's word: only encodings of the web are believed.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page may declare its encoding
_OF_THE_WEB = re.compile(
    r"utf-8|utf-16(-le|-be)?|cp(125\d|866|874|932|949|950)|iso8859-\d+|koi8-[ru]|mac-(roman|cyrillic)"
    r"|gb2312|gbk|gb18030|big5|big5hkscs|shift_jis|euc_(jp|kr)|iso2022_jp"
)
_LATIN = ("iso8859-1", "ascii")  # pages that say so mean Windows' own set, as browsers take it


def text_of(raw: bytes, declared: str = "") -> str:
    """Every byte becomes some character; wrong ones become U+FFFD. NULs are dropped."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace").replace("\0", "")
    found = _DECLARED.search(raw[:_HEAD])
    names = [declared, found[1].decode("ascii") if found else ""]
    for name in filter(None, map(_known, names)):
        if not name.startswith("utf-16") or b"\0" in raw[:_HEAD]:  # else it could not be read
            return raw.decode(name, "replace").replace("\0", "")
    try:
        return raw.decode("utf-8").replace("\0", "")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace").replace("\0", "")


def _known(name: str) -> str:
    """Python's name of an encoding of the web, "" for any other."""
    try:
        found = codecs.lookup(name).name if name else ""
    except (LookupError, ValueError):
        return ""
    if found in _LATIN:
        return "cp1252"
    return found if _OF_THE_WEB.fullmatch(found) else ""
