"""Claim, for a GPU and not proven yet: 4,096 crops of mixed sizes in one launch at ≥ 50 % of the
measured copy bandwidth, ≥ 2 × the better of ``F.interpolate`` and kornia batched by shape, ≥ 100 ×
the processor by crop.

Peers in the same run, all on the GPU from pixels that lie there, to bfloat16 patch rows without the
temporal copy (kornia where it is installed; it blurs before it resizes, so only its time is
compared). The plan (checks and tables, once a batch, on the CPU) is shown apart. Ceiling: bytes of
all boxes and all rows at the bandwidth of a device copy; an empty launch is shown beside it.
Needs torch and triton with CUDA; ``TRITON_INTERPRET=1`` runs the same lines on a CPU, tiny sizes,
where the times mean nothing and only the agreement is checked.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

from _common import arguments, finish, table
from _gpu import INTERPRETED, WHERE, copy_bandwidth, empty_launch, need_gpu, seconds

PATCH, MEAN, STD = 16, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
# Shapes of boxes (height, width) and sides of the result, px.
SHAPES = ((448, 448), (756, 1008), (1008, 756), (1512, 2016), (600, 300), (224, 224))
PICTURE, SIDE, COUNT, SOME = (3024, 4032), 448, 4096, 32
if INTERPRETED:
    SHAPES, PICTURE, SIDE, COUNT, SOME = ((40, 40), (50, 70)), (96, 128), 32, 4, 2


def drawn_boxes(pictures: int) -> list[tuple[int, int, int, int, int]]:
    dice = random.Random(0)
    boxes = []
    for index in range(COUNT):
        height, width = SHAPES[index % len(SHAPES)]
        left, top = dice.randint(0, PICTURE[1] - width), dice.randint(0, PICTURE[0] - height)
        boxes.append((dice.randrange(pictures), left, top, left + width, top + height))
    return boxes


def shape_of(box: tuple[int, int, int, int, int]) -> tuple[int, int]:
    _, left, top, right, bottom = box
    return bottom - top, right - left


def cut(pictures: list[Any], box: tuple[int, int, int, int, int]) -> Any:
    index, left, top, right, bottom = box
    return pictures[index][top:bottom, left:right]


def by_interpolate(planes: Any) -> Any:
    import torch

    return torch.nn.functional.interpolate(planes, (SIDE, SIDE), mode="bicubic", antialias=True)


def by_kornia(planes: Any) -> Any:
    from kornia.geometry.transform import resize

    return resize(planes, (SIDE, SIDE), interpolation="bicubic", antialias=True)


def by_shape(
    pictures: list[Any], boxes: list[Any], resize: Callable[[Any], Any]
) -> list[tuple[list[int], Any]]:
    """Indices of one shape and their rows: one batch a shape, in pieces that fit into memory."""
    import torch

    made = []
    for shape in SHAPES:
        same = [i for i in range(len(boxes)) if shape_of(boxes[i]) == shape]
        for start in range(0, len(same), 128):
            part = same[start : start + 128]
            cuts = torch.stack([cut(pictures, boxes[i]) for i in part])
            planes = resize(cuts.permute(0, 3, 1, 2).float())
            planes = ((planes.clamp(0, 255) / 255 - 0.5) / 0.5).to(torch.bfloat16)
            made.append((part, rows_of(planes)))
    return made


def rows_of(planes: Any) -> Any:
    """Patch rows of a batch of one size, in one copy."""
    count, side = len(planes), SIDE // (2 * PATCH)
    blocks = planes.reshape(count, 3, side, 2, PATCH, side, 2, PATCH)
    return blocks.permute(0, 2, 5, 3, 6, 1, 4, 7).reshape(count, -1, 3 * PATCH**2)


def by_processor(pictures: list[Any], boxes: list[Any]) -> Callable[[], None]:
    """Some crops, one by one, through the family's own processor on the device."""
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor

    area = SIDE * SIDE
    using = Qwen2VLImageProcessor(
        patch_size=PATCH, image_mean=MEAN, image_std=STD,
        size={"shortest_edge": area, "longest_edge": area},
    )  # fmt: skip
    some = [cut(pictures, box).permute(2, 0, 1) for box in boxes[:SOME]]

    def run() -> None:
        for each in some:
            using(images=[each], device=WHERE, return_tensors="pt")

    return run


