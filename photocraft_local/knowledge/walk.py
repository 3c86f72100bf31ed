"""Which files of a folder are pages, by their endings. Links and hidden folders are not followed;
what a browser saved beside a page belongs to the page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

KINDS = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".mhtml": "mhtml",
    ".mht": "mhtml",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".pdf": "pdf",
}
MAX_FILES = 20_000
# How browsers name the folder of a saved page's parts, in the languages that they speak most.
_PARTS = ("_files", ".files", "-Dateien", "_fichiers", "_archivos", "_file", "_arquivos")


def kind_of(path: Path) -> str:
    """ "" for a file that is no page."""
    return KINDS.get(path.suffix.lower(), "")


def pages_under(folder: Path) -> Iterator[Path]:
    """Sorted; at most MAX_FILES."""
    number = 0
    for where, folders, files in os.walk(folder):
        saved = {Path(name).stem for name in files if kind_of(Path(name)) == "html"}
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not _is_part_of(name, saved)
        )
        for name in sorted(files):
            path = Path(where, name)
            if name.startswith(".") or not kind_of(path) or path.is_symlink():
                continue
            if number >= MAX_FILES:
                return
            number += 1
            yield path


def _is_part_of(folder: str, saved: set[str]) -> bool:
    return any(folder.endswith(end) and folder.removesuffix(end) in saved for end in _PARTS)
