"""A vector space keeps what was appended, refuses what is no vector, and never mixes encoders."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import EncoderSpec
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.errors import EncoderError, LibraryCorrupt, LibraryNotFound

SPEC = EncoderSpec("test", "r1", "p1", 16, 32)


def vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, SPEC.dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(folder: Path, ids: list[int]) -> VectorSpace:
    space = VectorSpace.open(folder, SPEC, create=True)
    space.append(np.array(ids), vectors(len(ids)))
    return space


def test_vectors_come_back_by_photo(tmp_path: Path) -> None:
    space = filled(tmp_path / "s", [4, 2, 9])
    space.append(np.array([7]), vectors(1, seed=1))
    for opened in (space, VectorSpace.open(tmp_path / "s", SPEC)):
        assert len(opened) == 4
        assert opened.photo_ids.tolist() == [4, 2, 9, 7]
        assert opened.photo_ids.dtype == np.int64
        assert opened.vectors.dtype == np.float16
        expected = np.concatenate([vectors(3), vectors(1, seed=1)])
        np.testing.assert_allclose(opened.vectors, expected, atol=1e-3)
    assert isinstance(space.vectors, np.memmap)


def test_many_small_appends_equal_one(tmp_path: Path) -> None:
    space = VectorSpace.open(tmp_path / "s", SPEC, create=True)
    rows = vectors(100)
    for start in range(0, 100, 7):
        space.append(np.arange(start, min(start + 7, 100)) + 1, rows[start : start + 7])
        assert len(space) == len(space.vectors) == len(space.photo_ids) == min(start + 7, 100)
    np.testing.assert_array_equal(space.vectors, rows.astype(np.float16))
    assert space.photo_ids.tolist() == list(range(1, 101))


def test_pending_photos_are_those_without_a_row(tmp_path: Path) -> None:
    space = filled(tmp_path / "s", [4, 2, 9])
    assert space.pending(np.array([1, 2, 3, 4, 9, 10, 500])).tolist() == [1, 3, 10, 500]
    space.append(np.array([500]), vectors(1))
    assert space.pending(np.array([10, 500, 501])).tolist() == [10, 501]


@pytest.mark.parametrize("fault", [np.nan, np.inf, 0.0, 5.0])
def test_rows_that_are_no_unit_vectors_are_refused_all_together(
    tmp_path: Path, fault: float
) -> None:
    space = filled(tmp_path / "s", [1])
    bad = vectors(3)
    bad[1] = fault
    with pytest.raises(EncoderError, match="1 of 3 vectors") as caught:
        space.append(np.array([2, 3, 4]), bad)
    assert "doctor" in caught.value.hint
    assert space.photo_ids.tolist() == [1]


@pytest.mark.parametrize("ids", [[1], [0], [-1], [5, 5]])
def test_a_photo_has_one_row(tmp_path: Path, ids: list[int]) -> None:
    space = filled(tmp_path / "s", [1])
    with pytest.raises(ValueError, match="one row"):
        space.append(np.array(ids), vectors(len(ids)))
    with pytest.raises(ValueError, match="vectors for 1 photos"):
        space.append(np.array([7]), vectors(2))
    assert len(space) == 1


@pytest.mark.parametrize(
    "change",
    [{"encoder_id": "other"}, {"revision": "r2"}, {"preprocessing": "p2"}, {"dim": 32}],
)
def test_another_encoder_is_another_space(tmp_path: Path, change: dict[str, object]) -> None:
    other = dataclasses.replace(SPEC, **change)  # type: ignore[arg-type]
    assert other.space_id != SPEC.space_id
    filled(tmp_path / "s", [1])
    for create in (False, True):
        with pytest.raises(LibraryCorrupt) as caught:
            VectorSpace.open(tmp_path / "s", other, create=create)
        assert f"remove the folder {tmp_path / 's'} and run: photocraft index" in caught.value.hint


def test_a_finer_decode_does_not_change_the_space(tmp_path: Path) -> None:
    filled(tmp_path / "s", [1])
    assert len(VectorSpace.open(tmp_path / "s", dataclasses.replace(SPEC, decode_side=64))) == 1


def test_a_space_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound) as caught:
        VectorSpace.open(tmp_path / "s", SPEC)
    assert "photocraft index" in caught.value.hint


def test_a_reader_takes_in_what_a_writer_adds_and_compacts(tmp_path: Path) -> None:
    writer = filled(tmp_path / "s", [1, 2, 3])
    reader = VectorSpace.open(tmp_path / "s", SPEC)
    writer.append(np.array([4]), vectors(1))
    assert len(reader) == 3
    reader.refresh()
    assert reader.photo_ids.tolist() == [1, 2, 3, 4]
    assert writer.compact(np.array([4, 2])) == 2
    assert writer.photo_ids.tolist() == [2, 4]
    np.testing.assert_allclose(writer.vectors[0], vectors(3)[1], atol=1e-3)
    np.testing.assert_allclose(reader.vectors[0], vectors(3)[0], atol=1e-3)
    reader.refresh()
    assert reader.photo_ids.tolist() == [2, 4]
    writer.append(np.array([5]), vectors(1))
    assert VectorSpace.open(tmp_path / "s", SPEC).photo_ids.tolist() == [2, 4, 5]
