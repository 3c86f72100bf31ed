"""What names the weights of a placed folder: a hash that is quick, since each start asks for it,
and the readable name of the folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from photocraft_local.errors import EncoderError

_SAMPLE = 1 << 20  # bytes at each end of a weights file that go into its fingerprint
_INNER = 64  # places between them: a model that was trained further may differ nowhere else
_INNER_SAMPLE = 1 << 12  # bytes at each


def fingerprint(files: Iterable[Path], *, weights: Sequence[str]) -> str:
    """Hex digest of the small files and of size, both ends and some places between them of those
    whose name ends in one of ``weights``, which may have gigabytes.

    Raises EncoderError for a file that cannot be read.
    """
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        try:
            size = path.stat().st_size
            digest.update(f"{path.name}\0{size}\0".encode())
            with path.open("rb") as stream:
                if not path.name.endswith(tuple(weights)) or size <= 2 * _SAMPLE:
                    digest.update(stream.read())
                else:
                    for part in _samples(stream, size):
                        digest.update(part)
        except OSError as exc:
            raise EncoderError(
                f"{path} cannot be read: {exc.strerror}", hint="place the folder anew"
            ) from exc
    return digest.hexdigest()


def _samples(stream: BinaryIO, size: int) -> Iterator[bytes]:
    yield stream.read(_SAMPLE)
    for at in range(1, _INNER + 1):
        stream.seek(_SAMPLE + at * (size - 2 * _SAMPLE) // (_INNER + 1))
        yield stream.read(_INNER_SAMPLE)
    stream.seek(-_SAMPLE, 2)
    yield stream.read()


def space_name(folder: Path) -> str:
    """The folder's name in small letters, digits and hyphens; "" if it has none of them."""
    return re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
