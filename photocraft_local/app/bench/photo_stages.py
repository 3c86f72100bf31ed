"""Photos a second: decoded, cut and laid out for a model, embedded.

Each beside its floor in the same run: the entropy decoding of a JPEG, the bytes that cross memory,
the encoder's forward pass alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from photocraft_local.app.bench.figures import Figure, not_measured, seconds, side_by_side
from photocraft_local.app.bench.floors import Memory
from photocraft_local.app.bench.material import Material
from photocraft_local.embeddings.encoder import Preparing
from photocraft_local.errors import PhotocraftError
from photocraft_local.files.decode import decode_upright

if TYPE_CHECKING:
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.settings import Settings

SIDE = 448  # px; what a model looks at
_MOST_DECODED = 4  # photos in full size at once
_BOXES = ((1008, 756), (448, 448), (2016, 1512), (600, 300))  # px, as far as a photo reaches


def decode(material: Material, settings: Settings, *, quick: bool) -> Iterator[Figure]:
    """Files → pixels of SIDE on the shorter side."""
    import simplejpeg

    files, rounds = material.files, 1 if quick else 5
    contents = [Path(os.fsdecode(path)).read_bytes() for path in files]

    def whole(path: bytes) -> object:
        return decode_upright(path, short_side=SIDE, max_pixels=settings.max_pixels)

    def entropy(content: bytes) -> object:
        return simplejpeg.decode_jpeg(content, "GRAY", min_width=1)  # 1/8: the least work

    bound = "libjpeg-turbo's entropy decoding alone"
    for threads in sorted({1, cores()}):
        spent, floor = _in_threads(whole, files, entropy, contents, threads, rounds)
        yield Figure(
            "decode", f"file to {SIDE} px, {_threads(threads)}",
            len(files) / spent, "photos/s", len(files) / floor, bound,
        )  # fmt: skip


def crops(
    material: Material, memory: Memory, settings: Settings, *, quick: bool
) -> Iterator[Figure]:
    """Boxes of decoded photos → patch rows of a SIDE × SIDE picture, in 16 bits."""
    from photocraft_local.imaging.crop_batch import Crop, crop_patches
    from photocraft_local.imaging.geometry import Box
    from photocraft_local.imaging.model_values import HALF, ModelValues, PatchLayout
    from photocraft_local.imaging.resampling import chosen

    pictures = [
        decode_upright(path, max_pixels=settings.max_pixels).pixels
        for path in material.files[:_MOST_DECODED]
    ]
    wanted = []
    for index, pixels in enumerate(pictures):
        height, width = pixels.shape[:2]
        sizes = [(min(width, across), min(height, down)) for across, down in _BOXES]
        wanted += [Crop(index, Box(0, 0, *size), SIDE, SIDE) for size in sizes]
    layout, values = PatchLayout(16, copies=1), ModelValues("bfloat16", HALF, HALF)
    rows = np.empty((len(wanted) * layout.rows(SIDE, SIDE), layout.dimension), values.dtype)
    moved = rows.nbytes + sum(3 * crop.box.width * crop.box.height for crop in wanted)
    way = f"by the {chosen().name} path"
    for threads in sorted({1, cores()}):

        def run(threads: int = threads) -> object:
            return crop_patches(pictures, wanted, layout, values, threads=threads, out=rows)

        spent = seconds(run, 3 if quick else 9)
        yield Figure(
            "crops", f"box to {SIDE} px patch rows, {_threads(threads)}",
            len(wanted) / spent, "crops/s", len(wanted) * memory.copied / moved,
            "its bytes once through memory, one thread", way,
        )  # fmt: skip


def embed(
    material: Material, encoder: Callable[[], Encoder], settings: Settings, *, quick: bool
) -> Iterator[Figure]:
    """Files → vectors as indexing does it, beside the encoder on photos that are decoded."""
    name = f"file to vector, {settings.encoder}"
    try:
        model = encoder()
        spec = model.spec
        if not isinstance(model, Preparing) and not spec.decode_side:
            why = f"the encoder {settings.encoder!r} looks at no pixels"
            yield Figure("embed", name, why=why)
            return
        files = material.files * (1 if material.is_own else 4)
        load, encode = _ways(model, settings)
        ready = [load(path) for path in files]
        batch = settings.batch_size
        parts = [ready[at : at + batch] for at in range(0, len(ready), batch)]
        rounds = 1 if quick else 3
        spent, alone = side_by_side(
            lambda: _piped(files, batch, load, encode),
            lambda: [encode(part) for part in parts],
            rounds,
        )
    except PhotocraftError as error:
        yield not_measured("embed", name, error)
        return
    yield Figure(
        "embed", f"file to vector, {spec.encoder_id}",
        len(files) / spent, "photos/s", len(files) / alone,
        "the encoder's forward pass alone, photos decoded before", f"batches of {batch}",
    )  # fmt: skip


def _ways(
    model: Encoder, settings: Settings
) -> tuple[Callable[[bytes], Any], Callable[[list[Any]], object]]:
    """How this encoder takes a file in, and a batch of what that gives."""
    if isinstance(model, Preparing):
        preparing = model
        return (
            lambda path: preparing.prepare(path, max_pixels=settings.max_pixels)[0],
            preparing.encode_prepared,
        )
    side = model.spec.decode_side
    return (
        lambda path: decode_upright(path, short_side=side, max_pixels=settings.max_pixels).pixels,
        model.encode_images,
    )


def _piped(
    files: tuple[bytes, ...],
    batch: int,
    load: Callable[[bytes], Any],
    encode: Callable[[list[Any]], object],
) -> None:
    """Decode threads ahead of the encoder, with bounded look-ahead, as in indexing."""
    from photocraft_local.embeddings.pipeline import ahead
    from photocraft_local.library.batches import batches

    with ThreadPoolExecutor(cores()) as pool:
        for part in batches(ahead(pool, load, files, cores() + batch), batch):
            encode(list(part))


def _in_threads(
    run: Callable[[Any], object],
    items: Any,
    floor: Callable[[Any], object],
    floor_items: Any,
    threads: int,
    rounds: int,
) -> tuple[float, float]:
    """Seconds for all items and for their floor: of the processor with one thread, of the wall with
    more."""
    if threads == 1:
        return side_by_side(
            lambda: [run(item) for item in items],
            lambda: [floor(item) for item in floor_items],
            rounds,
            time.thread_time,
        )
    with ThreadPoolExecutor(threads) as pool:
        return side_by_side(
            lambda: list(pool.map(run, items)),
            lambda: list(pool.map(floor, floor_items)),
            rounds,
        )


def cores() -> int:
    return len(os.sched_getaffinity(0))


def _threads(number: int) -> str:
    return "one thread" if number == 1 else f"{number} threads"
