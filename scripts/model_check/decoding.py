"""JPEG files by the GPU beside the CPU: how near, how quick, and that one bad file costs no other.

Figures are of this run, from files in memory's cache.
"""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from server_check.findings import Report

NAME = "JPEG files on the GPU"
ROWS = f"{NAME}: their patch rows, made there"
SIZE, SIDE, COUNT = (4032, 3024), 448, 64
LEAST_DB = 45.0
LEAST_ROWS_DB = 40.0  # another cosine transform alone may cost that, before it is shrunk


def check_decoding(report: Report) -> None:
    from photocraft_local.errors import PhotocraftError
    from photocraft_local.files.gpu_jpeg import open_gpu

    try:
        gpu = open_gpu()
    except PhotocraftError as lack:
        report.absent(NAME, lack.message)
        return
    report.check(f"{NAME}: chroma is smoothed", True, engines=gpu.engines, db=gpu.decibels)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_photos(Path(folder))
        check_pictures(report, gpu, paths)
        report.part(ROWS, check_rows, report, gpu, paths[:8], (1024, 768))
        spoil(Path(os.fsdecode(paths[1])))
        mixed = gpu.decode([*paths[:4], b"/nowhere.jpg"], short_side=SIDE)
        kept = [one is not None for one in mixed]
        report.check(f"{NAME}: a bad file costs no other", kept[0] and all(kept[2:4]), kept=kept)


def write_photos(folder: Path) -> list[bytes]:
    """COUNT files, each orientation in turn."""
    from PIL import Image

    dice = np.random.default_rng(5)
    coarse = Image.fromarray(dice.integers(0, 256, (24, 32, 3), np.uint8)).resize(SIZE)
    noisy = np.asarray(coarse, np.float32) + dice.normal(0, 4, (SIZE[1], SIZE[0], 1))
    picture = Image.fromarray(noisy.clip(0, 255).astype(np.uint8))
    paths = [folder / f"{at:03}.jpg" for at in range(COUNT)]
    for at, path in enumerate(paths):
        if at < 8:
            exif = picture.getexif()
            exif[0x0112] = 1 + at
            picture.save(path, quality=93, exif=exif)
        else:
            path.write_bytes(paths[at % 8].read_bytes())
    return [os.fsencode(path) for path in paths]


def spoil(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4000] = bytes(4000)
    path.write_bytes(data)


def check_pictures(report: Report, gpu: Any, paths: list[bytes]) -> None:
    from photocraft_local.files.decode import decode_upright

    gpu.decode(paths[:8], short_side=SIDE)  # the first call sets up the engines
    start = time.perf_counter()
    made = gpu.decode(paths, short_side=SIDE)
    there = time.perf_counter() - start
    start = time.perf_counter()
    with ThreadPoolExecutor() as pool:
        wanted = list(pool.map(partial(decode_upright, short_side=SIDE), paths))
    here = time.perf_counter() - start
    worst = min(
        0.0 if one is None else _decibels(one.pixels, other.pixels)
        for one, other in zip(made, wanted, strict=True)
    )
    report.check(
        f"{NAME}: the CPU's pictures", worst >= LEAST_DB, db=worst,
        photos_per_s=round(COUNT / there, 1), cpu_photos_per_s=round(COUNT / here, 1),
        cores=os.cpu_count(),
    )  # fmt: skip


def check_rows(report: Report, gpu: Any, paths: list[bytes], size: tuple[int, int]) -> None:
    """Patch rows that stay on the device beside those of the CPU from the same full decode, which
    both have to come to ``size`` (width, height), or turned by a quarter."""
    from photocraft_local.errors import PhotocraftError
    from photocraft_local.files.decode import decode_upright
    from photocraft_local.imaging.crop_batch import Crop, crop_patches
    from photocraft_local.imaging.device_patches import device_patches, need_kernel
    from photocraft_local.imaging.geometry import Box
    from photocraft_local.imaging.model_values import ModelValues, PatchLayout

    def rule(width: int, height: int) -> tuple[int, int]:
        return size if width > height else size[::-1]

    layout = PatchLayout(16, 2, copies=1)
    try:
        need_kernel()
    except PhotocraftError as lack:
        report.absent(ROWS, lack.message)
        return
    worst = 99.0
    for path, one in zip(paths, device_patches(gpu, paths, layout, rule), strict=True):
        pixels = decode_upright(path).pixels
        height, width = pixels.shape[:2]
        crop = Crop(0, Box(0, 0, width, height), *rule(width, height))
        wanted = crop_patches([pixels], [crop], layout, ModelValues("uint8"))
        rows = None if one is None else one.rows.cpu().numpy()
        worst = min(worst, 0.0 if rows is None else _decibels(rows, wanted.rows))
    report.check(ROWS, worst >= LEAST_ROWS_DB, db=worst, photos=len(paths))


def _decibels(one: np.ndarray, other: np.ndarray) -> float:
    if one.shape != other.shape:
        return 0.0
    error = float(np.mean((one.astype(np.float64) - other) ** 2))
    return round(10 * float(np.log10(255**2 / max(error, 1e-9))), 1)
