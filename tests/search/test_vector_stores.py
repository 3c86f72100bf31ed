"""All vector stores give the same rows with the same scores, and say which of them runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from photocraft_local.errors import LibraryCorrupt, MissingExtraError, SettingsError, UsageError
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores import choice
from photocraft_local.search.stores.faiss_cpu import FaissStore
from photocraft_local.search.stores.native import NativeStore
from photocraft_local.search.stores.plain import PlainStore
from photocraft_local.settings import Settings

N, DIM = 4_000, 48
native = pytest.importorskip("photocraft_local.search._native")
CODES = [code for code in ("AVX-512", "AVX2", "") if code == native.vectors() or code == ""] + (
    ["AVX2"] if native.vectors() == "AVX-512" else []
)


@pytest.fixture(scope="module")
def vectors(make_vectors: Any) -> Any:
    """Unit rows, a tenth of them twice or more often."""
    rng = np.random.default_rng(5)
    rows = make_vectors(rng, N, DIM)
    rows[rng.integers(0, N, N // 10)] = rows[rng.integers(0, 20, N // 10)]
    return rows


@pytest.fixture(scope="module")
def queries(vectors: Any) -> Any:
    """Some that tie with copies, some that do not."""
    rng = np.random.default_rng(6)
    free = rng.standard_normal((9, DIM)).astype(np.float32)
    return np.concatenate([vectors[:5].astype(np.float32), free, np.zeros((1, DIM), np.float32)])


def truth(vectors: Any, queries: Any, k: int, rows: Any) -> tuple[Any, Any]:
    """By whole numbers of double precision, and by row where they tie."""
    scores = (queries.astype(np.float64) @ vectors[rows].astype(np.float64).T).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, order, axis=1), rows[order]


def stores(vectors: Any) -> list[Any]:
    return [
        *(NativeStore(vectors, vectors=code) for code in CODES),
        PlainStore(vectors),
        FaissStore(vectors),
    ]


def assert_identical(found: tuple[Any, Any], wanted: tuple[Any, Any]) -> None:
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(found[0], wanted[0])


@pytest.mark.parametrize("batch", [1, 3, 4, 15])
@pytest.mark.parametrize("share", [0.002, 0.05, 0.4, 1.0])
def test_all_stores_give_the_same_rows_and_the_same_scores(
    vectors: Any, queries: Any, batch: int, share: float
) -> None:
    rng = np.random.default_rng(7)
    rows = np.sort(rng.choice(N, max(1, round(N * share)), replace=False))
    for k in (1, min(20, len(rows)), min(500, len(rows)), len(rows)):
        wanted = truth(vectors, queries[-batch:], k, rows)
        for store in stores(vectors):
            assert_identical(store.top_k(queries[-batch:], k, rows), wanted)
            if share == 1.0:
                assert_identical(store.top_k(queries[-batch:], k, None), wanted)


@pytest.mark.parametrize("dim", [1, 7, 16, 31, 33, 64, 100])
def test_any_dimension_is_exact(make_vectors: Any, dim: int) -> None:
    rng = np.random.default_rng(dim)
    vectors = make_vectors(rng, 301, dim)
    queries = rng.standard_normal((7, dim)).astype(np.float32)
    rows = np.sort(rng.choice(301, 130, replace=False))
    for store in stores(vectors):
        for batch in (1, 7):
            wanted = truth(vectors, queries[:batch], 11, rows)
            assert_identical(store.top_k(queries[:batch], 11, rows), wanted)
        shuffled = rng.permutation(rows)
        exact = queries.astype(np.float64) @ vectors[shuffled].astype(np.float64).T
        np.testing.assert_array_equal(store.scores(queries, shuffled), exact.astype(np.float32))


def test_near_ties_that_single_precision_would_swap_are_told_apart() -> None:
    """The sum of a row's products cancels to far below its largest; only double keeps the order."""
    steps = np.arange(64)
    vectors = np.zeros((64, 32), np.float16)
    vectors[:, 0], vectors[:, 1] = 1, -1
    vectors[:, 2] = steps[::-1] * 2.0**-14
    query = np.zeros((1, 32), np.float32)
    query[0, :3] = 1, 1, 2.0**-13
    for store in stores(vectors):
        for batch in (1, 5):
            scores, rows = store.top_k(np.repeat(query, batch, axis=0), 10, None)
            np.testing.assert_array_equal(rows, np.tile(np.arange(10), (batch, 1)))
            assert (np.diff(scores) < 0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("batch", [1, 5])
def test_a_damaged_row_is_an_error_and_no_hit(vectors: Any, bad: float, batch: int) -> None:
    broken = vectors.copy()
    broken[1234, 3] = bad
    query = np.ones((batch, DIM), np.float32)
    for store in stores(broken):
        with pytest.raises(LibraryCorrupt, match="NaN or infinity"):
            store.top_k(query, N, None)
    healthy = np.arange(1000)
    for store in stores(broken):
        assert store.top_k(query, 3, healthy)[1].shape == (batch, 3)


def test_the_extension_refuses_what_it_cannot_read(vectors: Any) -> None:
    store = NativeStore(vectors)
    query = np.ones((1, DIM), np.float32)
    for rows in (np.array([0, N]), np.array([-1, 4]), np.array([4, 3]), np.array([4, 4])):
        with pytest.raises(ValueError, match="row"):
            store.top_k(query, 1, rows)
    with pytest.raises(ValueError, match="dimension"):
        store.top_k(query[:, 1:], 1, None)
    with pytest.raises(ValueError, match="found"):
        store.top_k(query, N + 1, None)
    with pytest.raises(ValueError, match="halves"):
        NativeStore(vectors.astype(np.float32)).top_k(query, 1, None)
    with pytest.raises(ValueError, match="vector instructions"):
        NativeStore(vectors, vectors="MMX").top_k(query, 1, None)


def test_a_batch_beyond_its_room_is_split(
    vectors: Any, queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ExactIndex(vectors, np.arange(1, N + 1))
    whole = index.top_k(queries, 30)
    seen: list[int] = []
    inner = index.store.top_k

    def counted(some: Any, k: int, rows: Any) -> Any:
        seen.append(len(some))
        return inner(some, k, rows)

    monkeypatch.setattr(index.store, "top_k", counted)
    monkeypatch.setattr("photocraft_local.search.index._GROUP_BYTES", 4 * (48 * 30 + 16 * DIM))
    parts = index.top_k(queries, 30)
    assert seen == [4, 4, 4, 3]
    assert_identical((parts.scores, parts.photo_ids), (whole.scores, whole.photo_ids))


@pytest.mark.parametrize("engine", ["native", "numpy", "faiss"])
def test_rows_are_added_and_removed_without_a_rebuild(vectors: Any, engine: str) -> None:
    ids = np.arange(1, N + 1)
    index = ExactIndex(vectors[:3000], ids[:3000], engine=engine)
    store = index.store
    grown = index.followed(vectors, ids)
    assert grown is not None
    assert grown.store is store
    query = vectors[3500].astype(np.float32)
    assert 3501 in grown.top_k(query, 400).photo_ids
    erased, zeroed = ids.copy(), vectors.copy()
    erased[3500], zeroed[3500] = -1, 0
    less = grown.followed(zeroed, erased)
    assert less is not None
    assert 3501 not in less.top_k(query, N).photo_ids
    assert len(less) == N - 1
    compacted = np.delete(erased, 10)
    assert less.followed(np.delete(zeroed, 10, axis=0), compacted) is None
    assert less.followed(zeroed, np.roll(ids, 1)) is None


@pytest.mark.parametrize("engine", ["native", "numpy", "faiss"])
@pytest.mark.parametrize("batch", [1, 5])
def test_an_index_stays_what_it_is_when_another_has_followed_the_file(
    vectors: Any, queries: Any, engine: str, batch: int
) -> None:
    ids = np.arange(1, N + 1)
    old = ExactIndex(vectors[:3000], ids[:3000], engine=engine)
    asked = np.concatenate([vectors[3500:3503].astype(np.float32), queries])[:batch]
    before = old.top_k(asked, 7)
    grown = old.followed(vectors, ids)
    assert grown is not None
    assert (grown.top_k(asked, 7).photo_ids > 3000).any()
    after = old.top_k(asked, 7)
    assert_identical((after.scores, after.photo_ids), (before.scores, before.photo_ids))
    assert old.scores(asked).shape == (batch, 3000)


@pytest.mark.parametrize("engine", ["native", "numpy", "faiss"])
def test_searches_that_run_while_photos_come_are_right(vectors: Any, engine: str) -> None:
    """Each answer is that of the file before or after, never of something in between."""
    ids = np.arange(1, N + 1)
    index = ExactIndex(vectors[:500], ids[:500], engine=engine)
    query = vectors[3999].astype(np.float32)
    wanted = index.top_k(query, 5).photo_ids
    faults: list[object] = []
    grown = Event()

    def search() -> None:
        try:
            while not grown.is_set():
                np.testing.assert_array_equal(index.top_k(query, 5).photo_ids, wanted)
        except BaseException as error:
            faults.append(error)

    threads = [Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    newest: ExactIndex | None = index
    for count in range(510, N + 1, 10):
        assert newest is not None
        newest = newest.followed(vectors[:count], ids[:count])
    grown.set()
    for thread in threads:
        thread.join()
    assert not faults


def test_auto_says_what_it_chose_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    best = choice.choose("auto", 10)
    assert (best.name, best.hint) == ("native", "") or native.vectors() == ""
    monkeypatch.setattr(choice, "vector_code", lambda: None)
    monkeypatch.setattr(choice, "_faiss_is_loaded", lambda: False)
    small = choice.choose("auto", 10)
    assert small.name == "numpy"
    assert "not built" in small.reason
    assert "compiler" in small.hint
    assert choice.choose("auto", 1 << 26).name == "faiss"
    monkeypatch.setattr(choice, "_faiss_is_there", lambda: False)
    assert "not installed" in choice.choose("auto", 1 << 26).reason
    with pytest.raises(MissingExtraError, match="faiss"):
        choice.choose("faiss", 10)
    with pytest.raises(MissingExtraError, match="faiss") as gpu:
        choice.choose("faiss-gpu", 10)
    assert "[gpu]" in f"{gpu.value} {gpu.value.hint}"
    with pytest.raises(SettingsError, match="not built"):
        choice.choose("native", 10)
    with pytest.raises(UsageError, match="no vector store"):
        choice.choose("annoy", 10)
    with pytest.raises(SettingsError, match="vector_store"):
        Settings(vector_store="annoy")


_UNLOADABLE = """
import numpy as np
from photocraft_local.errors import SearchError
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores import choice
index = ExactIndex(np.eye(8, dtype=np.float16), np.arange(1, 9))
assert index.top_k(np.ones(8, np.float32), 3).photo_ids.shape == (1, 3)
choice.vector_code = lambda: None
fallen = choice.choose("auto", 1 << 26)
assert fallen.name == "numpy", fallen
for engine in ("faiss", "faiss-gpu"):
    try:
        ExactIndex(np.eye(8, dtype=np.float16), np.arange(1, 9), engine=engine)
    except SearchError as error:
        assert "cannot be loaded" in error.message
        assert "auto" in error.hint
    else:
        raise AssertionError(engine)
print(fallen.reason)
"""


def test_a_faiss_that_cannot_be_loaded_leaves_the_cpu_path(tmp_path: Path) -> None:
    """What faiss-gpu does on a machine without NVIDIA's libraries."""
    (tmp_path / "faiss.py").write_text("raise RuntimeError('nvidia-cuda-runtime is missing')")
    done = subprocess.run(
        [sys.executable, "-c", _UNLOADABLE],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "nvidia-cuda-runtime is missing" in done.stdout
