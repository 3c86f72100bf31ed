"""The process that opens strangers' files: one line of JSON in, one out, file by file.

A file that hangs or breaks a reader ends this process and nothing else: the kernel stops it
after so many seconds of CPU, or at so much memory. Run by reading.py.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from photocraft_local.errors import MissingExtraError, PageError, PhotoError
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.fingerprint import digest_file
from photocraft_local.knowledge.draft import Draft
from photocraft_local.knowledge.encodings import text_of
from photocraft_local.knowledge.pages import (
    MAX_FILE_BYTES,
    Page,
    PagePicture,
    from_ascii,
)
from photocraft_local.knowledge.references import ABSENT, BROKEN, Beside
from photocraft_local.knowledge.walk import kind_of
from photocraft_local.storage.atomic import write_atomically

TOO_SMALL = "pictures too small to show anything"
_LEAST_SIDE = 64  # px; icons, rules and counters of visits are smaller
_CHECK_SIDE = 32  # px: enough to see that a file can be decoded
_MEMORY = 4 << 30  # bytes of address space


class Gallery:
    """Pictures that can be decoded; what has no file of its own is written into ``folder``."""

    def __init__(self, folder: Path, max_pixels: int) -> None:
        self._folder, self._max_pixels = folder, max_pixels

    def take(self, picture: bytes | Path) -> PagePicture | str:
        path = picture if isinstance(picture, Path) else self._folder / "picture"
        if not isinstance(picture, Path):
            write_atomically(path, picture)
        raw = os.fsencode(path)
        try:
            decoded = decode_upright(raw, short_side=_CHECK_SIDE, max_pixels=self._max_pixels)
            digest = digest_file(raw)
        except PhotoError:
            return BROKEN
        except OSError:
            return ABSENT
        if min(decoded.width, decoded.height) < _LEAST_SIDE:
            return TOO_SMALL
        if not isinstance(picture, Path):
            path = path.rename(self._folder / digest)
        is_original = isinstance(picture, Path)
        return PagePicture(digest, decoded.width, decoded.height, os.fsencode(path), is_original)


def read(path: Path, root: Path, gallery: Gallery) -> Page:
    """Raises PageError, MissingExtraError."""
    kind = kind_of(path)
    draft = Draft(kind, gallery)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES[kind if kind in MAX_FILE_BYTES else "text"]:
            raise PageError("too-large", f"it has {size:,} bytes")
        _fill(path, root, draft)
    except OSError as exc:
        raise PageError("unreadable", exc.strerror or str(exc)) from exc
    except RecursionError as exc:
        raise PageError("too-deep", "it is nested too deeply") from exc
    except MemoryError as exc:
        raise PageError("too-large", "reading it takes too much memory") from exc
    page = draft.page()
    if not page.passages:
        raise PageError("no-text", "it holds neither text nor pictures")
    return page


def _fill(path: Path, root: Path, draft: Draft) -> None:
    if draft.kind == "pdf":
        from photocraft_local.knowledge.pdf import read_pdf

        read_pdf(path, draft)
        return
    raw = path.read_bytes()
    if draft.kind == "mhtml":
        from photocraft_local.knowledge.single_file import read_mhtml

        read_mhtml(raw, draft)
        return
    text, find = text_of(raw), Beside(path, root)
    if _is_binary(text):
        raise PageError("damaged", "it is no text")
    if draft.kind == "html":
        from photocraft_local.knowledge.web_page import read_html

        read_html(text, draft, find)
        return
    from photocraft_local.knowledge.written import read_markdown, read_text

    if draft.kind == "markdown":
        read_markdown(text, draft, find)
    else:
        read_text(text, draft)


def _is_binary(text: str) -> bool:
    some = text[:4096]
    odd = sum(char == "\ufffd" or (char < " " and char not in "\t\n\r\f") for char in some)
    return odd > 0.1 * len(some)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # a library that prints must not be taken for a reply
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, asked["cpu_seconds"])
        reply = _reply(asked)
        signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _reply(asked: dict[str, Any]) -> dict[str, Any]:
    path, root = (Path(os.fsdecode(from_ascii(asked[key]))) for key in ("path", "root"))
    try:
        page = read(path, root, Gallery(Path(asked["scratch"]), asked["max_pixels"]))
    except MissingExtraError as exc:
        return {"missing": [exc.module, exc.extra, exc.message.partition(" needs ")[0]]}
    except PageError as exc:
        return {"unusable": [exc.reason, exc.message]}
    return {"page": page.to_json()}


if __name__ == "__main__":
    main()
