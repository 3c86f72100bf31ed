"""Vectors of pictures on disk, so that a second run encodes nothing.

One file a picture, named by the hash of its pixels, in a folder of the encoder's space: another
encoder, revision or preparation finds none of them. A file that was cut or changed counts as not
there. Knows no encoder but its spec.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import EncoderSpec
from photocraft_local.storage.faults import mapped

FOLDER = "history-vectors"  # of the cache
_DIGEST = 16  # bytes behind the vector


class KeptVectors:
    """Below the cache folder. Raises LibraryError where it cannot be written."""

    def __init__(self, cache: Path, spec: EncoderSpec) -> None:
        self._folder = cache / FOLDER / spec.space_id
        self._num_bytes = 4 * spec.dim
        with mapped(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Those that are there."""
        found = {}
        for key in keys:
            try:
                content = (self._folder / key.hex()).read_bytes()
            except OSError:
                continue
            vector, digest = content[: self._num_bytes], content[self._num_bytes :]
            if digest == _digest(vector):
                found[key] = np.frombuffer(vector, "<f4").astype(np.float32)
        return found

    def put(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        for key, vector in vectors.items():
            path = self._folder / key.hex()
            writer = threading.get_native_id()  # several runs, and threads of one, may write
            part = path.with_name(f".{path.name}.{writer}.part")
            content = np.ascontiguousarray(vector, "<f4").tobytes()
            with mapped(path):
                part.write_bytes(content + _digest(content))
                part.replace(path)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