def peer_seconds(
    made: Callable[[], Callable[[], object]], rounds: int, *needs: str
) -> tuple[float | None, str]:
    """Of a peer, or None and why it does not run here: our own figures stand without it."""
    missing = [name for name in needs if find_spec(name) is None]
    if missing:
        return None, f"{', '.join(missing)} not installed"
    try:
        return seconds(made(), rounds), ""
    except Exception as exc:  # noqa: BLE001  # of another version, or its memory
        return None, f"{type(exc).__name__}: {exc}"[:200]


def main() -> None:
    quick = arguments(__doc__ or "").quick
    device = need_gpu()
    import torch
    from photocraft_kernels.crop_resize import plan
    from photocraft_kernels.picture_pool import pooled

    rounds = 1 if INTERPRETED else 5 if quick else 20
    pictures = [
        torch.randint(0, 256, (*PICTURE, 3), dtype=torch.uint8, device=WHERE) for _ in range(8)
    ]
    boxes, sizes = drawn_boxes(len(pictures)), [(SIDE, SIDE)] * COUNT
    pool, places = pooled(pictures)

    def planned() -> Any:
        return plan(
            pool, places, boxes, sizes, MEAN, STD, patch=PATCH, copies=1, dtype=torch.bfloat16
        )

    ready = planned()
    rows = ready.run().values.view(COUNT, -1, 3 * PATCH * PATCH)
    worst = max(
        float((rows[part].float() - theirs.float()).abs().max())
        for part, theirs in by_shape(pictures, boxes, by_interpolate)
    )
    assert worst <= 0.03, f"the kernel and F.interpolate differ by {worst}"
    moved = sum(3 * math.prod(shape_of(box)) for box in boxes) + rows.numel() * 2
    del rows
    spent = {"crop_resize": seconds(ready.run, rounds), "plan": seconds(planned, rounds)}
    spent["interpolate"] = seconds(lambda: by_shape(pictures, boxes, by_interpolate), rounds)
    spent["empty launch"], bandwidth = empty_launch(rounds), copy_bandwidth(rounds)
    spent["ceiling"] = moved / bandwidth
    kornia = peer_seconds(lambda: partial(by_shape, pictures, boxes, by_kornia), rounds, "kornia")
    single: tuple[float | None, str] = None, "not run interpreted"
    if not INTERPRETED:
        needs = ("transformers", "torchvision")
        single = peer_seconds(lambda: by_processor(pictures, boxes), rounds, *needs)
    print(f"{device}, torch {torch.__version__}, {COUNT} crops → {SIDE}")
    tell(spent, kornia, single, device, worst)


def tell(
    spent: Mapping[str, float],
    kornia: tuple[float | None, str],
    single: tuple[float | None, str],
    device: str,
    worst: float,
) -> None:
    """The table and the last line. ``single`` is of SOME crops, the others of all."""
    mine = spent["crop_resize"]
    by_crop = single[0] and single[0] / SOME

    def cells(whole: float) -> tuple[str, str]:
        return f"{whole * 1e3:.3f}", f"{whole / COUNT * 1e6:.2f}"

    table(
        [
            ("crop_resize", *cells(mine)),
            ("its plan, once a batch", *cells(spent["plan"])),
            ("F.interpolate by shape", *cells(spent["interpolate"])),
            ("kornia by shape", *(cells(kornia[0]) if kornia[0] else (kornia[1], "-"))),
            ("ceiling: its bytes copied", *cells(spent["ceiling"])),
            ("empty launch", f"{spent['empty launch'] * 1e3:.3f}", "-"),
            ("processor, crop by crop", "-", f"{by_crop * 1e6:.0f}" if by_crop else single[1]),
        ],
        ("method", "ms", "µs a crop"),
    )
    finish(
        {
            "device": device,
            "share_of_copy_bandwidth": round(spent["ceiling"] / mine, 3),
            "vs_interpolate_by_shape": round(spent["interpolate"] / mine, 2),
            "vs_kornia_by_shape": round(kornia[0] / mine, 2) if kornia[0] else None,
            "empty_launch_us": round(spent["empty launch"] * 1e6, 1),
            "vs_processor_by_crop": round(by_crop / (mine / COUNT), 1) if by_crop else None,
            "largest_difference": round(worst, 4),
            "peers_not_run": [why for _, why in (kornia, single) if why],
        }
    )


if __name__ == "__main__":
    main()
