"""Boxes out of pictures as patch rows and planes: against Pillow, in both paths, bad input."""

from __future__ import annotations

import math
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_pictures import noise, random_crops
from PIL import Image

from photocraft_local import imaging
from photocraft_local.errors import UsageError
from photocraft_local.imaging import crop_batch, resampling
from photocraft_local.imaging.crop_batch import Crop, crop_patches, crop_planes, parts
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.model_values import HALF, Kind, ModelValues, PatchLayout
from photocraft_local.imaging.pictures import Pixels

QWEN3 = PatchLayout(16)
KINDS: tuple[Kind, ...] = ("float32", "float16", "bfloat16", "uint8")
BYTES = ModelValues("uint8")


@pytest.fixture(scope="module")
def pictures(shared: Path) -> list[Pixels]:
    files = sorted((shared / "data/captioned/coco").glob("*.jpg"))[::60][:3]
    return [np.asarray(Image.open(file).convert("RGB")) for file in files]


def by_pillow(pixels: Pixels, crop: Crop, filter: resampling.Filter) -> Pixels:
    cut = Image.fromarray(pixels).crop(crop.box.corners())
    size = (crop.width, crop.height)
    return np.asarray(cut.resize(size, resampling.FILTERS[filter]))


def as_float(rows: np.ndarray[Any, Any], kind: Kind) -> np.ndarray[Any, Any]:
    if kind == "bfloat16":
        return (rows.astype(np.uint32) << 16).view(np.float32)
    return rows.astype(np.float32)


@pytest.mark.parametrize("filter", ["bicubic", "bilinear"])
def test_bytes_of_planes_are_pillows(pictures: list[Pixels], filter: resampling.Filter) -> None:
    crops = random_crops(60, pictures, 7, seed=1, most=40)
    planes = crop_planes(pictures, crops, BYTES, filter=filter)
    for crop, plane in zip(crops, planes, strict=True):
        wanted = by_pillow(pictures[crop.picture], crop, filter)
        assert np.array_equal(plane.transpose(1, 2, 0), wanted), crop


