"""Filtered rows gathered on the device, by a stand-in for torch: no GPU is here. With torch itself,
on the CPU, tests/engine/test_device_rows_torch.py runs the same."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import gpu_stand_in
import numpy as np
import pytest
import torch_stand_in

from photocraft_local.errors import SearchError
from photocraft_local.search.stores import choice, device_rows, faiss_gpu
from photocraft_local.search.stores.device_rows import DeviceRows
from photocraft_local.search.stores.faiss_gpu import FaissGpuStore
from photocraft_local.search.stores.plain import PlainStore

N, DIM = 4_000, 32


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    return stand(torch_stand_in, monkeypatch)


def stand(module: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``module`` for torch, its CPU for the device."""
    monkeypatch.setattr(faiss_gpu, "load_faiss", lambda: gpu_stand_in)
    monkeypatch.setattr(faiss_gpu, "torch_device", lambda number: (module, "cpu"))
    return module


@pytest.fixture(scope="module")
def vectors() -> Any:
    rng = np.random.default_rng(8)
    wide = rng.standard_normal((N, DIM))
    rows = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float16)
    rows[rng.integers(0, N, 400)] = rows[7]  # copies, whose order only the rows decide
    rows.flags.writeable = False  # as a mapped file is
    return rows


def opened(vectors: Any, way: str, monkeypatch: pytest.MonkeyPatch) -> FaissGpuStore:
    gpu = FaissGpuStore(vectors, PlainStore(vectors))
    prefer(gpu, way, monkeypatch)
    return gpu


def prefer(gpu: FaissGpuStore, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"gather": (0.0, 2.0), "mask": (2.0, 0.0), "device": (2.0, 2.0)}
    monkeypatch.setattr(gpu, "_measured", lambda: costs[way])
    monkeypatch.setattr(DeviceRows, "seconds", lambda self, number: 1.0)


def assert_same(gpu: FaissGpuStore, vectors: Any, queries: Any, k: int, rows: Any) -> None:
    found, wanted = gpu.top_k(queries, k, rows), PlainStore(vectors).top_k(queries, k, rows)
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(found[0], wanted[0])


