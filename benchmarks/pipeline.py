"""Claim: indexing runs at ≥ 85 % of the slower of its two stages alone, where decoding bounds it
and where encoding does.

Both stages on their own take all usable cores, as the pipeline does; a round runs each of the
three, in rotated order, and the median over rounds counts. Encoding-bound: the default encoder on
small real photos. Decoding-bound: 12-megapixel photos, and an encoder that only averages. On a CPU
the stages share the cores, so the pipeline can reach slower / (decode + encode), which is printed.
``cores_busy``: how many of the cores had a thread of the pipeline that ran or wanted to run,
sampled; other load on the machine, which takes cores away, does not count against it.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from _common import SHARED, arguments, finish, interleaved, machine, table
from decode import make_photos

from photocraft_local.embeddings.encoder import (
    Calibration,
    Encoder,
    EncoderSpec,
    Pixels,
    TextEmbedding,
    Vectors,
    unit_rows,
)
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.files.decode import decode_upright
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings

CORES = len(os.sched_getaffinity(0))
PIECE = 2  # photos of one call of the encoder, as in the pipeline
SAMPLE = 0.01  # s


class Averaging:
    """An encoder that costs nearly nothing: an 8 × 8 mosaic of the picture."""

    spec = EncoderSpec("averaging", "1", "8x8", 192, 448)
    calibration = Calibration(0.5, 0.1, 3.0)
    concurrency = 64

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        rows = []
        for image in images:
            high, wide = (side // 8 * 8 for side in image.shape[:2])
            blocks = image[:high, :wide].reshape(8, high // 8, 8, wide // 8, 3)
            rows.append(blocks[:, ::4, :, ::4].mean(axis=(1, 3)).ravel() + 1)
        return unit_rows(np.array(rows, np.float32))

    def encode_text(self, text: str) -> TextEmbedding:
        return TextEmbedding(None, (), (text,))


@dataclass
class Measured:
    """Wall seconds of each round of the three, and cores that the pipeline kept busy."""

    seconds: dict[str, tuple[float, ...]] = field(default_factory=dict)
    busy: list[float] = field(default_factory=list)

    def share(self) -> float:
        rounds = zip(*self.seconds.values(), strict=True)
        return statistics.median(max(decode, encode) / whole for decode, encode, whole in rounds)

    def ceiling(self) -> float:
        decode, encode, _ = (statistics.median(each) for each in self.seconds.values())
        return max(decode, encode) / (decode + encode)


def main() -> None:
    quick = arguments(__doc__ or "").quick
    print(machine(["numpy", "pillow", "simplejpeg", "onnxruntime"]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings.load(library=folder / "encode")
        encoding = measure(
            "encoding-bound", folder, small_photos(40 if quick else 200), make_encoder(settings),
            rounds=3 if quick else 9,
        )  # fmt: skip
        files = [Path(os.fsdecode(path)) for path in make_photos(folder, 4 if quick else 8)]
        decoding = measure(
            "decoding-bound", folder, files * (6 if quick else 16), Averaging(),
            rounds=4 if quick else 9,
        )  # fmt: skip
    shares = {"encoding": encoding.share(), "decoding": decoding.share()}
    busy = {"encoding": encoding.busy, "decoding": decoding.busy}
    finish(
        {
            "share_of_slower_stage": round(min(shares.values()), 3),
            "shares": {name: round(share, 3) for name, share in shares.items()},
            "ceilings": {"encoding": round(encoding.ceiling(), 3),
                         "decoding": round(decoding.ceiling(), 3)},
            "cores_busy": round(min(statistics.median(each) for each in busy.values()), 2),
            "cores": CORES,
        }
    )  # fmt: skip


def small_photos(count: int) -> list[Path]:
    found = sorted((SHARED / "data" / "captioned").rglob("*.jpg"))
    if not found:
        from package_photos import locate

        found = sorted(locate().values())
    return found[:: max(1, len(found) // count)][:count]


def measure(
    title: str, folder: Path, photos: Sequence[Path], encoder: Encoder, *, rounds: int
) -> Measured:
    album = folder / f"{title} album"
    album.mkdir()
    for number, photo in enumerate(photos):
        target = album / f"{number:04}{photo.suffix}"
        target.write_bytes(photo.read_bytes() + b"%d" % number)  # behind the end: another file
    settings = Settings.load(library=folder / title)
    with Library.open(settings.library, create=True, settings=settings) as library:
        sync(library, [os.fsencode(album)])
        paths = [photo.paths[0] for photo in library.photos()]
        side = encoder.spec.decode_side
        pixels = decode_all(paths, side)
        result = Measured()
        pipeline = Pipeline(library, encoder, folder / f"{title} spaces", result)
        stages: dict[str, Callable[[], object]] = {
            "decode alone": lambda: decode_all(paths, side),
            "encode alone": lambda: encode_all(encoder, pixels),
            "pipeline": pipeline,
        }
        timings = interleaved(stages, rounds=rounds, clock=time.perf_counter)
        result.seconds = {name: timing.rounds for name, timing in timings.items()}
        result.busy = result.busy[1:]  # the first was the warm-up
    show(title, result, len(paths), rounds)
    return result


def show(title: str, result: Measured, count: int, rounds: int) -> None:
    print(f"\n{title}: {count} photos, {rounds} rounds, {CORES} cores")
    table(
        [
            (name, f"{count / statistics.median(seconds):.1f}",
             f"{min(seconds):.2f}–{max(seconds):.2f}")
            for name, seconds in result.seconds.items()
        ],
        ("stage", "photos/s", "wall s"),
    )  # fmt: skip
    print(
        f"share of the slower stage: {result.share():.3f} (target 0.85; stages that share the"
        f" cores could reach {result.ceiling():.3f}); cores busy"
        f" {statistics.median(result.busy):.2f} of {CORES}"
    )


def decode_all(paths: Sequence[bytes], side: int) -> list[Pixels]:
    with ThreadPoolExecutor(CORES) as pool:
        return [done.pixels for done in pool.map(partial(decode_upright, short_side=side), paths)]


def encode_all(encoder: Encoder, pixels: list[Pixels]) -> None:
    pieces = [pixels[start : start + PIECE] for start in range(0, len(pixels), PIECE)]
    with ThreadPoolExecutor(min(CORES, getattr(encoder, "concurrency", 1))) as pool:
        list(pool.map(encoder.encode_images, pieces))


class Pipeline:
    """Embeds the whole library into a new space each time."""

    def __init__(self, library: Library, encoder: Encoder, folder: Path, result: Measured) -> None:
        self._library, self._encoder, self._folder = library, encoder, folder
        self._result, self._round = result, 0

    def __call__(self) -> None:
        self._round += 1
        folder = self._folder / str(self._round)
        space = VectorSpace.open(folder, self._encoder.spec, create=True)
        with Busy() as busy:
            report = index_pending(self._library, space, self._encoder)
        self._result.busy.append(busy.mean())
        assert report.indexed == self._library.count()


class Busy:
    """While entered, counts now and then how many threads of this process run or want to."""

    def __enter__(self) -> Busy:
        self._counts: list[int] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def mean(self) -> float:
        return statistics.mean(min(CORES, count) for count in self._counts)

    def _watch(self) -> None:
        tasks = Path("/proc/self/task")
        mine = str(threading.get_native_id())
        while not self._end.wait(SAMPLE):
            states = [state_of(task) for task in tasks.iterdir() if task.name != mine]
            self._counts.append(sum(state in "RD" for state in states))


def state_of(task: Path) -> str:
    try:
        return (task / "stat").read_text("ascii", "replace").rpartition(")")[2].split()[0]
    except OSError:
        return "X"  # it has ended


if __name__ == "__main__":
    main()
