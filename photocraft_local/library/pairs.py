"""Which files of a folder belong together: RAW beside JPEG, Live Photos, sidecars.

The lead is the photo; RAW files and short films of the same stem are its companions. Works on
one folder at a time and on names only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from photocraft_local.files.kinds import extension
from photocraft_local.files.sidecars import sidecar_of
from photocraft_local.files.walk import FoundFile

# Which of several pictures with one stem leads: what cameras write comes before exports.
_LEADS = (b"jpg", b"jpeg", b"heic", b"heif", b"hif", b"avif", b"webp", b"tif", b"tiff", b"png")
_LIVE = {b"mov", b"mp4"}  # films that phones write beside a photo


@dataclass(slots=True)
class Group:
    """A photo (or a file that will be skipped), its companions, and its sidecar."""

    lead: FoundFile
    companions: list[FoundFile] = field(default_factory=list)
    sidecar: FoundFile | None = None


def by_folder(files: Iterable[FoundFile]) -> Iterator[list[FoundFile]]:
    """The files of each folder together, although a depth-first walk comes back to a folder
    after its subfolders. Holds the folders from the root to the current one."""
    open_folders: list[tuple[bytes, list[FoundFile]]] = []
    for file in files:
        parent = file.path[: file.path.rfind(b"/") + 1]
        while open_folders and not parent.startswith(open_folders[-1][0]):
            yield open_folders.pop()[1]
        if not open_folders or open_folders[-1][0] != parent:
            open_folders.append((parent, []))
        open_folders[-1][1].append(file)
    while open_folders:
        yield open_folders.pop()[1]


def arrange(folder: Sequence[FoundFile]) -> list[Group]:
    """The groups of one folder's files, in order of their first files' names."""
    stems: dict[bytes, list[FoundFile]] = {}
    sidecars: dict[bytes, FoundFile] = {}
    for file in folder:
        name = file.path[file.path.rfind(b"/") + 1 :]
        if file.kind == "sidecar":
            sidecars[name] = file
        else:
            stems.setdefault((name.rpartition(b".")[0] or name).lower(), []).append(file)
    groups = [group for files in stems.values() for group in _grouped(files)]
    if sidecars:
        for group in groups:
            name = sidecar_of(group.lead.path.rpartition(b"/")[2], sidecars.keys()) or b""
            group.sidecar = sidecars.get(name)
    return groups


def _grouped(files: list[FoundFile]) -> list[Group]:
    """Files of one stem: the best photo leads RAW files and films, all others stand alone."""
    if len(files) == 1:
        return [Group(files[0])]
    photos = [file for file in files if file.kind == "photo"]
    leads = sorted(photos, key=_rank) or [file for file in files if file.kind == "raw"]
    if not leads:
        return [Group(file) for file in files]
    first = leads[0]
    companions = [file for file in files if file is not first and _accompanies(file, first)]
    alone = [file for file in files if file is not first and file not in companions]
    return [Group(first, companions), *(Group(file) for file in alone)]


def _accompanies(file: FoundFile, lead: FoundFile) -> bool:
    if file.kind == "video":
        return lead.kind == "photo" and extension(file.path) in _LIVE
    return file.kind == "raw" and lead.kind == "photo"


def _rank(file: FoundFile) -> int:
    ending = extension(file.path)
    return _LEADS.index(ending) if ending in _LEADS else len(_LEADS)
