"""Queries a second of exact search, whole and inside a filter, beside the bytes that they read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.app.bench.figures import Figure, not_measured, quickest, seconds
from photocraft_local.app.bench.floors import Memory
from photocraft_local.errors import LibraryNotFound, NoVectors, PhotocraftError

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.search.index import ExactIndex

K = 50
BATCH = 64
_DIM = 512
_ENOUGH_BYTES = 1 << 26  # of vectors: below that caches answer, not memory
_BLOCK = 20_000
_CACHED_BYTES = 1 << 25  # a processor may keep as much from one query to the next


def search(parts: Parts, folder: Path, memory: Memory, *, quick: bool) -> Iterator[Figure]:
    """On the library's own vectors, or on made ones where there are too few to be told by."""
    try:
        index, told = _index(parts, folder, 100_000 if quick else 400_000)
    except PhotocraftError as error:
        yield not_measured("search", "exact search", error)
        return
    rng = np.random.default_rng(3)
    asked = rng.standard_normal((BATCH, index.dim)).astype(np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    ids = index.photo_ids
    some = np.sort(rng.choice(ids, min(len(ids), max(K, len(ids) // 100)), replace=False))
    rounds = 5 if quick else 25
    product = _product(index.dim, rounds)
    note = f"{told}, by {index.engine}"
    for what, queries, chosen in (
        ("all, one query at a time", asked[:1], None),
        ("all, a batch of 64", asked, None),
        ("a random 1 %, one query at a time", asked[:1], some),
        ("a random 1 %, a batch of 64", asked, some),
    ):
        spent = seconds(lambda q=queries, c=chosen: index.top_k(q, K, c), rounds)  # type: ignore[misc]
        numbers = index.dim * len(ids if chosen is None else chosen)
        # The slower of both is what no search can beat.
        floor, bound = max(
            (2 * numbers / memory.read, "its vectors read once from memory"),
            (numbers * len(queries) / product, "its products, as NumPy makes them in 32 bits"),
        )
        rate, ceiling = len(queries) / spent, len(queries) / floor
        kept = "; these rows fit into caches" * (2 * numbers < _CACHED_BYTES)
        yield Figure("search", what, rate, "queries/s", ceiling, bound, note + kept)


def _product(dim: int, rounds: int) -> float:
    """Pairs of numbers a second that NumPy multiplies and adds, with the threads that it takes."""
    rows, queries = np.ones((_BLOCK, dim), np.float32), np.ones((dim, BATCH), np.float32)
    return _BLOCK * dim * BATCH / quickest(lambda: rows @ queries, rounds)


def _index(parts: Parts, folder: Path, rows: int) -> tuple[ExactIndex, str]:
    """Raises PhotocraftError where the store of the settings cannot run."""
    from photocraft_local.app.vector_stores import store_of
    from photocraft_local.search.index import ExactIndex
    from photocraft_local.search.stores.addresses import PREFIX

    settings = parts.settings
    if settings.vector_store.startswith(PREFIX):
        # Opening a server's collection brings it up to date: a measurement sends nothing anywhere.
        settings = replace(settings, vector_store="auto")
    dim, few = _DIM, ""
    try:
        space = parts.space()
        vectors, ids = space.vectors, space.photo_ids
        if vectors.nbytes >= _ENOUGH_BYTES:
            index = ExactIndex(vectors, ids, engine=store_of(settings, space))
            return index, f"the library's {len(index):,} × {index.dim}"
        dim, few = vectors.shape[1], f" (the library's {len(ids):,} fit into caches)"
    except (LibraryNotFound, NoVectors):
        pass  # of this encoder; made ones do
    vectors = made_vectors(folder, rows, dim)
    index = ExactIndex(vectors, np.arange(1, rows + 1), engine=settings.vector_store)
    return index, f"{rows:,} × {dim} made ones{few}"


def made_vectors(folder: Path, rows: int, dim: int) -> np.ndarray:
    """(rows, dim) unit vectors in a mapped file, as the library keeps them."""
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".f16", delete=False) as file:
        for block in unit_blocks(rows, dim):
            file.write(block.tobytes())
    return np.memmap(file.name, np.float16, "r", shape=(rows, dim))


def unit_blocks(rows: int, dim: int) -> Iterator[np.ndarray]:
    """``rows`` distinct unit vectors (·, dim) in fp16, block by block: random ones, of which each
    block has the columns of the last one moved on."""
    base = np.random.default_rng(5).standard_normal((_BLOCK, dim), dtype=np.float32)
    halves = (base / np.linalg.norm(base, axis=1, keepdims=True)).astype(np.float16)
    for at in range(0, rows, _BLOCK):
        yield np.ascontiguousarray(np.roll(halves, at // _BLOCK, axis=1)[: rows - at])
