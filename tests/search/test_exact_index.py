"""Exact search against NumPy brute force in float32 over the same fp16 values."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from photocraft_local.errors import LibraryCorrupt, SearchError, UsageError
from photocraft_local.search.index import ExactIndex

N, DIM = 20_000, 64
ENGINES = ("native", "numpy", "faiss")
SELECTIVITIES = (0.0001, 0.0005, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, make_vectors: Any) -> tuple[Any, Any]:
    """A memory-mapped store whose ids are neither dense nor in order."""
    rng = np.random.default_rng(11)
    path = tmp_path_factory.mktemp("store") / "vectors.f16"
    make_vectors(rng, N, DIM).tofile(path)
    vectors = np.memmap(path, np.float16, "r", shape=(N, DIM))
    return vectors, rng.permutation(3 * N)[:N].astype(np.int64) + 1


@pytest.fixture(scope="module")
def queries() -> Any:
    rows = np.random.default_rng(12).standard_normal((16, DIM), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def brute_force(store: Any, queries: Any, k: int, allowed: Any) -> tuple[Any, Any]:
    """Ids and scores, best first, of all photos in ``allowed``."""
    vectors, ids = store
    rows = np.flatnonzero(np.isin(ids, allowed))
    scores = queries @ vectors[rows].astype(np.float32).T
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return ids[rows][order], np.take_along_axis(scores, order, axis=1)


def assert_same(found: Any, wanted: tuple[Any, Any]) -> None:
    """Same scores in the same order; the same photos wherever scores are apart."""
    ids, scores = wanted
    assert found.scores.shape == scores.shape
    np.testing.assert_allclose(found.scores, scores, atol=2e-6)
    for mine, theirs, line in zip(found.photo_ids, ids, scores, strict=True):
        if len(line):
            clear = line > line[-1] + 4e-6  # a tie at the end may be cut either way
            assert set(mine[clear].tolist()) == set(theirs[clear].tolist())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("share", SELECTIVITIES)
def test_equals_brute_force_at_every_selectivity(
    store: Any, queries: Any, engine: Any, share: float
) -> None:
    rng = np.random.default_rng(int(share * 1e6))
    index = ExactIndex(*store, engine=engine)
    assert index.engine == engine
    chosen = rng.choice(store[1], max(1, round(N * share)), replace=False)
    for batch in (1, 2, 16):
        found = index.top_k(queries[:batch], 50, chosen)
        assert_same(found, brute_force(store, queries[:batch], 50, chosen))
        assert np.isin(found.photo_ids, chosen).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_equals_brute_force_without_a_filter(store: Any, queries: Any, engine: Any) -> None:
    index = ExactIndex(*store, engine=engine)
    for batch in (1, 16):
        found = index.top_k(queries[:batch], 10)
        assert_same(found, brute_force(store, queries[:batch], 10, store[1]))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_contiguous_filter_equals_brute_force(store: Any, queries: Any, engine: Any) -> None:
    index = ExactIndex(*store, engine=engine)
    chosen = store[1][5_000:5_400]
    for batch in (1, 16):
        assert_same(
            index.top_k(queries[:batch], 20, chosen),
            brute_force(store, queries[:batch], 20, chosen),
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_k_above_the_number_of_candidates_returns_all_of_them(
    store: Any, queries: Any, engine: Any
) -> None:
    index = ExactIndex(*store, engine=engine)
    chosen = store[1][[3, 500, 17_000]]
    for batch in (1, 16):
        found = index.top_k(queries[:batch], 1000, chosen)
        assert_same(found, brute_force(store, queries[:batch], 1000, chosen))
        assert found.photo_ids.shape == (batch, 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_large_k_over_many_panels_equals_brute_force(
    store: Any, queries: Any, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("photocraft_local.search.stores.plain._PANEL_SCORES", 4096)
    monkeypatch.setattr("photocraft_local.search.faiss_scan._GATHER_ELEMENTS", 500 * DIM)
    index = ExactIndex(*store, engine=engine)
    some = store[1][: N // 10]
    for chosen in (some, store[1]):
        for batch in (1, 16):
            assert_same(
                index.top_k(queries[:batch], 1500, chosen),
                brute_force(store, queries[:batch], 1500, chosen),
            )


@pytest.mark.parametrize("engine", ENGINES)
def test_identical_vectors_all_come_back_once(engine: Any, make_vectors: Any) -> None:
    vectors = np.repeat(make_vectors(np.random.default_rng(0), 10, 32), 30, axis=0)
    index = ExactIndex(vectors, np.arange(300), engine=engine)
    query = vectors[45].astype(np.float32)
    for allowed in (None, np.arange(0, 300, 2)):
        found = index.top_k(query, 15, allowed)
        assert len(set(found.photo_ids[0].tolist())) == 15
        assert ((found.photo_ids >= 30) & (found.photo_ids < 60)).all()
        assert (np.diff(found.photo_ids[0]) > 0).all()  # a tie goes by the order of the rows
        assert np.ptp(found.scores) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_tiny_values_are_exact(engine: Any) -> None:
    """Half-precision subnormals, zeros and their signs survive the widening."""
    values = np.array([0, -0.0, 6e-8, -6e-8, 5.9e-5, 6.1e-5, -1, 1, 0.333, -0.0007], np.float16)
    vectors = np.stack([np.roll(values, shift) for shift in range(10)])
    index = ExactIndex(vectors, np.arange(10), engine=engine)
    query = np.zeros(10, np.float32)
    query[0] = 1
    expected = vectors[:, 0].astype(np.float32)
    np.testing.assert_array_equal(index.scores(query), expected)
    np.testing.assert_array_equal(np.sort(index.top_k(query, 10).scores[0]), np.sort(expected))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_selection_finds_nothing(store: Any, queries: Any, engine: Any) -> None:
    index = ExactIndex(*store, engine=engine)
    for nobody in (np.empty(0, np.int64), np.array([10**9, -5])):
        found = index.top_k(queries[:3], 5, nobody)
        assert found.photo_ids.shape == found.scores.shape == (3, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_store_finds_nothing(engine: Any) -> None:
    index = ExactIndex(np.empty((0, 8), np.float16), np.empty(0, np.int64), engine=engine)
    assert index.top_k(np.ones(8, np.float32), 5).photo_ids.shape == (1, 0)
    assert index.scores(np.ones(8, np.float32)).shape == (0,)
    assert not index.has(np.array([1])).any()


def test_ids_that_are_given_twice_count_once(store: Any, queries: Any) -> None:
    index = ExactIndex(*store)
    chosen = np.repeat(store[1][:40], 3)
    found = index.top_k(queries[:2], 100, chosen)
    assert found.photo_ids.shape == (2, 40)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("batch", [1, 16])
def test_rows_of_photos_that_are_gone_are_never_returned(
    store: Any, queries: Any, engine: Any, batch: int
) -> None:
    vectors, ids = store
    present = ids[::3]
    index = ExactIndex(vectors, ids, present=present, engine=engine)
    assert len(index) == len(present)
    everyone = index.top_k(queries[:batch], len(ids))
    assert set(everyone.photo_ids.ravel().tolist()) == set(present.tolist())
    asked = index.top_k(queries[:batch], 50, ids)  # the caller names them all the same
    assert_same(asked, brute_force(store, queries[:batch], 50, present))
    assert np.isnan(index.scores(queries[0], ids[1:2])).all()
    with pytest.raises(SearchError, match="no vector"):
        index.vectors_of(ids[1:2])


@pytest.mark.parametrize("engine", ENGINES)
def test_erased_rows_are_never_returned(engine: Any, make_vectors: Any) -> None:
    vectors = make_vectors(np.random.default_rng(1), 50, 16)
    ids = np.arange(1, 51)
    ids[[4, 20, 21]] = -1
    vectors[[4, 20, 21]] = 0
    index = ExactIndex(vectors, ids, engine=engine)
    found = index.top_k(-vectors[0].astype(np.float32), 100)
    assert found.photo_ids.shape == (1, 47)
    assert (found.photo_ids > 0).all()
    assert index.top_k(vectors[:1].astype(np.float32), 5, np.array([-1])).photo_ids.size == 0


def test_a_photo_with_two_rows_counts_by_the_last(make_vectors: Any) -> None:
    vectors = make_vectors(np.random.default_rng(2), 4, 16)
    index = ExactIndex(vectors, np.array([7, 8, 7, 9]))
    found = index.top_k(vectors[0].astype(np.float32), 10)
    assert sorted(found.photo_ids[0].tolist()) == [7, 8, 9]
    np.testing.assert_array_equal(index.vectors_of(np.array([7]))[0], vectors[2])


def test_scores_follow_the_order_of_the_ids(store: Any, queries: Any) -> None:
    vectors, ids = store
    index = ExactIndex(vectors, ids)
    rows = np.array([900, 3, 3, 15_000])
    asked = np.array([*ids[rows[:2]], 10**9, *ids[rows[2:]]])
    scores = index.scores(queries[:2], asked)
    assert np.isnan(scores[:, 2]).all()
    expected = queries[:2] @ vectors[rows].astype(np.float32).T
    np.testing.assert_allclose(np.delete(scores, 2, axis=1), expected, atol=1e-6)


def test_scores_of_ids_out_of_order_whose_ends_look_like_a_run() -> None:
    vectors = np.eye(6, 8, dtype=np.float16)
    index = ExactIndex(vectors, np.arange(1, 7, dtype=np.int64))
    out_of_order = np.array([2, 4, 6, 3, 5], np.int64)  # rows 1, 3, 5, 2, 4: 4 - 1 + 1 < 5
    looks_like_a_run = np.array([2, 6, 1, 5], np.int64)  # rows 1, 5, 0, 4: 4 - 1 + 1 == 4
    for ids in (out_of_order, looks_like_a_run):
        wanted = [1.0 if photo_id == 6 else 0.0 for photo_id in ids.tolist()]
        assert index.scores(np.eye(8, dtype=np.float32)[5], ids).tolist() == wanted


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(store: Any, queries: Any, k: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        ExactIndex(*store).top_k(queries, k)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_query_that_is_no_number_is_refused(store: Any, queries: Any, bad: float) -> None:
    query = queries[0].copy()
    query[5] = bad
    index = ExactIndex(*store)
    with pytest.raises(UsageError, match="NaN"):
        index.top_k(query, 5)
    with pytest.raises(UsageError, match="NaN"):
        index.scores(query)


def test_a_query_of_another_dimension_is_refused(store: Any) -> None:
    with pytest.raises(UsageError, match="dimensions"):
        ExactIndex(*store).top_k(np.ones(DIM + 1, np.float32), 5)


def test_a_store_that_does_not_fit_its_ids_is_refused(store: Any) -> None:
    with pytest.raises(LibraryCorrupt, match="does not fit"):
        ExactIndex(store[0], store[1][:-1])


def test_ids_far_apart_work_too(make_vectors: Any) -> None:
    vectors = make_vectors(np.random.default_rng(3), 6, 8)
    ids = np.array([2**40, 5, 2**50, 17, 2**33, 1])
    index = ExactIndex(vectors, ids, present=ids[:5])
    found = index.top_k(vectors[2].astype(np.float32), 2, np.array([2**50, 5, 3, 2**60]))
    assert found.photo_ids[0].tolist() == [2**50, 5]


def test_a_small_library_is_searched_without_importing_faiss(tmp_path: Path) -> None:
    code = """
import sys, numpy as np
from photocraft_local.search.index import ExactIndex
index = ExactIndex(np.eye(8, dtype=np.float16), np.arange(8))
assert index.top_k(np.ones(8, np.float32), 3).photo_ids.shape == (1, 3)
print(index.engine in ("native", "numpy"), "faiss" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["True", "False"], result.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_may_search_at_once(store: Any, queries: Any, engine: Any) -> None:
    index = ExactIndex(*store, engine=engine)
    picks = [store[1][at : at + 300] for at in range(0, 8_000, 200)]

    def both(chosen: Any) -> None:
        for batch in (1, 16):
            found = index.top_k(queries[:batch], 10, chosen)
            assert_same(found, brute_force(store, queries[:batch], 10, chosen))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(both, picks))
