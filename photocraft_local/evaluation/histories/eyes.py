"""Encoders for histories: one that encodes each picture once, and one that sees the true labels.

Files of one source and variant have the same pixels, bit for bit (``members.py``), so a vector that
is kept by the pixels, in memory and on disk, is the one that the encoder would give again. Both
are used in evaluation only; the run's ``run.json`` says so. Knows nothing of libraries.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import (
    Calibration,
    Encoder,
    EncoderSpec,
    Pixels,
    TextEmbedding,
    Vectors,
)
from photocraft_local.evaluation.histories.kept_vectors import KeptVectors
from photocraft_local.evaluation.histories.wording import words_of

_SCALE = np.float32(100.0)  # of evidence: whatever else a photo shows, its label stands out
TRUE_SIDE = 32  # px, to which the true eyes want pictures decoded


def pixels_key(pixels: Pixels) -> bytes:
    digest = hashlib.blake2b(np.ascontiguousarray(pixels).tobytes(), digest_size=20)
    digest.update(repr(pixels.shape).encode())
    return digest.digest()


class OncePerPicture:
    """The ``Encoder`` that it is given, asked once for the same pixels, and with ``cache`` never
    again, in later runs too. ``num_encoded``: how often it was asked, ``num_given``: how many
    vectors it gave."""

    def __init__(self, encoder: Encoder, cache: Path | None = None) -> None:
        self._encoder = encoder
        self._known: dict[bytes, NDArray[np.float32]] = {}
        self._kept = KeptVectors(cache, encoder.spec) if cache else None
        self._counting = threading.Lock()
        self.num_encoded = self.num_given = 0

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        keys = [pixels_key(image) for image in images]
        if self._kept:
            self._known.update(self._kept.get(set(keys) - self._known.keys()))
        new = {key: at for at, key in enumerate(keys) if key not in self._known}
        if new:
            made = self._encoder.encode_images([images[at] for at in new.values()])
            self._known.update(zip(new, made, strict=True))
            if self._kept:
                self._kept.put({key: self._known[key] for key in new})
        with self._counting:
            self.num_encoded += len(new)
            self.num_given += len(images)
        if not images:
            return self._encoder.encode_images(images)
        return np.stack([self._known[key] for key in keys])

    def encode_text(self, text: str) -> TextEmbedding:
        return self._encoder.encode_text(text)

    @property
    def spec(self) -> EncoderSpec:
        return self._encoder.spec

    @property
    def calibration(self) -> Calibration:
        return self._encoder.calibration

    def __getattr__(self, name: str) -> Any:
        """What it can do beside, e.g. ``concurrency``; but pixels are what is known here."""
        if name in ("prepare", "encode_prepared"):
            raise AttributeError(name)
        return getattr(self._encoder, name)


class TrueEyes:
    """An ``Encoder`` that sees in a picture exactly its labels, and reads exactly their names.

    ``labels_of``: ``pixels_key`` of each picture, decoded to a shorter side of 32, → its labels."""

    calibration = Calibration(mean=0.0, std=1.0, cutoff=1.0)

    def __init__(self, labels: Iterable[str], labels_of: Mapping[bytes, frozenset[str]]) -> None:
        self._axes = {label: at for at, label in enumerate(sorted(labels))}
        self._labels_of = labels_of
        self._names = {
            name.lower(): label
            for label in self._axes
            for name in (*words_of(label), label, f"{label}s")
        }
        self._longest = sorted(self._names, key=len, reverse=True)
        facts = hashlib.sha256("|".join(self._axes).encode()).hexdigest()[:16]
        self.spec = EncoderSpec("true-labels", facts, "1", len(self._axes) + 1, TRUE_SIDE)

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Raises KeyError for a picture that is none of the history."""
        rows = np.zeros((len(images), self.spec.dim), np.float32)
        for row, image in zip(rows, images, strict=True):
            for label in self._labels_of[pixels_key(image)]:
                row[self._axes[label]] = 1.0
            row[-1] = 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else rows

    def encode_text(self, text: str) -> TextEmbedding:
        """The one label that the text names; of several none, since a sum of them is no "and"."""
        rest, named = text.lower(), []
        for name in self._longest:
            pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
            if re.search(pattern, rest):
                rest = re.sub(pattern, " ", rest)
                named.append(self._names[name])
        words = tuple(text.split())
        if len(set(named)) != 1:
            return TextEmbedding(None, (), words)
        axis = np.zeros(self.spec.dim, np.float32)
        axis[self._axes[named[0]]] = 1.0
        return TextEmbedding(axis, words, (), axis * _SCALE, 0.0, 1.0)
