"""The embedded default: photos and English (or glossary) words in one space.

Owns how class evidence, features and the sentence model meet, and what counts for a query that
names things. Loads nothing until it is used; a text needs only the sentence model. It is label
search with soft matching beside an object detector, not CLIP.
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
from photocraft_local.embeddings.labels.function_words import SILENT_WORDS
from photocraft_local.embeddings.labels.label_space import (
    DIM,
    NUM_OBJECTS,
    THING_SCALE,
    LabelSpace,
    Measures,
    unit,
)
from photocraft_local.embeddings.labels.looks import measure as looks_of
from photocraft_local.embeddings.labels.objects import Thing, ThingReader, Things
from photocraft_local.embeddings.labels.picture import (
    CLASSIFIER_SIDE,
    DECODE_SIDE,
    DETECTOR_SIDE,
    PREPROCESSING,
    network_input,
)
from photocraft_local.embeddings.labels.sentences import DIM as WORDS_DIM
from photocraft_local.embeddings.labels.sentences import SentenceModel
from photocraft_local.embeddings.labels.words import QueryReader
from photocraft_local.embeddings.onnx_session import open_session

ENCODER_ID = "labels"
_LABEL_WORDS = 2
_MEAN, _STD = 0.026, 0.112  # similarity of unrelated texts and photos
# Pairs of photos that share half of their labels are told from others best here (COCO photos).
_IMAGE_CUTOFF = 4.3
_CUTOFF = 3.6  # of a query that names no thing: the likeness to its words alone
# A query that names nothing but things: what was seen decides, the words lean on it a little.
_DETECTED, _CLASSIFIED, _ALONE_WEIGHT = 6.75, 3.0, 0.3
_DETECTED_CUTOFF, _CLASSIFIED_CUTOFF = 3.4, 4.1
# Things beside other words, as "a dog on the beach"; the cut-off asks for a share of them too.
_DETECTED_BESIDE, _CLASSIFIED_BESIDE = 3.0, 1.5
_BESIDE_CUTOFF, _BESIDE_SHARE = 3.4, 0.5
# How much of its gain is asked for each further thing.
_MORE_ALONE, _MORE_BESIDE = 0.9, 0.6


class LabelEncoder:
    """``Encoder`` from packaged weights. ``cache`` keeps the derived files, ``threads`` is the
    number of cores that one photo may use."""

    concurrency = 64  # so many calls of ``encode_images`` may run at once, on a core each

    def __init__(self, cache: Path, *, threads: int = 1) -> None:
        self._artefacts = Artefacts(cache)
        self._threads = threads

    @cached_property
    def spec(self) -> EncoderSpec:
        return EncoderSpec(ENCODER_ID, fingerprint()[:16], PREPROCESSING, DIM, DECODE_SIDE)

    @cached_property
    def calibration(self) -> Calibration:
        """Measured on texts and photos that have nothing to do with each other; see
        benchmarks/retrieval.py for what the cut-off lets through."""
        return Calibration(_MEAN, _STD, _CUTOFF, self._texts["background"], _IMAGE_CUTOFF)

    def prepare(self) -> bool:
        """Make the derived files if they are not there; some 12 CPU seconds, once. True if they
        had to be made. The encoder does this by itself when it is first used.

        Raises:
            MissingExtraError: a package of the ``cpu`` extra is not installed.
            EncoderError: the derived files cannot be written.
        """
        return self._artefacts.prepare()

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Unit vectors (n, DIM) of upright pictures of any sizes.

        Raises:
            MissingExtraError: a package of the ``cpu`` extra is not installed.
            EncoderError: the derived files cannot be made or read.
        """
        if not images:
            return np.zeros((0, DIM), np.float32)
        return self._space.vectors(self.measure(images))

    def measure(self, images: Sequence[Pixels]) -> Measures:
        """What is seen on each picture, before any words come in."""
        pictures = [network_input(image, CLASSIFIER_SIDE) for image in images]
        outputs = [self._classify(picture) for picture in pictures]
        larger = (network_input(image, DETECTOR_SIDE) for image in images)
        objects = [self._detector.run(["objects"], {"pixels": picture})[0] for picture in larger]
        return Measures(
            np.concatenate([output[0] for output in outputs]),
            np.concatenate([output[1] for output in outputs]),
            np.stack([looks_of(picture[0]) for picture in pictures]),
            np.concatenate(objects),
            np.concatenate([output[2] for output in outputs]),
        )

    def _classify(self, picture: Pixels) -> tuple[Vectors, Vectors, Vectors]:
        wanted = ["evidence", "features", "classes"]
        evidence, features, classes = self._classifier.run(wanted, {"pixels": picture})
        return evidence, features, classes

    def encode_text(self, text: str) -> TextEmbedding:
        """The query's unit vector; words that no part of the encoder knows are named, not
        searched."""
        query = self._reader.read(text)
        if not query.english:
            return TextEmbedding(None, (), query.not_understood)
        words = unit(self._sentences.embed(_sentence(query.english)) - self._texts["mean"])
        vector = np.concatenate([words, np.zeros(DIM - WORDS_DIM, np.float32)])
        things = self._things.read(query.english)
        if not things.named:
            return TextEmbedding(vector, query.understood, query.not_understood)
        return TextEmbedding(vector, query.understood, query.not_understood, **_evidence(things))

    def query_of(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Pictures are alike by the things on them first, then by their words."""
        query = vector.copy()
        query[WORDS_DIM : WORDS_DIM + NUM_OBJECTS] /= np.float32(THING_SCALE**2)
        return query

    @cached_property
    def _classifier(self) -> Any:
        return open_session(self._artefacts.path("classifier.onnx"), threads=self._threads)

    @cached_property
    def _detector(self) -> Any:
        return open_session(self._artefacts.path("detector.onnx"), threads=self._threads)

    @cached_property
    def _space(self) -> LabelSpace:
        return LabelSpace(**self._artefacts.arrays("space.npz"))

    @cached_property
    def _texts(self) -> dict[str, NDArray[np.float32]]:
        return self._artefacts.arrays("text.npz")

    @cached_property
    def _sentences(self) -> SentenceModel:
        return SentenceModel()

    @cached_property
    def _things(self) -> ThingReader:
        return ThingReader(SILENT_WORDS)

    @cached_property
    def _reader(self) -> QueryReader:
        lexicon = self._artefacts.path("lexicon.txt").read_text("utf-8")
        return QueryReader(
            self._sentences.rank, frozenset(lexicon.split()), self._things.vocabulary
        )


def _evidence(things: Things) -> dict[str, Any]:
    """What was seen of the named things adds to a query's score; as fields of TextEmbedding."""
    evidence = np.zeros(DIM, np.float32)
    gains = [_gain(thing, alone=things.alone) for thing in things.named]
    for thing, gain in zip(things.named, gains, strict=True):
        evidence[[WORDS_DIM + row for row in thing.rows]] += gain / THING_SCALE
    # The first thing is what the cut-off asks for; each further one must be there too.
    further = sum(gains) - max(gains)
    if things.alone:
        surest = any(thing.detected for thing in things.named)
        cutoff = _DETECTED_CUTOFF if surest else _CLASSIFIED_CUTOFF
        return {
            "evidence": evidence,
            "weight": _ALONE_WEIGHT,
            "cutoff": cutoff + _MORE_ALONE * further,
        }
    cutoff = _BESIDE_CUTOFF + _BESIDE_SHARE * max(gains) + _MORE_BESIDE * further
    return {"evidence": evidence, "cutoff": cutoff}


def _gain(thing: Thing, *, alone: bool) -> float:
    """What a thing that is plainly there adds to the score."""
    if alone:
        return _DETECTED if thing.detected else _CLASSIFIED
    return _DETECTED_BESIDE if thing.detected else _CLASSIFIED_BESIDE


def _sentence(english: str) -> str:
    """What to embed: a bare label becomes a sentence, which is what the model was trained on."""
    return english if len(english.split()) > _LABEL_WORDS else f"there is a {english}"
