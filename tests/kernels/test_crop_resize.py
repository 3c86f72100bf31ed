"""The crop kernel under Triton's interpreter, against the fp32 reference and Pillow."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="TRITON ABSENT: no torch")
pytest.importorskip("triton", reason="TRITON ABSENT: no triton")

from photocraft_kernels import crop_resize as kernel  # noqa: E402
from photocraft_kernels.crop_resize_reference import (  # noqa: E402
    crop_resize_reference,
    patch_rows_reference,
)
from photocraft_kernels.picture_pool import Picture, pooled  # noqa: E402

MEAN, STD = (0.48, 0.46, 0.41), (0.27, 0.26, 0.28)
# Two pictures of odd sizes and one of a single pixel.
HEIGHTS_WIDTHS = ((37, 61), (90, 23), (1, 1))
BOXES = [
    (0, 0, 0, 61, 37),  # all of it
    (0, 0, 0, 61, 1),  # its first row
    (0, 60, 0, 61, 37),  # its last column
    (0, 60, 36, 61, 37),  # the last pixel
    (1, 3, 10, 20, 87),
    (1, 0, 0, 23, 90),
    (2, 0, 0, 1, 1),
]
PATCH_SIZES = [(32, 64), (32, 32), (64, 32), (32, 32), (32, 32), (64, 96), (32, 32)]
ODD_SIZES = [(5, 7), (17, 1), (1, 1), (33, 3), (90, 23), (7, 19), (2, 3)]
# Absolute, on values of about -2 … 2; half precision keeps 11 and 8 bits.
TOLERANCE = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


@pytest.fixture
def pictures() -> list[Any]:
    dice = torch.Generator().manual_seed(0)
    return [
        torch.randint(0, 256, (height, width, 3), dtype=torch.uint8, generator=dice)
        for height, width in HEIGHTS_WIDTHS
    ]


def planes_of(made: kernel.Cropped, sizes: list[tuple[int, int]]) -> list[Any]:
    spans = zip(made.starts, made.starts[1:], sizes, strict=False)
    return [made.values[start:end].view(3, *size) for start, end, size in spans]


def crop_bytes(pictures: list[Any], boxes: list[Any], sizes: list[Any], **more: Any) -> list[Any]:
    pool, places = pooled(pictures)
    made = kernel.crop_resize(pool, places, boxes, sizes, MEAN, STD, dtype=torch.uint8, **more)
    return planes_of(made, sizes)


def test_it_is_the_interpreter_that_runs() -> None:
    assert type(kernel._tiles).__name__ == "InterpretedFunction"


@pytest.mark.parametrize("filter", kernel.FILTERS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_planes_of_odd_sizes(pictures: list[Any], filter: str, dtype: str) -> None:
    pool, places = pooled(pictures)
    kind = getattr(torch, dtype)
    made = kernel.crop_resize(
        pool, places, BOXES, ODD_SIZES, MEAN, STD, filter=filter, dtype=kind, precision="ieee"
    )
    assert made.values.dtype == kind
    wanted = crop_resize_reference(pictures, BOXES, ODD_SIZES, MEAN, STD, filter=filter)
    for box, one, other in zip(BOXES, planes_of(made, ODD_SIZES), wanted, strict=True):
        assert (one.float() - other).abs().max() <= TOLERANCE[dtype], box


@pytest.mark.parametrize(("patch", "merge", "copies"), [(16, 2, 2), (14, 2, 1), (8, 1, 3)])
def test_patch_rows(pictures: list[Any], patch: int, merge: int, copies: int) -> None:
    factor = patch * merge
    sizes = [(height // 32 * factor, width // 32 * factor) for height, width in PATCH_SIZES]
    pool, places = pooled(pictures)
    made = kernel.crop_resize(
        pool, places, BOXES, sizes, MEAN, STD,
        patch=patch, merge=merge, copies=copies, precision="ieee",
    )  # fmt: skip
    wanted = crop_resize_reference(pictures, BOXES, sizes, MEAN, STD)
    assert made.values.shape == (made.starts[-1], 3 * copies * patch**2)
    for index, planes in enumerate(wanted):
        rows = made.values[made.starts[index] : made.starts[index + 1]]
        expected = patch_rows_reference(planes, patch, merge, copies)
        assert rows.shape == expected.shape
        assert (rows - expected).abs().max() <= TOLERANCE["float32"], BOXES[index]


@pytest.mark.parametrize("filter", kernel.FILTERS)
def test_tensor_cores_have_nothing_to_cut_off(
    pictures: list[Any], filter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They read 10 bits of a number and no more, without rounding; Triton does not round either."""
    from triton.runtime import interpreter

    exact = interpreter.InterpreterBuilder.create_dot

    def cut(builder: Any, a: Any, b: Any, sums: Any, precision: Any, most: int) -> Any:
        assert "TF32" in str(precision)
        bits = [part.data.astype("f4").view("i4") & -0x2000 for part in (a, b)]
        handles = [interpreter.TensorHandle(one.view("f4"), a.dtype) for one in bits]
        return exact(builder, *handles, sums, precision, most)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", cut)
    pool, places = pooled(pictures)
    steps = ((0.0,) * 3, (1 / 255,) * 3)
    made = kernel.crop_resize(pool, places, BOXES, ODD_SIZES, *steps, filter=filter)
    wanted = crop_resize_reference(pictures, BOXES, ODD_SIZES, *steps, filter=filter)
    off = made.values - torch.cat([planes.flatten() for planes in wanted])
    assert 0 < off.abs().max() < 0.15  # 0.4 without
    assert off.mean().abs() < 0.005  # no picture becomes darker