@pytest.mark.parametrize("way", ["gather", "mask", "device"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("chunk", [1 << 28, 6 * DIM * 50])
def test_each_way_gives_the_rows_of_the_cpu(
    vectors: Any, way: str, share: float, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_rows, "_CHUNK_BYTES", chunk)
    monkeypatch.setattr(device_rows, "_UPLOAD_ELEMENTS", 700 * DIM)
    gpu = opened(vectors, way, monkeypatch)
    rows = np.sort(np.random.default_rng(9).choice(N, round(N * share), replace=False))
    queries = np.stack([vectors[7], vectors[40], -vectors[7]]).astype(np.float32)
    for k in (1, 12, 40):
        assert_same(gpu, vectors, queries, k, rows)
    if way != "mask" or share > 0.1:
        assert gpu.filtered_by == way
    assert "twice" in gpu.reason


def test_what_a_mask_leaves_too_little_of_is_gathered_there(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = opened(vectors, "mask", monkeypatch)
    monkeypatch.setattr(gpu, "_from_host", lambda *given: pytest.fail("rows came from the host"))
    query = vectors[7].astype(np.float32)
    worst = np.sort(np.argsort(vectors.astype(np.float32) @ query)[: N // 4])
    assert_same(gpu, vectors, query[None], 20, worst)
    assert gpu.filtered_by == "mask"


def test_the_copy_grows_with_the_store_and_stays_within_a_searchs_rows(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows come while a search runs: it answers for those that it began with."""
    gpu = opened(vectors[:1000], "device", monkeypatch)
    query = vectors[[7, 3999]].astype(np.float32)
    assert_same(gpu, vectors[:1000], query, 5, np.arange(0, 1000, 3))
    search, within = threading.Event(), gpu._within

    def grown_before(*given: Any) -> Any:
        if not search.is_set():
            search.set()
            gpu._lock.release()
            gpu.grow(vectors[:1100])  # into the room that is spare
            gpu.grow(vectors)
            gpu._lock.acquire()
        return within(*given)

    monkeypatch.setattr(gpu, "_within", grown_before)
    assert_same(gpu, vectors[:1000], query, 5, np.arange(1, 1000, 3))
    assert search.is_set()
    assert_same(gpu, vectors, query, 5, np.arange(1, N, 3))
    assert gpu.filtered_by == "device"


def test_searches_beside_a_growing_store(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = opened(vectors[:500], "device", monkeypatch)
    queries, rows = vectors[[7, 40]].astype(np.float32), np.arange(0, 500, 2)
    wanted = PlainStore(vectors).top_k(queries, 9, rows)
    found: list[Any] = []

    def search() -> None:
        found.extend(gpu.top_k(queries, 9, rows) for _ in range(12))

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(700, N + 1, 300):
        gpu.grow(vectors[:number])
    for thread in threads:
        thread.join()
    assert len(found) == 24
    for scores, best in found:
        np.testing.assert_array_equal(best, wanted[1])
        np.testing.assert_array_equal(scores, wanted[0])


def test_memory_that_runs_out_is_told_once_and_the_present_ways_go_on(
    vectors: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gpu = opened(vectors, "device", monkeypatch)
    queries, rows = vectors[[7, 40]].astype(np.float32), np.arange(0, N, 4)
    assert_same(gpu, vectors, queries, 9, rows)

    def fails(*given: Any) -> Any:
        raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB")

    monkeypatch.setattr(DeviceRows, "best", fails)
    for _ in range(3):
        assert_same(gpu, vectors, queries, 9, rows)
        assert gpu.filtered_by in ("gather", "mask")
    assert "from the host, since CUDA out of memory" in gpu.reason
    assert caplog.text.count("out of memory") == 1


def test_a_second_copy_that_has_no_room_is_not_tried(
    vectors: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gpu = opened(vectors[:1000], "device", monkeypatch)
    queries = vectors[[7, 40]].astype(np.float32)
    assert_same(gpu, vectors[:1000], queries, 9, np.arange(0, 1000, 4))
    monkeypatch.setattr(device_rows, "free_bytes", lambda torch, device: 1 << 20)
    gpu.grow(vectors)
    assert_same(gpu, vectors, queries, 9, np.arange(0, N, 4))
    assert gpu.filtered_by in ("gather", "mask")
    assert "MiB of cpu, where 1 are free" in gpu.reason
    assert caplog.text.count("second copy") == 1


def test_the_second_copy_makes_way_for_faisss_own(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that could grow before filters ran can grow after."""
    gpu = opened(vectors[:1000], "device", monkeypatch)
    rows, queries = np.arange(0, 1000, 4), vectors[[7, 40]].astype(np.float32)
    assert_same(gpu, vectors[:1000], queries, 9, rows)
    released, release = [], DeviceRows.release

    def told(self: DeviceRows) -> None:
        release(self)
        released.append(True)
        monkeypatch.setattr(gpu._index, "room", 1 << 30)

    monkeypatch.setattr(DeviceRows, "release", told)
    monkeypatch.setattr(gpu._index, "room", 2 * DIM * 1500)
    gpu.grow(vectors)
    assert released == [True]
    assert "FAISS's own copy" in gpu.reason
    assert_same(gpu, vectors, queries, 9, np.arange(0, N, 4))


def test_the_cost_is_measured_once_on_the_device(vectors: Any, torch: Any) -> None:
    rows = DeviceRows(torch, "cpu", DIM)
    rows.follow(vectors)
    first = rows.seconds(1)
    assert first > 0
    assert rows.seconds(1) == first
    assert rows.seconds(N) >= first


@pytest.mark.parametrize("fault", [ImportError, OSError])
def test_a_torch_that_cannot_be_loaded_leaves_the_present_ways(
    vectors: Any, fault: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = f"raise {fault.__name__}('libcudart.so.13: cannot open shared object file')"
    (tmp_path / "torch.py").write_text(broken)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(faiss_gpu, "torch_device", device_rows.torch_device)
    gpu = opened(vectors, "mask", monkeypatch)
    assert_same(gpu, vectors, vectors[[7, 40]].astype(np.float32), 9, np.arange(0, N, 4))
    assert "cannot be loaded: libcudart" in gpu.reason


def test_no_torch_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_faiss_is_there", lambda: True)
    monkeypatch.setattr(device_rows, "find_spec", lambda name: None)
    monkeypatch.setattr(choice.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SearchError, match="torch is not installed"):
        device_rows.torch_device(0)
    assert "since torch is not installed" in choice.choose("faiss-gpu", 10).reason
