"""Claim: 12-megapixel JPEG → 448 pixels, ≥ 2.8 × Pillow plain, ≥ 1.2 × Pillow draft, ≥ 50 dB.

Peers in the same run, CPU time, one thread: ``plain`` = open, decode, resize (bicubic);
``draft`` = libjpeg's scale at twice the target or more, then resize. The PSNR is against
``plain``. Beside them libjpeg-turbo's 1/8 scale, which is little but its Huffman decoding. The
photos are made: real ones scaled up, with sensor noise, quality 93, 4:2:0.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

import numpy as np
import simplejpeg
from _common import SHARED, arguments, finish, interleaved, machine, ratio, table
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.files import scaled_jpeg
from photocraft_local.files.decode import decode_upright

WIDTH, HEIGHT = 4032, 3024
NOISE = 4.0  # standard deviation in 8-bit steps, as a phone's sensor leaves in daylight


def scenes(count: int) -> list[Image.Image]:
    """Mosaics of four real photos, so that there is detail at every scale."""
    found = sorted((SHARED / "data/captioned/coco").glob("*.jpg"))[: 4 * count]
    if len(found) < 4 * count:
        print("no shared photos: pictures of random blobs stand in")
        dice = np.random.default_rng(0)
        blobs = [dice.integers(0, 256, (48, 64, 3), dtype=np.uint8) for _ in range(count)]
        return [Image.fromarray(blob).resize((WIDTH, HEIGHT)) for blob in blobs]
    mosaics = []
    for start in range(0, 4 * count, 4):
        mosaic = Image.new("RGB", (WIDTH, HEIGHT))
        for index, path in enumerate(found[start : start + 4]):
            with Image.open(path) as photo:
                part = photo.convert("RGB").resize((WIDTH // 2, HEIGHT // 2), Image.BICUBIC)
            mosaic.paste(part, (index % 2 * WIDTH // 2, index // 2 * HEIGHT // 2))
        mosaics.append(mosaic)
    return mosaics


def make_photos(folder: Path, count: int) -> list[bytes]:
    dice = np.random.default_rng(1)
    paths = []
    for index, scene in enumerate(scenes(count)):
        pixels = np.asarray(scene, np.float32)
        pixels = pixels + dice.standard_normal(pixels.shape, np.float32) * NOISE
        path = folder / f"{index}.jpg"
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(
            path, quality=93, subsampling="4:2:0"
        )
        paths.append(bytes(path))
    return paths


def plain(path: bytes, size: tuple[int, int]) -> NDArray[np.uint8]:
    with Image.open(os.fsdecode(path)) as image:
        return np.asarray(image.convert("RGB").resize(size, Image.Resampling.BICUBIC))


def draft(path: bytes, size: tuple[int, int]) -> NDArray[np.uint8]:
    with Image.open(os.fsdecode(path)) as image:
        image.draft("RGB", (2 * size[0], 2 * size[1]))
        return np.asarray(image.convert("RGB").resize(size, Image.Resampling.BICUBIC))


def ceiling(path: bytes) -> NDArray[np.uint8]:
    return simplejpeg.decode_jpeg(Path(os.fsdecode(path)).read_bytes(), "GRAY", min_width=1)


def psnr(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    error = float(np.mean((one.astype(np.float64) - other) ** 2))
    return 10 * float(np.log10(255**2 / max(error, 1e-9)))


def measure(paths: list[bytes], target: int, rounds: int) -> dict[str, float]:
    size = round(WIDTH * target / HEIGHT), target
    timings = interleaved(
        {
            "Pillow plain": lambda: [plain(path, size) for path in paths],
            "Pillow draft": lambda: [draft(path, size) for path in paths],
            "decode_upright": lambda: [decode_upright(path, short_side=target) for path in paths],
            "libjpeg-turbo: 1/8 grey": lambda: [ceiling(path) for path in paths],
        },
        rounds=rounds,
    )
    quality = [
        psnr(decode_upright(path, short_side=target).pixels, plain(path, size)) for path in paths
    ]
    print(f"\n12 MP → {target}, {len(paths)} photos, {rounds} rounds")
    table(
        [
            (name, f"{timing.median / len(paths) * 1000:.1f}", f"{timing.spread:.0%}",
             f"{ratio(timings, 'Pillow plain', name):.2f}",
             f"{ratio(timings, 'Pillow draft', name):.2f}")
            for name, timing in timings.items()
        ],
        ("method", "CPU ms a photo", "spread", "× plain", "× draft"),
    )  # fmt: skip
    print(f"PSNR to plain: median {statistics.median(quality):.1f} dB, worst {min(quality):.1f} dB")
    return {
        "vs_pillow_plain": round(ratio(timings, "Pillow plain", "decode_upright"), 2),
        "vs_pillow_draft": round(ratio(timings, "Pillow draft", "decode_upright"), 2),
        "psnr_db": round(statistics.median(quality), 1),
    }


def main() -> None:
    options = arguments(__doc__ or "")
    with tempfile.TemporaryDirectory() as folder:
        paths = make_photos(Path(folder), 3 if options.quick else 8)
        megabytes = statistics.median(Path(os.fsdecode(p)).stat().st_size for p in paths) / 1e6
        print(f"{WIDTH}x{HEIGHT}, median {megabytes:.2f} MB")
        rounds = 5 if options.quick else 15
        main_target = measure(paths, 448, rounds)
        small_target = measure(paths, 224, rounds // 2 + 1)
    print(machine(["pillow", "simplejpeg", "numpy"]))
    path = scaled_jpeg.chosen()
    print(f"decoder: {path.name}, {path.reason}")
    finish({**main_target, "target_224": small_target, "decoder": path.name})


if __name__ == "__main__":
    main()
