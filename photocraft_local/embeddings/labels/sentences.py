"""The sentence model: one text → one unit vector of 384 numbers (all-MiniLM-L6-v2).

Its weights are stored as int8 and widened when it runs, so a text's vector does not depend on
what it is embedded with.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.onnx_session import open_session, open_tokenizer

DIM = 384
_MAX_PIECES = 128
_MANY = 3
_BATCH = 16


class SentenceModel:
    """Loads its tokenizer and its network when first used."""

    def __init__(self) -> None:
        self._num_embedded = 0

    @cached_property
    def tokenizer(self) -> Any:
        path = sources.TOKENIZER.checked()
        tokenizer = open_tokenizer(path, hint="reinstall the package that ships it")
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MAX_PIECES)
        return tokenizer

    @cached_property
    def _brief_session(self) -> Any:
        return open_session(sources.SENTENCES.checked(), brief=True)

    @cached_property
    def _session(self) -> Any:
        return open_session(sources.SENTENCES.checked())

    def embed(self, text: str) -> NDArray[np.float32]:
        """Mean of the token vectors, unit length, (384,).

        Widening the weights takes 50 ms each time in the brief session, 140 ms once in the
        other one: a command with one query takes the first, a third query opens the second.
        """
        self._num_embedded += 1
        session = self._brief_session if self._num_embedded < _MANY else self._session
        vector: NDArray[np.float32] = _run(session, [self.tokenizer.encode(text).ids])[0]
        return vector

    def embed_all(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, (n, 384). Texts of one length run together."""
        vectors = np.zeros((len(texts), DIM), np.float32)
        by_length: dict[int, list[int]] = {}
        encodings = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        for row, ids in enumerate(encodings):
            by_length.setdefault(len(ids), []).append(row)
        for rows in by_length.values():
            for start in range(0, len(rows), _BATCH):
                batch = rows[start : start + _BATCH]
                vectors[batch] = _run(self._session, [encodings[row] for row in batch])
        return vectors

    def rank(self, word: str) -> int | None:
        """The word's place in the vocabulary (frequent words first), if it is one piece."""
        number: int | None = self.tokenizer.token_to_id(word)
        return number


def _run(session: Any, pieces: list[list[int]]) -> NDArray[np.float32]:
    """Unit vectors (n, 384) of n texts with the same number of pieces."""
    ids = np.array(pieces, np.int64)
    feed = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "token_type_ids": np.zeros_like(ids),
    }
    means = session.run(None, feed)[0].mean(axis=1, dtype=np.float32)
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)
