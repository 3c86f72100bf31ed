"""Rows and ids on disk: what a kill, a full drive or a damaged file may leave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from photocraft_local.errors import LibraryCorrupt, LibraryNotFound, StorageFull
from photocraft_local.storage.rows import RowStore

DIM = 8


def rows(ids: list[int]) -> np.ndarray:
    """A row that tells its id."""
    return np.repeat(np.array(ids, np.float16)[:, None], DIM, axis=1)


def store_of(folder: Path, ids: list[int]) -> RowStore:
    store = RowStore.create(folder, DIM, {"kind": "test"})
    store.append(np.array(ids, np.int64), rows(ids))
    return store


def fill(store: RowStore, stored: list[int]) -> None:
    ids = np.arange(1, 1001, dtype=np.int64)
    for start in range(0, 10**6, 1000):
        store.append(ids + start, np.ones((1000, DIM), np.float16))
        stored += (ids + start).tolist()


def assert_holds(folder: Path, ids: list[int]) -> None:
    store = RowStore.open(folder)
    assert store.ids().tolist() == ids
    live = [max(number, 0) for number in ids]
    np.testing.assert_array_equal(store.rows(store.count), rows(live))


def test_appended_rows_are_there_after_opening(tmp_path: Path) -> None:
    store_of(tmp_path / "s", [3, 1, 2]).append(np.array([9], np.int64), rows([9]))
    assert_holds(tmp_path / "s", [3, 1, 2, 9])
    assert RowStore.open(tmp_path / "s").facts == {"kind": "test"}


def test_an_empty_store_has_no_rows(tmp_path: Path) -> None:
    store = RowStore.create(tmp_path / "s", DIM, {})
    assert store.rows(0).shape == (0, DIM)
    assert store.ids().shape == (0,)


def test_any_torn_tail_is_cut_and_overwritten(tmp_path: Path) -> None:
    """A kill may leave any prefix of the rows, then any prefix of the ids."""
    row_bytes = rows([7, 8]).tobytes()
    id_bytes = np.array([7, 8], np.int64).tobytes()
    for cut in range(len(row_bytes) + len(id_bytes)):
        folder = tmp_path / f"{cut}"
        store_of(folder, [1, 2])
        with (folder / "vectors.f16").open("ab") as file:
            file.write(row_bytes[:cut])
        with (folder / "ids.i64").open("ab") as file:
            file.write(id_bytes[: max(0, cut - len(row_bytes))])
        whole = [7] if cut >= len(row_bytes) + 8 else []
        assert_holds(folder, [1, 2, *whole])
        RowStore.open(folder).append(np.array([5], np.int64), rows([5]))
        assert_holds(folder, [1, 2, *whole, 5])


def test_rows_that_are_cut_short_are_corrupt(tmp_path: Path) -> None:
    store_of(tmp_path / "s", [1, 2])
    path = tmp_path / "s" / "vectors.f16"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LibraryCorrupt, match=r"2 vectors of 8 numbers need 32 bytes, it has 31"):
        RowStore.open(tmp_path / "s")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"format": 99, "dim": 8, "facts": {}, "generation": 1, "files": ["a", "b"]}',
    ],
)
def test_a_header_that_says_nothing_is_corrupt(tmp_path: Path, header: bytes) -> None:
    store_of(tmp_path / "s", [1])
    (tmp_path / "s" / "header.json").write_bytes(header)
    with pytest.raises(LibraryCorrupt, match=r"header\.json"):
        RowStore.open(tmp_path / "s")


@pytest.mark.parametrize("number", [0, -2, -(2**63), 2**40, 2**63 - 1])
def test_numbers_that_are_no_ids_are_corrupt(tmp_path: Path, number: int) -> None:
    store_of(tmp_path / "s", [1, 2])
    (tmp_path / "s/ids.i64").write_bytes(np.array([1, number], "<i8").tobytes())
    with pytest.raises(LibraryCorrupt, match=r"ids\.i64") as info:
        RowStore.open(tmp_path / "s")
    assert f"remove the folder {tmp_path / 's'} and run: photocraft index" in info.value.hint


def test_a_file_that_is_gone_is_corrupt_and_a_folder_that_is_gone_not_found(tmp_path: Path) -> None:
    store_of(tmp_path / "s", [1])
    (tmp_path / "s" / "ids.i64").unlink()
    with pytest.raises(LibraryCorrupt):
        RowStore.open(tmp_path / "s")
    with pytest.raises(LibraryNotFound):
        RowStore.open(tmp_path / "t")


def test_erasing_zeroes_the_row_at_once_also_for_open_readers(tmp_path: Path) -> None:
    store = store_of(tmp_path / "s", [1, 2, 3])
    reader = RowStore.open(tmp_path / "s").rows(3)
    assert store.erase(np.array([2, 99], np.int64)) == 1
    assert_holds(tmp_path / "s", [1, -1, 3])
    assert not reader[1].any()
    assert (
        np.array([2.0] * DIM, np.float16).tobytes()
        not in (tmp_path / "s" / "vectors.f16").read_bytes()
    )


def test_compaction_keeps_order_and_open_readers(tmp_path: Path) -> None:
    store = store_of(tmp_path / "s", [5, 4, 3, 2, 1])
    reader = RowStore.open(tmp_path / "s").rows(5)
    store.erase(np.array([4], np.int64))
    assert store.compact(np.array([1, 2, 5, 77], np.int64)) == 2
    assert_holds(tmp_path / "s", [5, 2, 1])
    np.testing.assert_array_equal(reader[[0, 2]], rows([5, 3]))
    store.append(np.array([6], np.int64), rows([6]))
    assert store.compact(np.array([6, 5], np.int64)) == 2
    assert store.compact(np.array([6, 5], np.int64)) == 0
    assert_holds(tmp_path / "s", [5, 6])
    assert len(list((tmp_path / "s").iterdir())) == 3


def test_a_compaction_that_was_killed_before_its_rename_changes_nothing(tmp_path: Path) -> None:
    store = store_of(tmp_path / "s", [1, 2, 3])
    (tmp_path / "s" / "vectors-2.f16").write_bytes(b"half")
    (tmp_path / "s" / ".header.json.1.partial").write_bytes(b"{")
    assert_holds(tmp_path / "s", [1, 2, 3])
    store.compact(np.array([3], np.int64))
    assert_holds(tmp_path / "s", [3])


def test_a_full_drive_leaves_what_was(small_drive: Path) -> None:
    store = RowStore.create(small_drive / "s", DIM, {})
    stored: list[int] = []
    with pytest.raises(StorageFull):
        fill(store, stored)
    assert RowStore.open(small_drive / "s").ids().tolist() == stored
    assert len(stored) > 10_000
    with pytest.raises(StorageFull):
        store.compact(np.array(stored[1:], np.int64))
    assert RowStore.open(small_drive / "s").ids().tolist() == stored
