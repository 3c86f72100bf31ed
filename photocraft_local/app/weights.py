"""Folders of weights that a person placed: which models there are, and whether a folder is whole.

Reads the rows of ``data/weights.toml`` (the machine-readable twin of weights.md) and looks at a
folder with or without its list of SHA-256 sums. Knows no engine: it opens no weights, it only
counts and hashes their bytes. Nothing is fetched.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from photocraft_local.app.weight_files import WeightFolder
from photocraft_local.app.weight_sums import SUMS_FILE, read_sums, sha256_of, write_sums
from photocraft_local.errors import UsageError

Progress = Callable[[int, int], None]  # bytes done, bytes in all

_FETCH_AGAIN = "fetch these files again on the connected machine, then run it again"


@dataclass(frozen=True, slots=True)
class WeightsRow:
    """One model that can be placed; ``unverified`` names the fields that no source confirms."""

    id: str
    role: str  # "backbone" or "encoder"
    family: str
    settings: str  # the setting that takes its folder
    revision: str  # commit of the published repository; "" = none is known
    licence: str
    dtype: str
    parameters: int
    bytes: int  # of the weights, by arithmetic from the published shape
    gpu_gib: int  # least GPU memory, by the arithmetic that weights.md shows
    unverified: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one file: ``missing``, ``unreadable``, ``truncated``, ``damaged`` or
    ``unlisted``."""

    file: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found in one folder. Without ``sums`` nothing could be compared by hash."""

    folder: Path
    files: int
    bytes: int
    sums: bool
    faults: tuple[Fault, ...]

    @property
    def good(self) -> bool:
        return self.sums and not self.faults


@cache
def rows() -> tuple[WeightsRow, ...]:
    """All rows, in the order of weights.md."""
    text = (files("photocraft_local.app") / "data" / "weights.toml").read_text("utf-8")
    return tuple(_row(entry) for entry in tomllib.loads(text)["model"])


def _row(entry: dict[str, Any]) -> WeightsRow:
    names = [name for name in WeightsRow.__slots__ if name != "unverified"]
    return WeightsRow(
        **{name: entry[name] for name in names}, unverified=tuple(entry["unverified"])
    )


def verify(folder: Path, progress: Progress | None = None) -> Verification:
    """Looks at every file of the folder; all faults at once, sorted by file.

    Raises UsageError: it is no folder of weights, or its list of sums cannot be used.
    """
    found = WeightFolder.open(folder)
    listed = read_sums(found.root)
    faults = [Fault(*fault) for fault in found.faults()]
    if listed is not None:
        faults += _compared(found, listed, {fault.file for fault in faults}, progress)
    return Verification(
        found.root,
        len(found.sizes),
        sum(found.sizes.values()),
        listed is not None,
        tuple(sorted(faults, key=lambda fault: fault.file)),
    )


def write_manifest(folder: Path, progress: Progress | None = None) -> Verification:
    """Writes ``SHA256SUMS`` into the folder, which ``sha256sum -c`` reads as well.

    May be stopped at any moment: finished sums are kept apart, and the next call goes on. An old
    list stays until the new one is whole.

    Raises UsageError: it is no folder of weights, a file is missing or cut short (a list must not
    bless a broken download), or the folder cannot be written to.
    """
    found = WeightFolder.open(folder)
    if faults := [f"{name} is {kind}" for name, kind, _ in found.faults()]:
        raise UsageError(f"{found.root} is not whole: {'; '.join(faults)}", hint=_FETCH_AGAIN)
    try:
        write_sums(found.root, found.sizes, _teller(found.sizes, found.sizes, progress))
    except OSError as exc:
        raise UsageError(
            f"no list of sums can be written into {found.root}: {exc.strerror}",
            hint="the folder has to be writable for you, with room, and its files readable",
        ) from exc
    return Verification(found.root, len(found.sizes), sum(found.sizes.values()), True, ())


def _compared(
    found: WeightFolder, listed: dict[str, str], known: set[str], progress: Progress | None
) -> Iterator[Fault]:
    """Files against the list; those that are known to be broken are not read again."""
    for name in sorted(set(listed) - set(found.sizes) - known):
        yield Fault(name, "missing", f"{SUMS_FILE} lists it, it is not there")
    for name in sorted(set(found.sizes) - set(listed) - known):
        if found.is_read_by_engines(name):
            yield Fault(name, "unlisted", f"{SUMS_FILE} does not list it; an engine may read it")
    wanted = [name for name in sorted(listed) if name in found.sizes and name not in known]
    tell = _teller(wanted, found.sizes, progress)
    for name in wanted:
        digest = _sum_of(found.root / name, partial(tell, name))
        if digest != listed[name]:
            detail = f"its SHA-256 is {digest}, listed is {listed[name]}"
            yield Fault(name, "damaged", detail)


def _sum_of(path: Path, tell: Callable[[int], None]) -> str:
    try:
        return sha256_of(path, tell)
    except OSError as exc:
        raise UsageError(
            f"{path} cannot be read: {exc.strerror}",
            hint="a file that fails again on a good drive is lost: copy it over anew",
        ) from exc


def _teller(
    names: Iterable[str], sizes: dict[str, int], progress: Progress | None
) -> Callable[[str, int], None]:
    """Bytes of one file → bytes of all files, for names that come in sorted order."""
    before, total = {}, 0
    for name in sorted(names):
        before[name] = total
        total += sizes[name]

    def tell(name: str, done: int) -> None:
        if progress:
            progress(before[name] + done, total)

    return tell
