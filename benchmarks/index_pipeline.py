"""What memory indexing takes, and how fast a rescan is. How fast indexing is: ``pipeline.py``.

Memory: peak of a process of its own that indexes 1,000 and 20,000 small files with the null
encoder. Rescan: an unchanged library, stat only; ceiling: os.scandir and stat alone.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from _common import finish, interleaved, machine, table
from PIL import Image

from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings


def main() -> None:
    options = _options()
    if options.child:
        print(json.dumps(_index_and_weigh(*options.child)))
        return
    print(machine(["numpy", "pillow", "simplejpeg", "onnxruntime"]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = _memory(folder)
        result |= _rescan(folder, 20_000 if options.quick else 50_000)
    finish(result)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end within 45 s on two cores")
    parser.add_argument("--child", nargs=2, metavar=("PHOTOS", "LIBRARY"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _memory(folder: Path) -> dict[str, object]:
    rows: list[tuple[object, ...]] = []
    result: dict[str, object] = {}
    for key, count in (("1k", 1_000), ("20k", 20_000)):
        photos = folder / f"photos-{key}"
        _make_photos(photos, 0, count)
        weighed = _child(photos, folder / f"library-{key}")
        assert weighed["indexed"] == count
        result[f"peak_mib_{key}"] = weighed["peak_mib"]
        rows.append((f"{count:,}", weighed["peak_mib"], f"{count / weighed['seconds']:,.0f}"))
    print("\nindexing small files with the null encoder, a process each")
    table(rows, ("photos", "peak MiB", "photos/s"))
    return result


def _child(photos: Path, library: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", str(photos), str(library)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    weighed: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return weighed


def _index_and_weigh(photos: str, library: str) -> dict[str, float]:
    settings = Settings.load(library=library, encoder="null", batch_size=64)
    encoder = NullEncoder()
    start = time.perf_counter()
    with Library.open(settings.library, create=True, settings=settings) as opened:
        sync(opened, [os.fsencode(photos)])
        folder = opened.spaces_folder / encoder.spec.space_id
        space = VectorSpace.open(folder, encoder.spec, create=True)
        report = index_pending(opened, space, encoder, batch_size=settings.batch_size)
    seconds = time.perf_counter() - start
    return {"indexed": report.indexed, "seconds": seconds, "peak_mib": round(_peak_mib(), 1)}


def _peak_mib() -> float:
    """Of this process; ``ru_maxrss`` would count the parent's memory before the exec."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _rescan(folder: Path, count: int) -> dict[str, object]:
    """On the library of 20,000, grown to ``count``."""
    photos = folder / "photos-20k"
    _make_photos(photos, 20_000, count - 20_000)
    settings = Settings.load(library=folder / "library-20k")
    with Library.open(settings.library, settings=settings) as library:
        sync(library, [os.fsencode(photos)])
        stages: dict[str, Callable[[], object]] = {
            "rescan": lambda: sync(library, [os.fsencode(photos)]),
            "os.scandir and stat alone": lambda: _walk(photos),
        }
        assert sync(library, [os.fsencode(photos)]).unchanged == count
        timings = interleaved(stages, rounds=5, clock=time.perf_counter)
    rates = {name: count / timing.median for name, timing in timings.items()}
    print(f"\nrescan of {count:,} unchanged files, wall time (target 20,000 files/s)")
    table([(name, f"{rate:,.0f}") for name, rate in rates.items()], ("method", "files/s"))
    return {"rescan_files": count, "rescan_files_per_second": round(rates["rescan"])}


def _walk(folder: Path) -> int:
    """Sizes of all files, without anything else."""
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            total += _walk(Path(entry.path)) if entry.is_dir() else entry.stat().st_size
    return total


def _make_photos(folder: Path, first: int, count: int) -> None:
    """Small JPEGs of different bytes, taken half an hour apart, 1,000 a folder."""
    start, marker = datetime(2015, 1, 1), "2000:01:01 00:00:00"
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = marker
    buffer = io.BytesIO()
    picture = Image.effect_noise((96, 64), 60).convert("RGB")
    picture.save(buffer, "JPEG", quality=70, exif=exif)
    head, tail = buffer.getvalue().split(marker.encode())
    for number in range(first, first + count):
        target = folder / f"{number // 1000:03}"
        if number % 1000 == 0:
            target.mkdir(parents=True)
        taken = (start + timedelta(minutes=30 * number)).strftime("%Y:%m:%d %H:%M:%S")
        (target / f"IMG_{number:06}.jpg").write_bytes(head + taken.encode() + tail)


if __name__ == "__main__":
    main()
