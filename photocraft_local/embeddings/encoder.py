"""The seam for embedding models: one small protocol and the facts that identify a space.

Vectors of two encoders are never mixed: ``EncoderSpec.space_id`` names the folder that holds
the vectors, and a change of model, revision or preprocessing changes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UsageError

if TYPE_CHECKING:
    from photocraft_local.files.gpu_jpeg import GpuJpegs

Pixels = NDArray[np.uint8]  # (height, width, 3) upright sRGB
Vectors = NDArray[np.float32]  # (n, dim), rows of unit length


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """What makes vectors comparable, and what the pipeline must feed."""

    encoder_id: str
    revision: str  # hash of the weights
    preprocessing: str  # version of everything between file and model input
    dim: int
    decode_side: int  # shorter side in pixels that the encoder wants decoded; 0 = no pixels

    @property
    def space_id(self) -> str:
        """Folder name of the vector space: readable, and unique to the four facts."""
        facts = f"{self.encoder_id}\0{self.revision}\0{self.preprocessing}\0{self.dim}"
        return f"{self.encoder_id}-{hashlib.sha256(facts.encode()).hexdigest()[:10]}"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the encoder's raw text-to-photo similarities behave, measured on unrelated pairs.

    A search turns a raw similarity s into (s - mean) / std against a blend of this frozen
    background and the library's own, and cuts at ``cutoff``. Where the encoder ships a bank of
    unrelated photo vectors, mean and std are taken per query from it (``against``).
    """

    mean: float
    std: float
    cutoff: float
    background: Vectors | None = field(default=None, repr=False, compare=False)  # (m, dim)
    image_cutoff: float = 3.0  # of an example picture

    def against(self, vector: NDArray[np.float32]) -> tuple[float, float]:
        """Mean and standard deviation of unrelated photos' similarity to this query vector.

        The bank's spread is floored at half of ``std``: few photos can agree by chance.
        """
        if self.background is None or len(self.background) < 2:
            return self.mean, self.std
        scores = self.background @ vector
        return float(scores.mean()), max(float(scores.std()), 0.5 * self.std)


@dataclass(frozen=True, slots=True)
class TextEmbedding:
    """A query's unit vector, or none if no word of it could be used.

    An encoder that sees some things directly says so by ``evidence``: its product with a
    photo's vector is in units of the score and is added to ``weight`` times the standardised
    likeness; ``cutoff`` then takes the place of the calibration's. The defaults mean that the
    likeness alone decides.
    """

    vector: NDArray[np.float32] | None  # (dim,)
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()  # words that the text model does not know
    evidence: NDArray[np.float32] | None = None  # (dim,)
    weight: float = 1.0
    cutoff: float | None = None


@runtime_checkable
class Encoder(Protocol):
    """Maps pictures and words into one space where a dot product means likeness."""

    @property
    def spec(self) -> EncoderSpec: ...

    @property
    def calibration(self) -> Calibration: ...

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Unit vectors (n, dim) for n upright pictures of any sizes."""
        ...

    def encode_text(self, text: str) -> TextEmbedding: ...


@runtime_checkable
class Likening(Protocol):
    """What an encoder may have beside: pictures that are alike in other ways than words are."""

    def query_of(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The query (dim,) of any length for what is like the picture of this unit vector."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """What an encoder may have beside: its own way from a photo's file to what its model takes.
    It runs in the threads that decode, while the model works."""

    def prepare(self, path: bytes, *, max_pixels: int) -> tuple[Any, tuple[str, ...]]:
        """The photo for ``encode_prepared``, and the doubts that decoding has raised.

        Raises PhotoError."""
        ...

    def encode_prepared(self, items: Sequence[Any]) -> Vectors:
        """Unit vectors (n, dim), as ``encode_images`` gives them."""
        ...


@runtime_checkable
class DevicePreparing(Preparing, Protocol):
    """One that can take photos which a GPU has decoded, without their pixels coming back."""

    def takes_device_rows(self) -> bool:
        """Whether its model runs in this process on that GPU."""
        ...

    def prepare_many(
        self, gpu: GpuJpegs, paths: Sequence[bytes], *, max_pixels: int
    ) -> list[tuple[Any, tuple[str, ...]] | None]:
        """As ``prepare`` gives them, to a step of a byte; None for what ``prepare`` has to do."""
        ...


def check_pictures(images: Sequence[Pixels]) -> None:
    """Raises UsageError for what is no uint8 (height, width, 3) with pixels in it."""
    for index, image in enumerate(images):
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
            raise UsageError(
                f"picture {index} has {image.dtype} values of shape {image.shape}",
                hint="pictures are uint8 of shape (height, width, 3)",
            )


def unit_rows(rows: Vectors) -> Vectors:
    """Each row of (n, dim) to unit length; nan for one that is zero or not finite."""
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    return np.where(usable, rows / np.where(usable, lengths, 1), np.nan).astype(np.float32)
