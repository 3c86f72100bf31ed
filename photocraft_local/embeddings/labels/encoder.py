"""The embedded default: photos and English (or glossary) words in one 384-d space.

Owns how class evidence, features and the sentence model meet. Loads nothing until it is used;
a text needs only the sentence model. It is label search with soft matching, not CLIP.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import (
    Calibration,
    EncoderSpec,
    Pixels,
    TextEmbedding,
    Vectors,
)
from photocraft_local.embeddings.labels.artefacts import Artefacts, fingerprint
from photocraft_local.embeddings.labels.label_space import unit
from photocraft_local.embeddings.labels.picture import PREPROCESSING, SIDE, classifier_input
from photocraft_local.embeddings.labels.sentences import DIM, SentenceModel
from photocraft_local.embeddings.labels.words import QueryReader
from photocraft_local.embeddings.onnx_session import open_session

ENCODER_ID = "labels"
_RIDGE_SHARE = 0.2


class LabelEncoder:
    """``Encoder`` from packaged weights. ``cache`` keeps the derived files, ``threads`` is the
    number of cores that one photo may use."""

    def __init__(self, cache: Path, *, threads: int = 1) -> None:
        self._artefacts = Artefacts(cache)
        self._threads = threads

    @cached_property
    def spec(self) -> EncoderSpec:
        return EncoderSpec(ENCODER_ID, fingerprint()[:16], PREPROCESSING, DIM, SIDE)

    @cached_property
    def calibration(self) -> Calibration:
        return Calibration(mean=0.0, std=0.11, cutoff=2.5)

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Unit vectors (n, 384) of upright pictures of any sizes.

        Raises:
            MissingExtraError: a package of the ``cpu`` extra is not installed.
            EncoderError: the derived files cannot be made or read.
        """
        if not images:
            return np.zeros((0, DIM), np.float32)
        return np.stack([self._encode_image(image) for image in images])

    def _encode_image(self, pixels: Pixels) -> NDArray[np.float32]:
        evidence, features = self._classifier.run(
            ["evidence", "features"], {"pixels": classifier_input(pixels)}
        )
        by_class = unit(evidence[0] @ self._classes)
        by_feature = unit((features[0] - self._expected_features) @ self._ridge)
        return unit((1 - _RIDGE_SHARE) * by_class + _RIDGE_SHARE * by_feature)

    def encode_text(self, text: str) -> TextEmbedding:
        """The query's unit vector; words that no part of the encoder knows are named, not
        searched."""
        query = self._reader.read(text)
        if not query.english:
            return TextEmbedding(None, (), query.not_understood)
        vector = unit(self._sentences.embed(query.english) - self._text_mean)
        return TextEmbedding(vector, query.understood, query.not_understood)

    @cached_property
    def _classifier(self) -> Any:
        return open_session(self._artefacts.path("classifier.onnx"), threads=self._threads)

    @cached_property
    def _classes(self) -> NDArray[np.float32]:
        return self._artefacts.array("classes.npy")

    @cached_property
    def _ridge(self) -> NDArray[np.float32]:
        return self._artefacts.array("ridge.npy")

    @cached_property
    def _expected_features(self) -> NDArray[np.float32]:
        return self._artefacts.array("features.npy")

    @cached_property
    def _text_mean(self) -> NDArray[np.float32]:
        return self._artefacts.array("mean.npy")

    @cached_property
    def _sentences(self) -> SentenceModel:
        return SentenceModel()

    @cached_property
    def _reader(self) -> QueryReader:
        lexicon = self._artefacts.path("lexicon.txt").read_text("utf-8")
        return QueryReader(self._sentences.rank, frozenset(lexicon.split()))
