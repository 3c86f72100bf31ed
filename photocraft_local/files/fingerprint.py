"""Content identity: a photo is the SHA-256 of its bytes. Knows nothing of what they mean."""

from __future__ import annotations

import hashlib
import os

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.files.source import open_regular
from photocraft_local.records import path_text

_BLOCK = 1 << 20


def digest_file(path: bytes) -> str:
    """SHA-256 of the file's bytes as 64 hex digits; raises UnreadablePhoto."""
    digest = hashlib.sha256()
    buffer = bytearray(_BLOCK)
    view = memoryview(buffer)
    descriptor, _ = open_regular(path)
    try:
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            while count := file.readinto(buffer):
                digest.update(view[:count])
    except OSError as exc:
        raise UnreadablePhoto(
            f"{path_text(path)} cannot be read: {exc.strerror}",
            hint="check the drive; the next run tries the file again",
        ) from exc
    return digest.hexdigest()
