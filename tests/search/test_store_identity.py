"""Whatever the numbers and the shapes are, all vector stores give one and the same answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_vector_stores import CODES, assert_identical, stores

from photocraft_local.errors import SearchError
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores.native import NativeStore

DIMS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100)
KINDS = ("unit", "few values", "cancelling", "denormal", "wide")
QUERIES = ("normal", "rows", "few values", "tiny", "scaled", "signed zeros")


def made_rows(dice: np.random.Generator, count: int, dim: int, kind: str) -> Any:
    if kind == "denormal":  # below the least normal half
        return (dice.integers(-20, 21, (count, dim)) * 2.0**-24).astype(np.float16)
    if kind == "few values":
        rows = dice.integers(-1, 2, (count, dim)).astype(np.float64)
    elif kind == "cancelling":
        rows = dice.integers(-2, 3, (count, dim)) * 2.0 ** dice.integers(-14, 0, (count, dim))
    else:
        rows = dice.standard_normal((count, dim))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    if kind == "wide":
        rows *= 2.0 ** -dice.integers(0, 24, (count, dim))
    halves = rows.astype(np.float16)
    halves[dice.integers(0, count, count // 3)] = halves[dice.integers(0, count)]  # duplicates
    return halves


def made_queries(dice: np.random.Generator, count: int, rows: Any, kind: str) -> Any:
    shape = (count, rows.shape[1])
    match kind:
        case "rows":
            made = rows[dice.integers(0, len(rows), count)]
        case "few values":
            made = dice.integers(-1, 2, shape)
        case "tiny":  # below the least normal single
            made = dice.standard_normal(shape) * 1e-40
        case "scaled":
            made = dice.standard_normal(shape) * 10.0 ** dice.integers(-12, 4, shape)
        case "signed zeros":
            made = np.where(dice.random(shape) < 0.5, -0.0, 0.1)
        case _:
            made = dice.standard_normal(shape)
    return made.astype(np.float32)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.sampled_from([1, 2, 3, 17, 63, 64, 65, 130, 300]),
    dim=st.sampled_from(DIMS),
    kind=st.sampled_from(KINDS),
    asked=st.sampled_from(QUERIES),
    batch=st.sampled_from([1, 2, 3, 4, 7, 13]),
    share=st.sampled_from([0.0, 0.03, 0.5, 1.0, None]),
)
def test_every_store_gives_one_answer(
    seed: int, count: int, dim: int, kind: str, asked: str, batch: int, share: float | None
) -> None:
    dice = np.random.default_rng(seed)
    vectors = made_rows(dice, count, dim, kind)
    queries = made_queries(dice, batch, vectors, asked)
    rows = None
    if share is not None:  # all-true filters, too
        rows = np.sort(dice.choice(count, max(1, round(share * count)), replace=False))
    chosen = np.arange(count) if rows is None else rows
    k = int(dice.integers(1, len(chosen) + 1))
    first, *others = stores(vectors)
    wanted, scores = first.top_k(queries, k, rows), first.scores(queries, rows)
    for line in range(batch):  # a search for every match ranks as a search for the best
        places = np.searchsorted(chosen, wanted[1][line])
        np.testing.assert_array_equal(scores[line][places], wanted[0][line])
        order = np.argsort(-scores[line], kind="stable")[:k]
        np.testing.assert_array_equal(chosen[order], wanted[1][line])
    for other in others:
        assert_identical(other.top_k(queries, k, rows), wanted)
        np.testing.assert_array_equal(other.scores(queries, rows), scores)


def test_a_query_too_short_for_single_precision_finds_the_best() -> None:
    """Its products with the best row vanish in single precision, one by one; their sum does not."""
    vectors = np.zeros((101, 64), np.float16)
    vectors[:100, 0] = 0.5
    vectors[100] = 2.0**-4
    query = np.full((1, 64), 2.0**-148, np.float32)
    for store in stores(vectors):
        for batch in (1, 5):
            scores, rows = store.top_k(np.repeat(query, batch, axis=0), 1, None)
            assert rows.tolist() == [[100]] * batch
            assert scores.tolist() == [[2.0**-146]] * batch


def test_a_map_that_begins_at_an_odd_byte_is_read_rightly(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    vectors = made_rows(dice, 130, 33, "unit")
    queries = dice.standard_normal((5, 33)).astype(np.float32)
    for shift in (1, 2, 7):
        path = tmp_path / f"{shift}"
        path.write_bytes(bytes(shift) + vectors.tobytes())
        mapped = np.memmap(path, np.float16, "r", offset=shift, shape=vectors.shape)
        for store, plain in zip(stores(mapped), stores(vectors), strict=True):
            assert_identical(store.top_k(queries, 40, None), plain.top_k(queries, 40, None))
            np.testing.assert_array_equal(store.scores(queries, None), plain.scores(queries, None))


@pytest.mark.parametrize("engine", ["native", "numpy", "faiss"])
def test_nothing_to_find_and_more_wanted_than_there_is(engine: str) -> None:
    nothing = ExactIndex(np.empty((0, 5), np.float16), np.empty(0, np.int64), engine=engine)
    query = np.ones(5, np.float32)
    assert nothing.top_k(query, 3).photo_ids.shape == (1, 0)
    assert nothing.scores(query).shape == (0,)
    one = ExactIndex(np.eye(1, 5, dtype=np.float16), np.array([7]), engine=engine)
    assert one.top_k(query, 99).photo_ids.tolist() == [[7]]
    assert one.top_k(query, 1, np.array([], np.int64)).photo_ids.shape == (1, 0)
    assert one.top_k(query, 1, np.array([8])).photo_ids.shape == (1, 0)
    assert one.top_k(query, 2, np.array([7, 7])).photo_ids.tolist() == [[7]]
    assert one.top_k(np.empty((0, 5), np.float32), 1).photo_ids.shape == (0, 1)


def test_where_memory_is_short_a_batch_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(2)
    vectors = made_rows(dice, 90, 16, "unit")
    queries = dice.standard_normal((11, 16)).astype(np.float32)
    index = ExactIndex(vectors, np.arange(1, 91), engine="numpy")
    whole = index.top_k(queries, 30)
    inner, seen = index.store.top_k, []

    def tight(some: Any, k: int, rows: Any) -> Any:
        seen.append(len(some))
        if len(some) > 3:
            raise MemoryError
        return inner(some, k, rows)

    monkeypatch.setattr(index.store, "top_k", tight)
    parts = index.top_k(queries, 30)
    assert_identical((parts.scores, parts.photo_ids), (whole.scores, whole.photo_ids))
    assert seen == [11, 5, 2, 3, 6, 3, 3]

    def full(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(index.store, "top_k", full)
    with pytest.raises(SearchError, match="do not fit into memory") as error:
        index.top_k(queries, 30)
    assert "fewer" in error.value.hint


_LIMITED = """
import resource, sys
import numpy as np
from photocraft_local.errors import SearchError
from photocraft_local.search.index import ExactIndex
dice = np.random.default_rng(3)
rows = dice.standard_normal((20_000, 32))
rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
queries = dice.standard_normal((600, 32)).astype(np.float32)
index = ExactIndex(rows, np.arange(1, 20_001), engine="native")
wanted = index.top_k(queries[:4], 5000)
free = int(sys.argv[1]) << 20
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + free, -1))
try:
    found = index.top_k(queries, 5000)
except SearchError as error:
    print(error.message)
else:
    assert np.array_equal(found.photo_ids[:4], wanted.photo_ids)
    print("found", found.scores.shape)
"""


@pytest.mark.parametrize(
    ("megabytes", "said"), [(150, "found (600, 5000)"), (8, "fit into memory")]
)
def test_under_a_limit_of_memory_a_batch_is_split_or_refused(megabytes: int, said: str) -> None:
    """By the extension: OpenBLAS, under NumPy, ends the process where it gets no memory."""
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(megabytes)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout


def test_every_code_of_the_extension_reads_a_block_that_is_not_full() -> None:
    """64 rows are a block: what stands behind the last row is never an answer."""
    for count in (1, 63, 64, 65, 127, 129):
        vectors = np.full((count, 17), 1 / 8, np.float16)
        for code in CODES:
            for batch in (1, 4):
                query = -np.ones((batch, 17), np.float32)
                scores, rows = NativeStore(vectors, vectors=code).top_k(query, count, None)
                assert rows.tolist() == [list(range(count))] * batch
                assert (scores == -17 / 8).all()
