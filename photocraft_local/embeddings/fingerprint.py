"""What names the weights of a placed folder: a hash that is quick, since each start asks for it,
and the readable name of the folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_SAMPLE = 1 << 20  # bytes at each end of a weights file that go into its fingerprint


def fingerprint(files: Iterable[Path], *, weights: Sequence[str]) -> str:
    """Hex digest of the small files and of size and both ends of those whose name ends in one
    of ``weights``, which may have gigabytes."""
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as stream:
            if not path.name.endswith(tuple(weights)) or size <= 2 * _SAMPLE:
                digest.update(stream.read())
            else:
                digest.update(stream.read(_SAMPLE))
                stream.seek(-_SAMPLE, 2)
                digest.update(stream.read())
    return digest.hexdigest()


def space_name(folder: Path) -> str:
    """The folder's name in small letters, digits and hyphens; "" if it has none of them."""
    return re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
