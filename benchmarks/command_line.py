"""CPU time of cold commands: ``photocraft --help``, and ``search`` and ``ask`` on 10k photos.

Each run is a process of its own, started anew; the library holds 10,000 real rows and vectors.
The ceiling is the interpreter itself; there is no peer with the same job, so the floor of its
parts (interpreter, NumPy, onnxruntime: "floor") stands beside it. ``columns`` is one part of these
commands alone, in this process: all 10,000 rows of the library as arrays.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import arguments, finish, machine, table
from PIL import Image

from photocraft_local.app import PhotoSearch
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.settings import Settings, default_cache_path

NUM_PHOTOS = 10_000
_TARGETS = {"help": 0.150, "search": 1.0, "columns": 0.080}  # seconds of CPU


def make_photos(folder: Path) -> None:
    """Tiny JPEGs, all different, spread over twelve years and western Europe."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(NUM_PHOTOS):
        exif = Image.Exif()
        month, day, hour = number % 12 + 1, number % 28 + 1, number % 24
        exif.get_ifd(0x8769)[0x9003] = (
            f"{2010 + number % 12}:{month:02d}:{day:02d} {hour:02d}:00:00"
        )
        if number % 2:
            gps = exif.get_ifd(0x8825)
            gps[1], gps[2] = "N", (38 + number % 7, number * 7 % 60, 0.0)
            gps[3], gps[4] = "W", (9.0, number * 11 % 60, 0.0)
        picture = Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8))
        picture.save(folder / f"{number:05d}.jpg", exif=exif.tobytes())


def make_library(settings: Settings, photos: Path) -> None:
    """Rows by the true sync; vectors at random, since what they mean costs the same."""
    encoder = make_encoder(settings)
    rng = np.random.default_rng(1)
    with Library.open(settings.library, create=True, settings=settings) as library:
        with Gazetteer.open(settings.cache) as places:
            sync(library, [os.fsencode(photos)], places=places)
        folder = library.spaces_folder / encoder.spec.space_id
        space = VectorSpace.open(folder, encoder.spec, create=True)
        vectors = rng.standard_normal((NUM_PHOTOS, encoder.spec.dim), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        space.append(library.present_ids(), vectors)
    with PhotoSearch(settings) as search:  # builds what is built once in a cache's life
        search.search("dog", top_k=1)


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def columns_seconds(settings: Settings, rounds: int) -> list[float]:
    """CPU of each reading of the whole library's columns, after one that warms up."""
    seconds = []
    with Library.open(settings.library, settings=settings) as library:
        library.columns()
        for _ in range(rounds):
            start = time.process_time()
            library.columns()
            seconds.append(time.process_time() - start)
    return seconds


def main() -> None:
    quick = arguments(__doc__ or "").quick
    rounds = 5 if quick else 15
    python, photocraft = [sys.executable], [sys.executable, "-m", "photocraft_local"]
    commands = {
        "interpreter": [*python, "-c", "pass"],
        "floor": [*python, "-c", "import numpy, onnxruntime"],
        "help": [*photocraft, "--help"],
        "list": [*photocraft, "list", "--json"],
        "filter": [*photocraft, "search", "--after", "2015-06", "--near", "Lisbon"],
        "search": [*photocraft, "search", "dog on a beach", "--after", "2015-06"],
        "ask": [*photocraft, "ask", "a dog on a beach in Portugal in 2015"],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(library=folder / "library", cache=default_cache_path())
        make_photos(folder / "photos")
        make_library(settings, folder / "photos")
        environment = {
            **os.environ,
            "PHOTOCRAFT_LIBRARY": str(settings.library),
            "PHOTOCRAFT_MEMORY_FOLDER": str(folder / "memory"),
        }
        seconds: dict[str, list[float]] = {label: [] for label in commands}
        for _ in range(rounds):  # interleaved, so that a busy neighbour hits all of them alike
            for label, command in commands.items():
                seconds[label].append(cpu_seconds(command, environment))
        seconds["columns"] = columns_seconds(settings, rounds)
    medians = {label: statistics.median(values) for label, values in seconds.items()}
    table(
        [
            (label, f"{medians[label]:.3f}", f"{min(values):.3f}", _TARGETS.get(label, ""))
            for label, values in seconds.items()
        ],
        ("command", "CPU s (median)", "fastest", "target"),
    )
    print(machine(("numpy", "onnxruntime")))
    finish({"photos": NUM_PHOTOS, **{f"{k}_cpu_s": round(v, 4) for k, v in medians.items()}})


if __name__ == "__main__":
    main()
