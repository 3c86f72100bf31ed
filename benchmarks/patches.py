"""Claim: decoded photo → patch rows, ≥ 4 × (512x384) and ≥ 3.5 × (1024x768) the Hugging Face
processor's torchvision backend, within 2 LSB of its PIL backend.

Peers in the same run, CPU time, one thread, from pixels in memory: the torchvision backend given
Pillow images (what chat templates hand over) and given tensors, and the PIL backend. One photo
after another; all make new memory for each. Ceiling: writing the rows (fill) once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from _common import arguments, finish, interleaved, machine, ratio, table
from _patch_peers import LAYOUT, VALUES, lsb, processor, require_peers, resized
from decode import scenes

from photocraft_local.imaging import resampling
from photocraft_local.imaging.crop_batch import Crop, crop_patches
from photocraft_local.imaging.geometry import Box

# Source size → the size at which the model sees it; the sizes of perf.md C3.
CASES = {(816, 612): (512, 384), (1632, 1224): (1024, 768)}
# In the last line: of both sizes the smaller ratio, and each size's own under ``sizes``.
PEERS = {
    "vs_hf_torchvision_pil": "HF torchvision, Pillow image in",
    "vs_hf_torchvision_tensor": "HF torchvision, tensor in",
}


def measure(source: tuple[int, int], seen: tuple[int, int], rounds: int, count: int) -> Any:
    import torch

    images = resized(scenes(count), *source)
    arrays = [np.array(image) for image in images]
    tensors = [torch.from_numpy(each).permute(2, 0, 1).contiguous() for each in arrays]
    fast = processor(seen[0] * seen[1], backend="torchvision")
    slow = processor(seen[0] * seen[1], backend="pil")
    crops = [Crop(0, Box(0, 0, *source), *seen)]

    def ours(each: Any) -> Any:
        return crop_patches([each], crops, LAYOUT, VALUES)

    def one_by_one(make: Callable[[Any], object], given: list[Any]) -> Callable[[], None]:
        def run() -> None:
            for each in given:
                make(each)

        return run

    def hugging_face(using: Any) -> Callable[[Any], object]:
        return lambda each: using(images=[each], return_tensors="pt")

    methods = {
        PEERS["vs_hf_torchvision_pil"]: one_by_one(hugging_face(fast), images),
        PEERS["vs_hf_torchvision_tensor"]: one_by_one(hugging_face(fast), tensors),
        "HF PIL backend": one_by_one(hugging_face(slow), images),
        "crop_patches": one_by_one(ours, arrays),
        "ceiling: fill": one_by_one(lambda _: np.empty_like(wanted).fill(1), arrays),
    }
    wanted = slow(images=images[:1], return_tensors="np")["pixel_values"]
    worst = 0.0
    for image, array in zip(images, arrays, strict=True):
        made = ours(array)
        expected = slow(images=[image], return_tensors="np")
        assert np.array_equal(expected["image_grid_thw"], made.grids)
        worst = max(worst, lsb(made.rows, expected["pixel_values"]))
    timings = interleaved(methods, rounds=rounds)
    print(f"\n{source[0]}x{source[1]} → {seen[0]}x{seen[1]}, {count} photos, {rounds} rounds")
    table(
        [
            (name, f"{timing.median / count * 1000:.2f}", f"{timing.spread:.0%}",
             f"{ratio(timings, name, 'crop_patches'):.2f}")
            for name, timing in timings.items()
        ],
        ("method", "CPU ms a photo", "spread", "× ours"),
    )  # fmt: skip
    print(f"largest difference to the PIL backend: {worst:.3f} LSB")
    return timings, worst


def main() -> None:
    quick = arguments(__doc__).quick
    require_peers()
    path = resampling.chosen()
    print(machine(["transformers", "torch", "torchvision", "pillow"]))
    print(f"path: {path.name}, {path.reason}")
    sizes: dict[str, dict[str, float]] = {}
    worst = 0.0
    for source, seen in CASES.items():
        timings, error = measure(source, seen, 9 if quick else 25, 4 if quick else 8)
        name = f"{seen[0]}x{seen[1]}"
        sizes[name] = {
            key: round(ratio(timings, peer, "crop_patches"), 2) for key, peer in PEERS.items()
        }
        worst = max(worst, error)
    least = {key: min(each[key] for each in sizes.values()) for key in PEERS}
    finish({**least, "sizes": sizes, "max_lsb": round(worst, 3), "path": path.name})


if __name__ == "__main__":
    main()
