"""The crop kernel against its fp32 reference in every layout, filter and kind of number, and with
the boxes that go wrong first: one pixel, along each edge, none. Run by ``kernels.py`` in a process
of its own, since a kernel that reads astray takes the device's context with it; ``cuda`` or ``cpu``
is its argument (``TRITON_INTERPRET=1`` there), its last line is one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

MEAN, STD = (0.48, 0.46, 0.41), (0.27, 0.26, 0.28)
KINDS = ("float32", "float16", "bfloat16", "uint8")
# Absolute, on values of about -2 … 2, and in steps of a byte. fp32 is asked for exact products; the
# others have weights of 10 bits, by arithmetic a tenth of a step.
TOLERANCE = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 2e-2, "uint8": 1.0}
MOST_SECONDS = 120  # no kernel is compiled later; what is left is told


@dataclass(frozen=True, slots=True)
class Case:
    """``patch`` 0 are planes."""

    filter: str
    kind: str
    patch: int = 0
    merge: int = 1
    copies: int = 1


def cases() -> Iterator[Case]:
    """Planes in all filters and kinds; rows in all layouts by both filters, each layout in two
    kinds, each kind in four layouts: 24 kernels to compile."""
    for filter, kind in product(("bilinear", "bicubic"), KINDS):
        yield Case(filter, kind)
    for at, layout in enumerate(product((14, 16), (1, 2), (1, 2))):
        yield Case("bilinear", KINDS[at % 4], *layout)
        yield Case("bicubic", KINDS[(at + 1) % 4], *layout)


def boxes_of(width: int, height: int) -> list[tuple[int, int, int, int, int]]:
    """One pixel in the last corner, the first row, the last column, most of the picture, and the
    picture of one pixel."""
    right, low = width - 1, height - 1
    return [
        (0, right, low, width, height),
        (0, 0, 0, width, 1),
        (0, right, 0, width, height),
        (0, 1, 2, width, height),
        (1, 0, 0, 1, 1),
    ]


def differences(case: Case, pictures: list[Any], scale: int) -> float:
    """The largest one to the reference. ``scale`` multiplies the sizes of the results."""
    import torch
    from photocraft_kernels.crop_resize import crop_resize
    from photocraft_kernels.crop_resize_reference import crop_resize_reference, patch_rows_reference
    from photocraft_kernels.picture_pool import pooled

    pool, places = pooled(pictures)
    height, width, _ = pictures[0].shape
    boxes, sizes = boxes_of(width, height), [(5, 7), (17, 1), (1, 1), (19, 33), (2, 3)]
    if case.patch:
        side = case.patch * case.merge
        sizes = [(side, side * (1 + at % 2)) for at in range(len(boxes))]
    sizes = [(scale * down, scale * across) for down, across in sizes]
    options: dict[str, Any] = {"filter": case.filter, "dtype": getattr(torch, case.kind)}
    options["precision"] = "ieee" if case.kind == "float32" else "tf32"
    layout = {"patch": case.patch, "merge": case.merge, "copies": case.copies}
    made = crop_resize(pool, places, boxes, sizes, MEAN, STD, **options, **layout)
    normal = ((0.0,) * 3, (1 / 255,) * 3) if case.kind == "uint8" else (MEAN, STD)
    planes = crop_resize_reference(pictures, boxes, sizes, *normal, filter=case.filter)
    wanted = [
        patch_rows_reference(each, case.patch, case.merge, case.copies) if case.patch else each
        for each in planes
    ]
    none = crop_resize(pool, places, [], [], MEAN, STD, **options, **layout).values
    there = torch.cat([each.flatten() for each in wanted])
    if none.numel() or made.values.numel() != there.numel():
        return float("inf")
    return float((made.values.flatten().float() - there).abs().max())


def main(device: str) -> int:
    import torch

    scale, sides = (8, (301, 457)) if device == "cuda" else (1, (23, 31))
    dice = torch.Generator().manual_seed(0)
    shapes = ((*sides, 3), (1, 1, 3))
    pictures = [
        torch.randint(0, 256, shape, dtype=torch.uint8, generator=dice).to(device)
        for shape in shapes
    ]
    seen: dict[Case, float] = {}
    wrong, left, began = [], 0, time.monotonic()
    for case in cases():
        if time.monotonic() - began > MOST_SECONDS:
            left += 1
            continue
        try:
            seen[case] = differences(case, pictures, scale)
        except Exception as error:  # noqa: BLE001  # a layout that does not compile costs no other
            wrong.append(asdict(case) | {"error": f"{type(error).__name__}: {error}"[:200]})
            continue
        if not seen[case] <= TOLERANCE[case.kind]:
            wrong.append(asdict(case) | {"off": seen[case]})
    worst = {kind: max((off for case, off in seen.items() if case.kind == kind), default=None)
             for kind in KINDS}  # fmt: skip
    told = {"cases": len(seen), "left": left, "wrong": wrong, "worst": worst}
    print(json.dumps(told), flush=True)
    return 1 if wrong or left else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
