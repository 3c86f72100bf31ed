"""Claim: 32 antialiased crops out of 8 decoded photos in one call, ≥ 3.2 × the PIL loop on one
thread; on two, ≥ 85 % of the scaling that a pure decode loop has; one crop from a file ≥ 2.5 × PIL
by decoding the box alone; the next crop of the photo ≥ 20 × from the cache.

Peers in the same run: ``crop().resize()`` of Pillow, bicubic, from pictures in memory or from the
file. One thread: CPU time. Two threads: wall time of one and of two, ours and the decode loop side
by side, since only the ratio of the two scalings tells anything on a shared machine.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import simplejpeg
from _common import arguments, finish, interleaved, machine, ratio, table
from decode import HEIGHT, WIDTH, make_photos
from PIL import Image

from photocraft_local.files import scaled_jpeg
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.decode_region import decode_region
from photocraft_local.imaging import resampling
from photocraft_local.imaging.crop_batch import Crop, crop_planes
from photocraft_local.imaging.decoded_cache import DecodedCache
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.model_values import ModelValues
from photocraft_local.imaging.pictures import Pixels

SIDE = 448
BYTES = ModelValues("uint8")
PER_PHOTO = 4
BICUBIC = Image.Resampling.BICUBIC


def boxes(count: int, seed: int) -> list[Box]:
    """What a model zooms into: a twelfth to a half of each side, anywhere."""
    dice = random.Random(seed)
    found = []
    for _ in range(count):
        width = round(WIDTH * dice.uniform(1 / 12, 1 / 2))
        height = round(HEIGHT * dice.uniform(1 / 12, 1 / 2))
        x, y = dice.randint(0, WIDTH - width), dice.randint(0, HEIGHT - height)
        found.append(Box(x, y, width, height))
    return found


def by_pil(image: Image.Image, box: Box) -> Pixels:
    return np.asarray(image.crop(box.corners()).resize((SIDE, SIDE), BICUBIC))


def crop_of(index: int, box: Box) -> Crop:
    return Crop(index, box, SIDE, SIDE)


def whole(pixels: Pixels) -> Crop:
    return crop_of(0, Box(0, 0, pixels.shape[1], pixels.shape[0]))


def show(title: str, timings: Any, peer: str, each: int) -> None:
    print(f"\n{title}")
    table(
        [
            (name, f"{timing.median / each * 1000:.2f}", f"{timing.spread:.0%}",
             f"{ratio(timings, peer, name):.2f}")
            for name, timing in timings.items()
        ],
        ("method", "CPU ms a crop", "spread", "× PIL"),
    )  # fmt: skip


def decoded(paths: Sequence[bytes], rounds: int) -> float:
    pictures = [decode_upright(path).pixels for path in paths]
    images = [Image.fromarray(each) for each in pictures]
    wanted = boxes(PER_PHOTO * len(paths), 1)
    crops = [crop_of(index // PER_PHOTO, box) for index, box in enumerate(wanted)]
    for crop, made in zip(crops, crop_planes(pictures, crops, BYTES), strict=True):
        assert np.array_equal(made.transpose(1, 2, 0), by_pil(images[crop.picture], crop.box))
    timings = interleaved(
        {
            "PIL loop": lambda: [by_pil(images[crop.picture], crop.box) for crop in crops],
            "crop_planes": lambda: crop_planes(pictures, crops, BYTES),
        },
        rounds=rounds,
    )
    show(f"{len(crops)} crops → {SIDE} out of {len(paths)} decoded photos", timings,
         "PIL loop", len(crops))  # fmt: skip
    return ratio(timings, "PIL loop", "crop_planes")


def scaling(paths: Sequence[bytes], rounds: int) -> tuple[float, float]:
    """Wall time on one thread over that on two: of our crops, and of a pure decode loop."""
    pictures = [decode_upright(path).pixels for path in paths]
    wanted = boxes(8 * PER_PHOTO, 2)
    crops = [crop_of(index % len(paths), box) for index, box in enumerate(wanted)]
    files = [Path(os.fsdecode(path)).read_bytes() for path in paths] * 2
    room = [bytearray(WIDTH * HEIGHT * 3) for _ in range(2)]

    def decode(part: Sequence[bytes], where: bytearray) -> None:
        for data in part:
            simplejpeg.decode_jpeg(data, "RGB", buffer=where)

    def on(threads: int) -> Callable[[], object]:
        def run() -> None:
            with ThreadPoolExecutor(threads) as pool:
                parts = [files[start::threads] for start in range(threads)]
                list(pool.map(decode, parts, room[:threads]))

        return run

    timings = interleaved(
        {
            "ours 1": lambda: crop_planes(pictures, crops, BYTES),
            "ours 2": lambda: crop_planes(pictures, crops, BYTES, threads=2),
            "decode 1": on(1),
            "decode 2": on(2),
        },
        rounds=rounds,
        clock=time.perf_counter,
    )
    ours, pure = (ratio(timings, f"{name} 1", f"{name} 2") for name in ("ours", "decode"))
    print(f"\ntwo threads, wall time: crops {ours:.2f} ×, pure decoding {pure:.2f} ×")
    return ours, pure


def from_file(paths: Sequence[bytes], rounds: int) -> tuple[float, float]:
    asked = [(path, box) for path, box in zip(paths * 3, boxes(3 * len(paths), 3), strict=True)]
    cache = DecodedCache()

    def pil(path: bytes, box: Box) -> Pixels:
        with Image.open(os.fsdecode(path)) as image:
            return by_pil(image.convert("RGB"), box)

    def region(path: bytes, box: Box) -> Any:
        cut = decode_region(path, box.corners())
        return crop_planes([cut], [whole(cut)], BYTES)[0]

    def cached(path: bytes, box: Box) -> Any:
        cut = cache.region(path, box)  # as zoom_in asks for it
        return crop_planes([cut], [whole(cut)], BYTES)[0]

    def all_of(make: Callable[[bytes, Box], object]) -> Callable[[], None]:
        def run() -> None:
            for path, box in asked:
                make(path, box)

        return run

    for path, box in asked:
        assert np.array_equal(region(path, box), cached(path, box))
    timings = interleaved(
        {
            "PIL from the file": all_of(pil),
            "decode_region": all_of(region),
            "DecodedCache, second crop": all_of(cached),
        },
        rounds=rounds,
    )
    show(
        f"one crop → {SIDE} from a {WIDTH}x{HEIGHT} file", timings, "PIL from the file", len(asked)
    )
    peer = "PIL from the file"
    bottoms = statistics.mean(box.bottom for _, box in asked) / HEIGHT
    print(f"the boxes end at {bottoms:.0%} of the height on average")
    return ratio(timings, peer, "decode_region"), ratio(timings, peer, "DecodedCache, second crop")


def main() -> None:
    quick = arguments(__doc__ or "").quick
    print(machine(["pillow", "simplejpeg", "numpy"]))
    path = resampling.chosen()
    print(f"path: {path.name}, {path.reason}")
    print(f"decoder of parts: {scaled_jpeg.chosen().name}, {scaled_jpeg.chosen().reason}")
    with tempfile.TemporaryDirectory() as folder:
        paths = make_photos(Path(folder), 4 if quick else 8)
        one = decoded((paths * 2)[:8], 5 if quick else 15)
        ours, pure = scaling(paths[:4], 7 if quick else 15)
        roi, cached = from_file(paths[:2] if quick else paths, 3 if quick else 7)
    finish(
        {
            "vs_pil_1thread": round(one, 2),
            "vs_pil_2threads": round(one * ours, 2),
            "scaling_2threads": round(ours, 2),
            "decode_scaling_2threads": round(pure, 2),
            "share_of_decode_scaling": round(ours / pure, 2),
            "roi_vs_pil": round(roi, 2),
            "cached_vs_pil": round(cached, 1),
            "path": path.name,
            "decoder": scaled_jpeg.chosen().name,
        }
    )


if __name__ == "__main__":
    main()