@pytest.mark.parametrize("patch", [14, 16])
@pytest.mark.parametrize("copies", [1, 2])
def test_patch_rows_have_the_order_of_the_family(
    pictures: list[Pixels], patch: int, copies: int
) -> None:
    layout = PatchLayout(patch, copies=copies)
    crops = random_crops(12, pictures, layout.factor, seed=2, most=5)
    made = crop_patches(pictures, crops, layout, BYTES)
    start = 0
    for crop, (one, down, across) in zip(crops, made.grids.tolist(), strict=True):
        picture = by_pillow(pictures[crop.picture], crop, "bicubic")
        assert (one, down * patch, across * patch) == (1, crop.height, crop.width)
        for index in range(down * across):
            token, inner = divmod(index, 4)
            y = token // (across // 2) * 2 + inner // 2
            x = token % (across // 2) * 2 + inner % 2
            cut = picture[y * patch : (y + 1) * patch, x * patch : (x + 1) * patch]
            row = made.rows[start + index].reshape(3, copies, patch, patch)
            for copy in range(copies):
                assert np.array_equal(row[:, copy], cut.transpose(2, 0, 1))
        start += down * across
    assert start == len(made.rows)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_the_normalised_bytes(pictures: list[Pixels], kind: Kind) -> None:
    crops = random_crops(5, pictures, 32, seed=3)
    values = ModelValues(kind, HALF, (0.2, 0.3, 0.4))
    raw = crop_patches(pictures, crops, QWEN3, BYTES).rows.reshape(-1, 3, 512)
    made = crop_patches(pictures, crops, QWEN3, values)
    if kind == "uint8":
        assert np.array_equal(made.rows.reshape(raw.shape), raw)
        return
    wanted = (raw / 255 - 0.5) / np.array([0.2, 0.3, 0.4]).reshape(1, 3, 1)
    tolerance = {"float32": 1e-6, "float16": 2**-10, "bfloat16": 2**-8}[kind] * 2.5
    assert np.abs(as_float(made.rows, kind).reshape(raw.shape) - wanted).max() <= tolerance


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", [QWEN3, PatchLayout(14), PatchLayout(5, 3, 4), None])
def test_both_paths_write_the_same(kind: Kind, layout: PatchLayout | None) -> None:
    native = pytest.importorskip("photocraft_local.imaging._native")
    levels = [level for level in ("avx512", "avx2", "") if usable(native, level)]
    pictures = [noise(90, 140), noise(7, 3, 1), noise(1, 1, 2), noise(130, 2, 3)]
    values = ModelValues(kind)
    crops = random_crops(25, pictures, layout.factor if layout else 9, seed=4, most=6)
    for crop in crops:
        cut = pictures[crop.picture][crop.box.y : crop.box.bottom, crop.box.x : crop.box.right]
        size = (crop.width, crop.height)
        shape = (layout.rows(*size), layout.dimension) if layout else (3, crop.height, crop.width)
        wanted = np.zeros(shape, values.dtype)
        resampling.plain(cut, size, values.table(), layout, "bicubic", wanted)
        for level in levels:
            made = np.zeros(shape, values.dtype)
            resampling.native(cut, size, values.table(), layout, "bicubic", made, vectors=level)
            assert np.array_equal(made, wanted), (crop, level)


def usable(native: Any, level: str) -> bool:
    out = np.empty((1, 1, 3), np.uint8)
    try:
        native.crop_resize(noise(1, 1), out, None, 1, 1, 0, 1, 1, 1, level)
    except ValueError:  # the one that the processor lacks; other errors show in the comparison
        return False
    return True


def test_filters_with_thousands_of_taps_do_not_overflow() -> None:
    white = np.full((4, 60_000, 3), 255, np.uint8)
    white[:, ::2] = noise(4, 30_000)
    for pixels in (white, np.ascontiguousarray(white.transpose(1, 0, 2))):
        crop = Crop(0, Box(0, 0, pixels.shape[1], pixels.shape[0]), 7, 7)
        (plane,) = crop_planes([pixels], [crop], BYTES)
        assert np.array_equal(plane.transpose(1, 2, 0), by_pillow(pixels, crop, "bicubic"))


@pytest.mark.parametrize("value", [0, 1, 127, 254, 255])
def test_a_constant_picture_stays_constant(value: int) -> None:
    pixels = np.full((61, 47, 3), value, np.uint8)
    crops = random_crops(20, [pixels], 3, seed=value, most=40)
    for plane in crop_planes([pixels], crops, BYTES):
        assert (plane == value).all()


def test_pictures_may_lie_in_memory_in_any_way() -> None:
    whole = noise(64, 96)
    crops = [Crop(0, Box(3, 5, 40, 25), 64, 32)]
    views = {
        "rows upwards": whole[::-1],
        "columns backwards": whole[:, ::-1],
        "every second": whole[::2, ::2],
        "planes": np.ascontiguousarray(whole.transpose(2, 0, 1)).transpose(1, 2, 0),
        "colours swapped": whole[:, :, ::-1],
        "one row repeated": np.broadcast_to(whole[:1], whole.shape),
        "read-only": whole.copy(),
    }
    views["read-only"].setflags(write=False)
    for name, view in views.items():
        made = crop_patches([view], crops, QWEN3)
        wanted = crop_patches([view.copy()], crops, QWEN3)
        assert np.array_equal(made.rows, wanted.rows), name


def test_threads_change_nothing(pictures: list[Pixels]) -> None:
    crops = random_crops(40, pictures, 32, seed=6, most=6)
    alone = crop_patches(pictures, crops, QWEN3)
    together = crop_patches(pictures, crops, QWEN3, threads=4)
    assert np.array_equal(alone.rows, together.rows)
    assert np.array_equal(alone.grids, together.grids)


def test_given_memory_is_written_to_and_nothing_beyond(pictures: list[Pixels]) -> None:
    crops = random_crops(3, pictures, 32, seed=7, most=3)
    wanted = crop_patches(pictures, crops, QWEN3).rows
    room = np.full((len(wanted) + 2, QWEN3.dimension), 7, np.float32)
    made = crop_patches(pictures, crops, QWEN3, out=room)
    assert np.shares_memory(made.rows, room)
    assert np.array_equal(made.rows, wanted)
    assert (room[len(wanted) :] == 7).all()


def test_no_crops_are_an_empty_batch() -> None:
    made = crop_patches([noise(4, 4)], [], QWEN3)
    assert made.rows.shape == (0, QWEN3.dimension)
    assert made.grids.shape == (0, 3)
    assert crop_planes([], []) == []
    assert list(parts([], QWEN3, BYTES, most_bytes=1)) == []


def test_parts_keep_the_order_and_the_bound(pictures: list[Pixels]) -> None:
    crops = random_crops(30, pictures, 32, seed=8, most=4)
    bound = 12 * 4 * QWEN3.dimension
    runs = list(parts(crops, QWEN3, BYTES, most_bytes=bound))
    assert [crop for run in runs for crop in run] == crops
    for run in runs:
        rows = sum(QWEN3.rows(crop.width, crop.height) for crop in run)
        assert rows * QWEN3.dimension <= bound or len(run) == 1
    assert 1 < len(runs) < len(crops)


GOOD = Box(0, 0, 10, 10)


@pytest.mark.parametrize(
    ("crop", "words"),
    [
        (Crop(1, GOOD, 32, 32), "no picture 1"),
        (Crop(-1, GOOD, 32, 32), "no picture -1"),
        (Crop(0, Box(0, 0, 41, 10), 32, 32), "does not lie inside"),
        (Crop(0, Box(-1, 0, 10, 10), 32, 32), "does not lie inside"),
        (Crop(0, Box(0, 0, 0, 10), 32, 32), "does not lie inside"),
        (Crop(0, Box(0, 0, 10, -2), 32, 32), "does not lie inside"),
        (Crop(0, Box(math.nan, 0, 10, 10), 32, 32), "whole numbers"),  # type: ignore[arg-type]
        (Crop(0, Box(0, 0, 9.5, 10), 32, 32), "whole numbers"),  # type: ignore[arg-type]
        (Crop(0, Box(0, 0, True, 10), 32, 32), "whole numbers"),
        (Crop(0, GOOD, 32, np.True_), "whole numbers"),  # type: ignore[arg-type]
        (Crop(False, GOOD, 32, 32), "whole numbers"),
        (Crop(0, GOOD, 0, 32), "cannot be brought to"),
        (Crop(0, GOOD, 1 << 20, 32), "cannot be brought to"),
        (Crop(0, GOOD, 48, 32), "cannot be cut into patches"),
    ],
)
def test_what_does_not_fit_is_named_before_anything_is_written(crop: Crop, words: str) -> None:
    room = np.full((64, QWEN3.dimension), 7, np.float32)
    with pytest.raises(UsageError, match=words):
        crop_patches([noise(30, 40)], [Crop(0, GOOD, 32, 32), crop], QWEN3, out=room)
    assert (room == 7).all()


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int16])
def test_integers_of_other_libraries_are_numbers(kind: Any) -> None:
    picture = noise(220, 250)
    sides = [kind(side) for side in (130, 120, 110, 100)]  # two of them do not fit into a byte
    made = crop_patches([picture], [Crop(kind(0), Box(*sides), kind(96), kind(64))], QWEN3)
    wanted = crop_patches([picture], [Crop(0, Box(130, 120, 110, 100), 96, 64)], QWEN3)
    np.testing.assert_array_equal(made.rows, wanted.rows)
    np.testing.assert_array_equal(made.grids, wanted.grids)


