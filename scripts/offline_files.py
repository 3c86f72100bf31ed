"""The manifest of a bundle: which files it has, with size and SHA-256, and whether they are so.

Shared by bundle and install_offline, and copied into each bundle: standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
FORMAT = 1


class BundleError(Exception):
    """One line for what is wrong, one for the way out."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def run_script(main: Any) -> int:
    """Errors as the package prints them: 1, wrong words 2, Ctrl-C 130."""
    try:
        return int(main(sys.argv[1:]) or 0)
    except BundleError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        print("hint: check that it is there, yours, and that the disk has room", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted\nhint: run the same command again", file=sys.stderr)
        return 130


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(root: Path, facts: dict[str, str]) -> str:
    """Lists every file below ``root``, at the end and at once; gives the manifest's own digest."""
    files = {
        name: {"bytes": (root / name).stat().st_size, "sha256": digest_of(root / name)}
        for name in sorted(_names(root))
    }
    text = json.dumps({"format": FORMAT, **facts, "files": files}, indent=1) + "\n"
    unfinished = root / f"{MANIFEST}.unfinished"
    unfinished.write_text(text, "utf-8")
    unfinished.replace(root / MANIFEST)
    return digest_of(root / MANIFEST)


def read_manifest(root: Path) -> dict[str, Any]:
    """Raises BundleError: no bundle, an unfinished one, or one of a newer form."""
    again = "copy the whole folder again, or make it anew with scripts/bundle"
    if not root.is_dir():
        raise BundleError(f"bundle {root} is no folder", "name the folder that scripts/bundle made")
    try:
        found = json.loads((root / MANIFEST).read_text("utf-8"))
        version = found["format"]
        for key in ("package", "version", "extra", "python"):
            if not isinstance(found[key], str):
                raise TypeError(key)
        for entry in found["files"].values():
            int(entry["bytes"]), str(entry["sha256"])
    except FileNotFoundError:
        raise BundleError(
            f"{root} has no {MANIFEST}: it is no bundle, or one that was never finished", again
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise BundleError(f"{root / MANIFEST} is damaged", again) from exc
    if version != FORMAT:
        newer = "use the install_offline that lies in the bundle"
        raise BundleError(f"{root / MANIFEST} has format {version}, not {FORMAT}", newer)
    return dict(found)


def check_files(root: Path, manifest: dict[str, Any]) -> None:
    """Every file is there with the listed bytes, and no other. Raises BundleError with all."""
    listed: dict[str, dict[str, Any]] = manifest["files"]
    there = set(_names(root))
    faults = [f"{name} is missing" for name in sorted(set(listed) - there)]
    faults += [f"{name} is not listed" for name in sorted(there - set(listed))]
    total = sum(entry["bytes"] for entry in listed.values()) or 1
    done = 0
    for name in sorted(set(listed) & there):
        if fault := _fault(root / name, listed[name]):
            faults.append(f"{name} {fault}")
        done += listed[name]["bytes"]
        _show(f"checking {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
    _show("")
    if faults:
        few = "; ".join(faults[:5]) + (f"; and {len(faults) - 5} more" if faults[5:] else "")
        raise BundleError(
            f"the bundle is damaged: {few}",
            "nothing was installed; copy these files again, then run it again",
        )


def _fault(path: Path, entry: dict[str, Any]) -> str:
    size = path.stat().st_size
    if size != entry["bytes"]:
        return f"has {size:,} of {entry['bytes']:,} bytes"
    return "" if digest_of(path) == entry["sha256"] else "has another SHA-256"


def _show(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _names(root: Path) -> Iterator[str]:
    """All files but the manifest and what Python leaves behind when a script of it runs."""
    for at, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = Path(at, name).relative_to(root).as_posix()
            if path not in (MANIFEST, f"{MANIFEST}.unfinished"):
                yield path
