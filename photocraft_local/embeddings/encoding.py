"""One batch of pixels → vectors; a photo that breaks the encoder leaves the batch alone. And one
picture file → its vector, for queries.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.decoding import Failed, Ready
from photocraft_local.embeddings.encoder import Encoder, Preparing, Vectors
from photocraft_local.embeddings.space import usable_rows
from photocraft_local.errors import PhotocraftError
from photocraft_local.files.decode import decode_upright
from photocraft_local.library.refusals import NOT_EMBEDDED
from photocraft_local.records import Photo, path_text


def encode_file(encoder: Encoder, path: bytes, *, max_pixels: int) -> NDArray[np.float32]:
    """Unit vector (dim,) of a picture file. Raises PhotoError, and what the encoder raises."""
    if isinstance(encoder, Preparing):
        item, _ = encoder.prepare(path, max_pixels=max_pixels)
        prepared: NDArray[np.float32] = encoder.encode_prepared([item])[0]
        return prepared
    side = encoder.spec.decode_side or None
    picture = decode_upright(path, short_side=side, max_pixels=max_pixels)
    vector: NDArray[np.float32] = encoder.encode_images([picture.pixels])[0]
    return vector


@dataclass(slots=True)
class Encoded:
    """Photos, their flags from decoding and their vectors, row by row, and what failed."""

    photos: list[Photo]
    flags: list[tuple[str, ...]]
    vectors: Vectors
    failures: list[Failed] = field(default_factory=list)

    @property
    def failed_all(self) -> bool:
        """Everything that could be decoded failed in the encoder."""
        return not self.photos and any(failed.reason == NOT_EMBEDDED for failed in self.failures)


def encode_batch(encoder: Encoder, batch: Sequence[Ready | Failed]) -> Encoded:
    """Vectors of the batch in its order. The package's own errors (a missing extra) rise; any
    other makes the batch be tried photo by photo."""
    ready = [item for item in batch if isinstance(item, Ready)]
    failures = [item for item in batch if isinstance(item, Failed)]
    vectors, causes = _vectors(encoder, ready)
    good = usable_rows(vectors)
    for row in np.flatnonzero(~good).tolist():
        failures.append(_failed(ready[row], causes.get(row, "the vector is not of unit length")))
    kept = [item for item, is_good in zip(ready, good, strict=True) if is_good]
    photos, flags = [item.photo for item in kept], [item.flags for item in kept]
    return Encoded(photos, flags, vectors[good], failures)


class BatchEncoder:
    """``encode_batch`` for several threads. The first call runs alone: an encoder may build or
    load its model in it, which must not happen twice at once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._first = threading.Lock()
        self._is_warm = False

    def __call__(self, batch: Sequence[Ready | Failed]) -> Encoded:
        if self._is_warm:
            return encode_batch(self._encoder, batch)
        with self._first:
            encoded = encode_batch(self._encoder, batch)
            self._is_warm = True
            return encoded


def merged(pieces: Sequence[Encoded]) -> Encoded:
    """Pieces that go to disk together."""
    if len(pieces) == 1:
        return pieces[0]
    return Encoded(
        [photo for piece in pieces for photo in piece.photos],
        [flags for piece in pieces for flags in piece.flags],
        np.concatenate([piece.vectors for piece in pieces]),
        [failed for piece in pieces for failed in piece.failures],
    )


def _vectors(encoder: Encoder, ready: Sequence[Ready]) -> tuple[Vectors, dict[int, str]]:
    """Vectors, nan where the encoder failed, and the causes by row."""
    if not ready:
        return np.zeros((0, encoder.spec.dim), np.float32), {}
    encode = encoder.encode_prepared if isinstance(encoder, Preparing) else encoder.encode_images
    try:
        return encode([item.pixels for item in ready]), {}
    except PhotocraftError:
        raise
    except Exception:  # noqa: BLE001 - an engine may raise anything; each photo is tried alone
        vectors = np.full((len(ready), encoder.spec.dim), np.nan, np.float32)
    causes: dict[int, str] = {}
    for row, item in enumerate(ready):
        try:
            vectors[row] = encode([item.pixels])[0]
        except PhotocraftError:
            raise
        except Exception as exc:  # noqa: BLE001 - recorded with the photo
            causes[row] = f"{type(exc).__name__}: {exc}"
    return vectors, causes


def _failed(item: Ready, cause: str) -> Failed:
    name = path_text(item.photo.paths[0])
    return Failed(item.photo, NOT_EMBEDDED, f"{name} cannot be embedded: {cause}")
