"""The GPU store's logic, driven by a stand-in for FAISS's GPU module: no GPU is here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gpu_stand_in
import numpy as np
import pytest

from photocraft_local.errors import SearchError
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores import faiss_gpu
from photocraft_local.search.stores.faiss_gpu import FaissGpuStore
from photocraft_local.search.stores.plain import PlainStore

N, DIM = 6_000, 32


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_gpu, "load_faiss", lambda: gpu_stand_in)


@pytest.fixture(scope="module")
def vectors(make_vectors: Any) -> Any:
    rng = np.random.default_rng(8)
    rows = make_vectors(rng, N, DIM)
    rows[rng.integers(0, N, 500)] = rows[7]  # copies, whose order only the rows decide
    return rows


def opened(vectors: Any) -> FaissGpuStore:
    return FaissGpuStore(vectors, PlainStore(vectors))


def assert_same(gpu: FaissGpuStore, vectors: Any, queries: Any, k: int, rows: Any) -> None:
    found, wanted = gpu.top_k(queries, k, rows), PlainStore(vectors).top_k(queries, k, rows)
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(found[0], wanted[0])


@pytest.mark.parametrize("way", ["gather", "mask"])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_either_way_of_filtering_gives_the_rows_of_the_cpu(
    vectors: Any, way: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = opened(vectors)
    seconds = (0.0, 1.0) if way == "gather" else (1.0, 0.0)
    monkeypatch.setattr(gpu, "_measured", lambda: seconds)
    rng = np.random.default_rng(9)
    rows = np.sort(rng.choice(N, round(N * share), replace=False))
    queries = np.stack([vectors[7], vectors[40], -vectors[7]]).astype(np.float32)
    for k in (1, 12):
        assert_same(gpu, vectors, queries, k, rows)
    if way == "gather" or share > 0.1:
        assert gpu.filtered_by == way


def test_more_gathered_rows_than_fit_at_once_go_in_parts(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_gpu, "_GATHER_BYTES", 2 * DIM * 100)
    gpu = opened(vectors)
    monkeypatch.setattr(gpu, "_measured", lambda: (0.0, 1.0))
    queries = np.stack([vectors[7], vectors[40]]).astype(np.float32)
    for k in (1, 30, 150):
        assert_same(gpu, vectors, queries, k, np.arange(3, N, 7))


def test_what_a_mask_leaves_too_little_of_is_gathered(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of the rows that pass is among the best of all: a mask alone would find nothing."""
    gpu = opened(vectors)
    monkeypatch.setattr(gpu, "_measured", lambda: (1.0, 0.0))
    query = vectors[7].astype(np.float32)
    worst = np.sort(np.argsort(vectors.astype(np.float32) @ query)[: N // 4])
    assert_same(gpu, vectors, query[None], 20, worst)


def test_all_rows_and_large_answers(vectors: Any) -> None:
    gpu = opened(vectors)
    queries = np.random.default_rng(1).standard_normal((5, DIM)).astype(np.float32)
    for k in (1, 50, 2040, 5000, N):  # beyond 2,048 the CPU answers
        assert_same(gpu, vectors, queries, k, None)
    np.testing.assert_array_equal(
        gpu.scores(queries, np.arange(9)), PlainStore(vectors).scores(queries, np.arange(9))
    )


def test_the_switch_point_is_measured_on_the_device(vectors: Any) -> None:
    gpu = opened(vectors)
    gather, scan = gpu._measured()
    assert gather > 0
    assert scan > 0
    assert gpu._measured() == (gather, scan)


def test_only_new_rows_go_to_the_gpu(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_gpu, "_UPLOAD_ELEMENTS", 1000 * DIM)
    ids = np.arange(1, N + 1)
    gpu = opened(vectors[:2500])
    index = ExactIndex(vectors[:2500], ids[:2500], engine=gpu)
    grown = index.followed(vectors, ids)
    assert grown is not None
    assert gpu._index.added == [1000, 1000, 500, 1000, 1000, 1000, 500]
    query = vectors[5000].astype(np.float32)
    assert grown.top_k(query, 1).photo_ids[0].tolist() == [5001]
    less = grown.restricted_to(ids[:4000])
    assert less.store is gpu
    assert less.top_k(query, 30).photo_ids.max() <= 4000


def test_a_gpu_that_is_too_small_is_told(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = opened(vectors[:100])
    monkeypatch.setattr(faiss_gpu, "_UPLOAD_ELEMENTS", 1000 * DIM)
    monkeypatch.setattr(gpu._index, "room", 2 * DIM * 3000)
    with pytest.raises(SearchError, match=r"GPU 0: .*out of memory") as error:
        gpu.grow(vectors)
    assert "auto" in error.value.hint
    monkeypatch.setattr(gpu._index, "room", 1 << 30)
    gpu.grow(vectors)  # what had arrived is not sent twice
    assert gpu._index.added == [100, 1000, 1000, *[1000] * 3, 900]
    assert_same(gpu, vectors, vectors[[5, 5000]].astype(np.float32), 4, None)


def test_a_build_without_gpus_and_a_machine_without_one_are_told(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_stand_in, "get_num_gpus", lambda: 0)
    with pytest.raises(SearchError, match="GPU 0 is wanted, 0 are seen"):
        opened(vectors)
    monkeypatch.delattr(gpu_stand_in, "StandardGpuResources")
    with pytest.raises(SearchError, match="the build for CPUs"):
        opened(vectors)


def test_the_check_for_a_machine_with_a_gpu_is_ready(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(root / "scripts")
    from model_check import vectors
    from model_check.vectors import NAME, check_vectors
    from server_check.findings import Report

    monkeypatch.setattr(vectors, "DIM", 64)
    report = Report("test")
    check_vectors(report, 800)
    assert len(report.checks) == 6
    assert report.good, report.checks
    monkeypatch.setattr(gpu_stand_in, "get_num_gpus", lambda: 0)
    check_vectors(report, 10)
    assert report.checks[-1]["check"] == NAME
    assert report.checks[-1]["ok"] is None
    assert "0 are seen" in report.checks[-1]["why"]
