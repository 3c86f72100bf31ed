"""How close indexing comes to its floor, what memory it takes, and how fast a rescan is.

Floor: the slower of decoding alone and encoding alone, each on all usable cores, with the
default encoder on real photos (../shared/data/captioned, else the `demo` extra's). Both stages
share the cores in the pipeline, so its ceiling is slower / (decode + encode), also printed.
Memory: peak of a process of its own that indexes 1,000 and 20,000 small files with the null
encoder. Rescan: an unchanged library, stat only; ceiling: os.scandir and stat alone.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from _common import SHARED, finish, machine, table
from PIL import Image

from photocraft_local.embeddings.encoder import Encoder, Pixels
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.files.decode import decode_upright
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings

_CORES = len(os.sched_getaffinity(0))
_PIECE = 2  # photos of one call of the encoder, as in the pipeline


def main() -> None:
    options = _options()
    if options.child:
        print(json.dumps(_index_and_weigh(*options.child)))
        return
    print(machine(["numpy", "pillow", "simplejpeg", "onnxruntime"]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = _throughput(folder, quick=options.quick)
        result |= _memory(folder)
        result |= _rescan(folder, 20_000 if options.quick else 50_000)
    finish(result)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end within 45 s on two cores")
    parser.add_argument("--child", nargs=2, metavar=("PHOTOS", "LIBRARY"), help=argparse.SUPPRESS)
    return parser.parse_args()


# --- throughput


def _throughput(folder: Path, *, quick: bool) -> dict[str, object]:
    photos = _real_photos()[:: 8 if quick else 1][:200]
    album = folder / "album"
    album.mkdir()
    for number, photo in enumerate(photos):
        (album / f"{number:04}{photo.suffix}").symlink_to(photo)
    settings = Settings.load(library=folder / "library")
    encoder = make_encoder(settings)
    side = encoder.spec.decode_side
    with Library.open(settings.library, create=True, settings=settings) as library:
        sync(library, [os.fsencode(album)])
        paths = [photo.paths[0] for photo in library.photos()]
        pixels = _decode_all(paths, side)
        stages: dict[str, Callable[[], object]] = {
            "decode alone": lambda: _decode_all(paths, side),
            "encode alone": lambda: _encode_all(encoder, pixels),
            "pipeline": _Pipeline(library, encoder, folder),
        }
        wall, cpu = _interleaved(stages, rounds=5 if quick else 9)
    rows = [
        (
            name,
            f"{len(paths) / statistics.median(wall[name]):.1f}",
            f"{min(wall[name]):.2f}–{max(wall[name]):.2f}",
            f"{1000 * statistics.median(cpu[name]) / len(paths):.1f}",
        )
        for name in stages
    ]
    print(f"\n{len(paths)} photos, encoder {encoder.spec.encoder_id!r}, {_CORES} cores")
    table(rows, ("stage", "photos/s", "wall s", "CPU ms/photo"))
    share, share_cpu = _share(wall), _share(cpu)
    decode, encode, _ = (statistics.median(rounds) for rounds in cpu.values())
    ceiling = max(decode, encode) / (decode + encode)
    print(
        f"share of the floor: {share:.3f} by wall time (target 0.85), {share_cpu:.3f} by CPU time"
    )
    print("wall time swings with other load on the machine; CPU time does not see idle cores")
    print(f"both stages on the same cores could reach {ceiling:.3f}")
    return {
        "share_of_floor": round(share, 3),
        "share_of_floor_cpu": round(share_cpu, 3),
        "ceiling": round(ceiling, 3),
    }


def _share(seconds: dict[str, list[float]]) -> float:
    """Median over rounds of the slower stage's time over the pipeline's."""
    rounds = zip(*seconds.values(), strict=True)
    return statistics.median(max(decode, encode) / pipeline for decode, encode, pipeline in rounds)


def _real_photos() -> list[Path]:
    captioned = sorted((SHARED / "data" / "captioned").rglob("*.jpg"))
    if captioned:
        return captioned
    from package_photos import locate

    return sorted(locate().values())


def _decode_all(paths: list[bytes], side: int) -> list[Pixels]:
    with ThreadPoolExecutor(_CORES) as pool:
        return [done.pixels for done in pool.map(partial(decode_upright, short_side=side), paths)]


def _encode_all(encoder: Encoder, pixels: list[Pixels]) -> None:
    pieces = [pixels[start : start + _PIECE] for start in range(0, len(pixels), _PIECE)]
    with ThreadPoolExecutor(min(_CORES, getattr(encoder, "concurrency", 1))) as pool:
        list(pool.map(encoder.encode_images, pieces))


class _Pipeline:
    """Embeds the whole library into a new space each time."""

    def __init__(self, library: Library, encoder: Encoder, folder: Path) -> None:
        self._library = library
        self._encoder = encoder
        self._folder = folder
        self._round = 0

    def __call__(self) -> None:
        self._round += 1
        folder = self._folder / f"space-{self._round}"
        space = VectorSpace.open(folder, self._encoder.spec, create=True)
        report = index_pending(self._library, space, self._encoder)
        assert report.indexed == self._library.count()


def _interleaved(
    stages: dict[str, Callable[[], object]], *, rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Wall and CPU seconds: for stages that overlap time counts, not only work."""
    names = list(stages)
    for name in names:
        stages[name]()
    wall: dict[str, list[float]] = {name: [] for name in names}
    cpu: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            start, work = time.perf_counter(), time.process_time()
            stages[name]()
            wall[name].append(time.perf_counter() - start)
            cpu[name].append(time.process_time() - work)
    return wall, cpu


# --- memory and rescan


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
        wall, _ = _interleaved(stages, rounds=5)
    rates = {name: count / statistics.median(seconds) for name, seconds in wall.items()}
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
