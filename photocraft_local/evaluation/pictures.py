"""The pictures of a folder by id (the file's name without its ending), and what identifies them.

Knows no data set's metadata.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from photocraft_local.evaluation.problems import LARGEST, Problems

ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif", ".gif", ".bmp", ".tif", ".tiff"}


def pictures_of(folder: Path, problems: Problems, *, keep_ending: bool = False) -> dict[str, Path]:
    """Id → absolute path, sorted; empty files and a second file of an id are named. With
    ``keep_ending`` an id is the whole file name."""
    found: dict[str, Path] = {}
    for path in sorted(folder.absolute().iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() not in ENDINGS or not path.is_file():
            continue
        name = path.name if keep_ending else path.stem
        if not path.stat().st_size:
            problems.add("empty-file", f"{folder.name}/{path.name}")
        elif name in found:
            problems.add("duplicate-id", f"{folder.name}/{path.name}")
        else:
            found[name] = path
    return found


def fingerprint(folder: Path, files: Iterable[Path], pictures: Iterable[Path]) -> str:
    """Of the texts by content, of the pictures by name and size, 16 hex digits."""
    digest = hashlib.sha256()
    for path in sorted(files):
        if path.is_file() and path.stat().st_size <= LARGEST:
            digest.update(os.fsencode(path.relative_to(folder)) + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    for path in sorted(pictures):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def joined(marks: Iterable[str]) -> str:
    """One mark of several."""
    return hashlib.sha256("\0".join(marks).encode()).hexdigest()[:16]