def test_a_batch_beyond_all_memory_is_named_and_can_be_parted() -> None:
    crops = [Crop(0, GOOD, 1 << 16, 1 << 16)] * 100  # 5 TB
    with pytest.raises(UsageError, match="does not fit into the memory") as caught:
        crop_planes([noise(30, 40)], crops)
    assert "parts" in caught.value.hint
    assert [len(run) for run in parts(crops, QWEN3, BYTES, most_bytes=1 << 30)] == [1] * 100
    with pytest.raises(UsageError, match="does not fit"):  # bytes that NumPy cannot count
        crop_batch._fresh((1 << 62,), np.dtype(np.float32))


@pytest.mark.parametrize(
    "pixels",
    [np.zeros((4, 4, 3), np.float32), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4), np.uint8)],
)
def test_pictures_of_another_kind_are_refused(pixels: Any) -> None:
    with pytest.raises(UsageError, match="picture 0 has"):
        crop_patches([pixels], [Crop(0, Box(0, 0, 1, 1), 32, 32)], QWEN3)


def test_what_is_no_array_is_no_picture() -> None:
    given: Any = [[[0, 0, 0]]]
    with pytest.raises(UsageError, match="picture 0 is no array but a list"):
        crop_patches([given], [Crop(0, Box(0, 0, 1, 1), 32, 32)], QWEN3)


def test_memory_of_another_kind_is_refused() -> None:
    crops = [Crop(0, GOOD, 32, 32)]
    rows, dimension = 4, QWEN3.dimension
    for room in (
        np.empty((rows, dimension), np.float16),
        np.empty((rows - 1, dimension), np.float32),
        np.empty((rows, 2 * dimension), np.float32)[:, ::2],
    ):
        with pytest.raises(UsageError, match="out"):
            crop_patches([noise(30, 40)], crops, QWEN3, out=room)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ModelValues("float64"),  # type: ignore[arg-type]
        lambda: ModelValues(std=(1.0, 0.0, 1.0)),
        lambda: ModelValues(mean=(math.nan, 0.0, 1.0)),
        lambda: PatchLayout(0),
        lambda: PatchLayout(16, merge=0),
    ],
)
def test_values_and_layouts_check_themselves(make: Any) -> None:
    with pytest.raises(UsageError):
        make()


def test_the_path_is_named_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resampling.chosen() is resampling.chosen()
    assert resampling.chosen().reason
    monkeypatch.setitem(sys.modules, "photocraft_local.imaging._native", None)
    monkeypatch.delattr(imaging, "_native", raising=False)
    without = resampling._choose()
    assert without.name == "plain"
    assert without.run is resampling.plain
    assert "the C extension cannot be used" in without.reason
    assert "compiler" in without.hint


def test_the_extension_is_there_where_it_can_be_built() -> None:
    """Nobody would see otherwise that a change has made everything several times slower."""
    headers = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if shutil.which("cc") is None or not headers.is_file():
        pytest.skip("NO C COMPILER: the plain path is the one that runs here")
    assert resampling.chosen().name == "native", resampling.chosen().reason
