"""What a page's reference to a picture leads to: a file inside the folder that was added, or the
reference's own bytes. Nothing on another machine is ever fetched, no other file is read.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

REMOTE = "pictures on other machines"
ABSENT = "pictures whose files are not there"
OUTSIDE = "pictures outside the folder"
BROKEN = "pictures that are broken"

_MAX_DATA = 40 << 20  # characters


class Beside:
    """Pictures of a page on disk. ``root`` is the folder that the person added."""

    def __init__(self, page: Path, root: Path) -> None:
        self._folder = page.parent
        self._root = root.resolve()

    def __call__(self, reference: str) -> bytes | Path | str:
        reference = reference.strip()
        if reference[:5].lower() == "data:":
            return _data(reference)
        try:
            parts = urlsplit(reference)
        except ValueError:
            return BROKEN
        if parts.netloc or (parts.scheme and parts.scheme != "file"):
            return REMOTE
        name = unquote_to_bytes(parts.path)
        if not name or b"\0" in name:
            return ABSENT
        # "file:" of another computer or an absolute path: only inside the folder
        path = self._folder / os.fsdecode(name)
        try:
            real = path.resolve()
            if not real.is_relative_to(self._root):
                return OUTSIDE
            return real if real.is_file() else ABSENT
        except OSError:
            return ABSENT


class Inside:
    """Pictures that a single-file page brings along, by address or Content-ID."""

    def __init__(self, parts: Mapping[str, Message], base: str) -> None:
        self._parts, self._base = parts, base

    def __call__(self, reference: str) -> bytes | Path | str:
        reference = reference.strip()
        if reference[:5].lower() == "data:":
            return _data(reference)
        try:
            whole = urljoin(self._base, reference)
        except ValueError:
            return BROKEN
        part = self._parts.get(reference) or self._parts.get(whole)
        if part is None:
            return REMOTE
        content = part.get_payload(decode=True)
        return content if isinstance(content, bytes) and content else BROKEN


def _data(reference: str) -> bytes | str:
    head, comma, body = reference.partition(",")
    if not comma or len(body) > _MAX_DATA:
        return BROKEN
    raw = unquote_to_bytes(body)
    if not head.lower().rstrip().endswith(";base64"):
        return raw or BROKEN
    try:
        return base64.b64decode(b"".join(raw.split())) or BROKEN
    except binascii.Error:
        return BROKEN
