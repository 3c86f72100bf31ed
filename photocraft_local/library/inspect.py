"""Reads what sync must know of one new or changed file: its digest and its header.

Runs in worker threads; touches neither the database nor pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.errors import PhotoError, PictureTooLarge
from photocraft_local.files.fingerprint import digest_file
from photocraft_local.files.metadata import read_metadata
from photocraft_local.library.given import Given, instead
from photocraft_local.library.pairs import Group
from photocraft_local.records import FileMetadata, path_text


@dataclass(frozen=True, slots=True)
class Inspected:
    """A file that is a photo."""

    group: Group
    digest: bytes
    metadata: FileMetadata


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is none. ``retry``: the cause may pass without a change of the file."""

    group: Group
    reason: str
    message: str
    retry: bool = False


def inspect(group: Group, *, max_pixels: int, given: Given | None = None) -> Inspected | Refused:
    """Digest and header of the group's lead; with ``given``, that in place of the header's facts,
    and no sidecar counts."""
    lead = group.lead
    if lead.kind == "video":
        return Refused(group, "video", "films are not searched; only photos are")
    try:
        sidecar = group.sidecar.path if group.sidecar else None
        metadata = read_metadata(lead.path, sidecar=None if given is not None else sidecar)
        if given is not None:
            metadata = instead(metadata, given, lead.path)
        _check_size(lead.path, metadata, max_pixels)
        return Inspected(group, bytes.fromhex(digest_file(lead.path)), metadata)
    except PhotoError as exc:
        return Refused(group, exc.reason, exc.message, retry=may_pass(exc))


def may_pass(error: PhotoError) -> bool:
    """Whether the system, not the file's content, is the cause: permission, drive, deletion.

    Pillow also raises OSError for broken content, but without a number.
    """
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno is not None


def _check_size(path: bytes, metadata: FileMetadata, max_pixels: int) -> None:
    pixels = metadata.width * metadata.height
    if pixels > max_pixels:
        raise PictureTooLarge(
            f"{path_text(path)} has {pixels:,} pixels; the limit is {max_pixels:,}",
            hint="raise the setting max_pixels",
        )