@pytest.mark.parametrize("filter", kernel.FILTERS)
def test_bytes_are_pillows_to_one_step(pictures: list[Any], filter: str) -> None:
    """Pillow rounds, and cuts off at 0 and 255, between the axes; the kernel only at the end."""
    image = pytest.importorskip("PIL.Image")
    numpy = pytest.importorskip("numpy")
    pale = [pixels // 2 + 64 for pixels in pictures]  # nothing is cut off
    made = crop_bytes(pale, BOXES, ODD_SIZES, filter=filter)
    for box, (height, width), planes in zip(BOXES, ODD_SIZES, made, strict=True):
        cut = image.fromarray(pale[box[0]].numpy()).crop(box[1:])
        wanted = cut.resize((width, height), image.Resampling[filter.upper()])
        there = torch.from_numpy(numpy.array(wanted)).permute(2, 0, 1)
        assert (planes.int() - there.int()).abs().max() <= 1, box


@pytest.mark.parametrize("value", [0, 1, 128, 255])
def test_a_constant_picture_stays_constant(value: int) -> None:
    picture = torch.full((41, 29, 3), value, dtype=torch.uint8)
    sizes = [(3, 50), (41, 29), (17, 2)]
    for made in crop_bytes([picture], [(0, 2, 1, 28, 40)] * 3, sizes):
        assert (made == value).all()


def test_a_shifted_box_gives_the_shifted_picture(pictures: list[Any]) -> None:
    """At a whole ratio, away from the borders, where the filter finds all of its pixels."""
    scale, size = 3, (10, 6)
    boxes = [(1, 0, 0, 18, 30), (1, scale, 2 * scale, 18 + scale, 30 + 2 * scale)]
    one, other = crop_bytes(pictures, boxes, [size, size])
    assert torch.equal(one[:, 4:-2, 3:-2], other[:, 2:-4, 2:-3])


def test_no_boxes_are_an_empty_batch(pictures: list[Any]) -> None:
    pool, places = pooled(pictures)
    made = kernel.crop_resize(pool, places, [], [], MEAN, STD, patch=16)
    assert made.values.shape == (0, 3 * 2 * 256)
    assert made.starts == (0,)
    assert pooled([])[0].numel() == 0


def test_pictures_may_have_any_strides(pictures: list[Any]) -> None:
    turned = pictures[0].transpose(0, 1)
    mirrored = pictures[0].flip(1)[::2]
    for view in (turned, mirrored):
        box = [(0, 1, 2, view.shape[1] - 1, view.shape[0])]
        (made,) = crop_bytes([view], box, [(9, 11)])
        (wanted,) = crop_bytes([view.contiguous()], box, [(9, 11)])
        assert torch.equal(made, wanted)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_by_how_it_is_read(pictures: list[Any], orientation: int) -> None:
    """By the same eight cases as ``files.decode.turned``."""
    upright = pictures[0]
    if orientation >= 5:
        upright = upright.transpose(0, 1)
    flips = [0] * (orientation in (3, 4, 7, 8)) + [1] * (orientation in (2, 3, 6, 7))
    upright = upright.flip(flips).contiguous()
    box = (1, 4, 3, upright.shape[1], upright.shape[0] - 2)
    pool, places = pooled([pictures[1], pictures[0]])
    turned = [places[0], places[1].turned(orientation)]
    made = kernel.crop_resize(pool, turned, [box], [(9, 11)], MEAN, STD, dtype=torch.uint8)
    (wanted,) = crop_bytes([pictures[1], upright], [box], [(9, 11)])
    assert torch.equal(made.values.view(3, 9, 11), wanted)
    with pytest.raises(ValueError, match="does not lie in a pool"):
        kernel.crop_resize(pool[:-1], turned, [box], [(9, 11)], MEAN, STD)


def test_rows_may_be_padded_in_the_pool(pictures: list[Any]) -> None:
    padded = torch.full((37, 70, 3), 99, dtype=torch.uint8)
    padded[:, :61] = pictures[0]
    place = Picture(offset=5, stride=210, height=37, width=61)
    pool = torch.cat([torch.zeros(5, dtype=torch.uint8), padded.flatten()])
    made = kernel.crop_resize(pool, [place], [BOXES[0]], [(20, 30)], MEAN, STD, dtype=torch.uint8)
    (wanted,) = crop_bytes(pictures, [BOXES[0]], [(20, 30)])
    assert torch.equal(made.values.view(3, 20, 30), wanted)


@pytest.mark.parametrize(
    ("box", "size", "more", "words"),
    [
        ((3, 0, 0, 1, 1), (4, 4), {}, "no picture 3"),
        ((0, 0, 0, 62, 1), (4, 4), {}, "does not lie in"),
        ((0, 4, 0, 4, 1), (4, 4), {}, "does not lie in"),
        ((0, -1, 0, 4, 1), (4, 4), {}, "does not lie in"),
        ((0, 0, 0, 4, 4), (0, 4), {}, "no whole number"),
        ((0, 0, 0, 4, 4), (48, 32), {"patch": 16}, "no whole number"),
        ((0, 0, 0, 4, 4), (4, 4), {"filter": "lanczos"}, "lanczos"),
        ((0, 0, 0, 4, 4), (4, 4), {"dtype": torch.float64}, "float64"),
        ((0, 0, 0, 4, 4), (4, 4), {"precision": "bf16x3"}, "bf16x3"),
        ((0, 0.5, 0, 20, 10), (4, 4), {}, "whole numbers"),
        ((0, math.nan, 0, 20, 10), (4, 4), {}, "whole numbers"),
        ((0, 0, 0, True, 10), (4, 4), {}, "whole numbers"),
        ((True, 0, 0, 4, 4), (4, 4), {}, "whole numbers"),
        ((0, 0, 0, 4), (4, 4), {}, "whole numbers"),
        ((0, 0, 0, 4, 4), (4, 4.5), {}, "whole numbers"),
        ((0, 0, 0, 4, 4), (70_000, 4), {}, "cannot be brought"),
        ((0, 0, 0, 4, 4), (28, 28), {"patch": -14}, "no patches"),
        ((0, 0, 0, 4, 4), (28, 28), {"patch": 14, "merge": 0}, "no patches"),
        ((0, 0, 0, 4, 4), (28, 28), {"patch": 14, "copies": 0}, "no patches"),
        ((0, 0, 0, 4, 4), (28, 28), {"patch": 14, "copies": 1.5}, "whole numbers"),
    ],
)
def test_what_does_not_fit_is_named(
    pictures: list[Any], box: Any, size: Any, more: dict[str, Any], words: str
) -> None:
    pool, places = pooled(pictures)
    with pytest.raises(ValueError, match=words):
        kernel.crop_resize(pool, places, [box], [size], MEAN, STD, **more)


@pytest.mark.parametrize(
    ("mean", "std"),
    [
        (MEAN, (0.27, 0.0, 0.28)),
        (MEAN, (0.27, -0.2, 0.28)),
        (MEAN, (math.nan, 0.26, 0.28)),
        ((math.inf, 0, 0), STD),
        ((0, 0), STD),
    ],
)
def test_what_is_no_normalisation_is_refused(pictures: list[Any], mean: Any, std: Any) -> None:
    pool, places = pooled(pictures)
    with pytest.raises(ValueError, match="no normalisation"):
        kernel.crop_resize(pool, places, [(0, 0, 0, 4, 4)], [(4, 4)], mean, std)


def test_numbers_of_other_libraries_are_numbers(pictures: list[Any]) -> None:
    numpy = pytest.importorskip("numpy")
    (wanted,) = crop_bytes(pictures, [(0, 3, 2, 30, 20)], [(9, 11)])
    box = tuple(numpy.array([0, 3, 2, 30, 20]))
    (made,) = crop_bytes(pictures, [box], [(numpy.int32(9), numpy.int64(11))])
    assert torch.equal(made, wanted)


def test_a_batch_beyond_the_memory_goes_in_runs(pictures: list[Any]) -> None:
    pool, places = pooled(pictures)
    given = (pool, places, BOXES[:4], [(32, 32), (32, 64), (32, 32), (32, 32)], MEAN, STD)
    whole = kernel.crop_resize(*given, patch=16)
    made = list(kernel.crop_resize_in_runs(*given, patch=16, most_bytes=60_000))
    assert len(made) == 3
    assert all(part.values.nbytes <= 60_000 for part in made)
    assert torch.equal(torch.cat([part.values for part in made]), whole.values)
    (at_once,) = kernel.crop_resize_in_runs(*given, patch=16)
    assert torch.equal(at_once.values, whole.values)
    with pytest.raises(MemoryError, match="crop 0 needs"):
        list(kernel.crop_resize_in_runs(*given, patch=16, most_bytes=1000))
    assert not list(kernel.crop_resize_in_runs(pool, places, [], [], MEAN, STD, patch=16))


def test_a_pool_that_is_too_small_is_refused(pictures: list[Any]) -> None:
    pool, places = pooled(pictures)
    with pytest.raises(ValueError, match="does not lie in a pool"):
        kernel.crop_resize(pool[:-1], places, BOXES[:1], [(4, 4)], MEAN, STD)
    with pytest.raises(ValueError, match="one contiguous block"):
        kernel.crop_resize(pool.float(), places, BOXES[:1], [(4, 4)], MEAN, STD)
    with pytest.raises(ValueError, match="not \\(h, w, 3\\)"):
        pooled([torch.zeros(4, 4, 4, dtype=torch.uint8)])
    with pytest.raises(ValueError, match="no pixels"):
        pooled([torch.zeros(0, 4, 3, dtype=torch.uint8)])
    with pytest.raises(ValueError, match="no pixels"):
        kernel.crop_resize(pool, [Picture(0, 30, 10, 0)], [], [], MEAN, STD)
    with pytest.raises(ValueError, match="1 boxes have 2 sizes"):
        kernel.crop_resize(pool, places, BOXES[:1], [(4, 4), (4, 4)], MEAN, STD)


COMPILE = """
import sys, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from photocraft_kernels.crop_resize import _tiles

means = {f"{name}_{i}": "fp32" for name in ("mean", "std") for i in range(3)}
for capability in (80, 90):
    # The last one is what indexing asks for.
    for out, patch, cubic in (("*fp32", 16, True), ("*bf16", 14, True), ("*u8", 0, True),
                              ("*fp16", 16, False), ("*u8", 16, True)):
        given = {"TILE": patch or 16, "BLOCK": 16, "MERGE": 2 if patch else 1,
                 "COPIES": 1 if out == "*u8" else 2, "PATCHES": patch > 0, "CUBIC": cubic,
                 "BYTES": out == "*u8", "WINDOW": 32, "PRECISION": "tf32"}
        types = {"pool": "*u8", "table": "*i64", "owners": "*i32", "out": out} | means
        types |= {name: "constexpr" for name in given}
        source = ASTSource(fn=_tiles, signature=types, constexprs=given)
        made = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        print(capability, out, patch, "mma.sync" in made.asm["ptx"], len(made.asm["cubin"]))
"""


def test_it_compiles_for_two_generations_without_a_gpu(root: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "TRITON_INTERPRET": "0",
        "TRITON_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(root / "kernels"), *filter(None, sys.path)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["80"] * 5 + ["90"] * 5
    assert all(line[3] == "True" and int(line[4]) > 10_000 for line in lines)
