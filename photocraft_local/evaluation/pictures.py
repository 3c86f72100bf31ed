"""The pictures of a folder by id (the file's name without its ending), and what identifies them.

A file that a data set names is looked for in its folder alone. Knows no data set's metadata.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from photocraft_local.evaluation.problems import LARGEST, Problems

ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif", ".gif", ".bmp", ".tif", ".tiff"}


def plain_name(name: str) -> str:
    """A name relative to the data set's folder, as it is compared: ``./a//b.jpg`` → ``a/b.jpg``."""
    return str(PurePosixPath(name))


def real(folder: Path) -> Path:
    """Without links and "..", as a library names its folders: it knows photos by their paths."""
    return Path(os.path.realpath(folder))


def leads_out(name: str) -> bool:
    """Whether a name by itself leaves the folder that it is relative to."""
    parts = PurePosixPath(name)
    return parts.is_absolute() or ".." in parts.parts


def fault_of(folder: Path, name: str) -> tuple[str, str]:
    """Why a file that a data set names cannot be used, as a kind of ``Problems`` and in words; both
    empty where it can. A name, or a link, that leads out of the folder is never followed."""
    try:
        path = real(folder / name)
        is_there = not leads_out(name) and path.is_file()
        if leads_out(name) or (is_there and not path.is_relative_to(real(folder))):
            return "outside-name", f"{name!r} leads out of the folder"
    except (OSError, ValueError):  # a name that no file can have
        is_there = False
    if is_there:
        return "", ""
    return "missing-image", f"there is no file {name!r}"


def fault_of_photo(folder: Path, name: str) -> tuple[str, str]:
    """As ``fault_of``; an empty file cannot be used either."""
    fault, why = fault_of(folder, name)
    if not fault and not (folder / name).stat().st_size:
        return "empty-file", f"{name!r} is empty"
    return fault, why


def is_usable(folder: Path, name: str, problems: Problems, *, where: str) -> bool:
    """Of a file that lies in the folder: no link out of it, and not empty; else it is named."""
    if (folder / name).is_symlink():
        fault, why = fault_of(folder, name)
        if fault:
            problems.add(fault, where, why)
            return False
    if not (folder / name).stat().st_size:
        problems.add("empty-file", where)
        return False
    return True


def pictures_of(folder: Path, problems: Problems, *, keep_ending: bool = False) -> dict[str, Path]:
    """Id → real path, sorted; empty files and a second file of an id are named. With
    ``keep_ending`` an id is the whole file name."""
    found: dict[str, Path] = {}
    for path in sorted(real(folder).iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() not in ENDINGS or not path.is_file():
            continue
        name = path.name if keep_ending else path.stem
        if not is_usable(folder, path.name, problems, where=f"{folder.name}/{path.name}"):
            continue
        if name in found:
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
