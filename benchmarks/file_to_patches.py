"""Claim: 12-megapixel JPEG file → 1024x768 patch rows, ≥ 3 × Pillow draft + the torchvision
backend, ≥ 2.5 × qwen_vl_utils.fetch_image + the processor, at ≥ 50 dB.

Peers in the same run, CPU time, one thread, one photo after another. ``draft`` lets libjpeg scale
to at least twice the size that the model sees; it knows halves alone, so here it decodes whole,
while ours takes 4/8, which is nearly twice. The same peer at our scale stands beside it. The scale
at which each decoded is printed. The PSNR is against the full decode through the PIL backend.
Beside them libjpeg-turbo's 1/8 scale, which is little but its Huffman decoding.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import arguments, finish, interleaved, machine, ratio, table
from _patch_peers import LAYOUT, TOKEN, VALUES, processor, psnr, require_peers
from decode import HEIGHT, WIDTH, ceiling, make_photos
from PIL import Image

from photocraft_local.files import scaled_jpeg
from photocraft_local.files.decode import decode_upright
from photocraft_local.imaging import resampling
from photocraft_local.imaging.geometry import smart_resize
from photocraft_local.imaging.photo_patches import photo_patches

SIZE = (1024, 768)
DRAFT = "Pillow draft + HF torchvision"
SAME_SCALE = "the same at our scale"


def rows(found: Any) -> Any:
    return found["pixel_values"].numpy()


def main() -> None:
    quick = arguments(__doc__).quick
    require_peers("qwen_vl_utils")
    from qwen_vl_utils import fetch_image

    most = SIZE[0] * SIZE[1]

    def seen(width: int, height: int) -> tuple[int, int]:
        tall, wide = smart_resize(height, width, LAYOUT.factor, 4 * TOKEN, most)
        return wide, tall

    fast = processor(most, backend="torchvision")
    slow = processor(most, backend="pil")

    def full(path: bytes) -> Any:
        with Image.open(os.fsdecode(path)) as image:
            return slow(images=[image.convert("RGB")], return_tensors="pt")

    def drafted(name: str, times: int) -> Callable[[bytes], Any]:
        def draft(path: bytes) -> Any:
            with Image.open(os.fsdecode(path)) as image:
                image.draft("RGB", (times * SIZE[0], times * SIZE[1]))
                scales[name] = image.width / WIDTH
                return fast(images=[image.convert("RGB")], return_tensors="pt")

        return draft

    def fetched(path: bytes) -> Any:
        asked = {"image": f"file://{os.fsdecode(path)}", "max_pixels": most}
        image = fetch_image(asked, image_patch_size=LAYOUT.patch)
        return fast(images=[image], return_tensors="pt", do_resize=False)

    def ours(path: bytes) -> Any:
        return photo_patches(path, LAYOUT, VALUES, seen)[0]

    scales = {"fetch_image + HF torchvision": 1.0}
    methods: dict[str, Callable[[bytes], Any]] = {
        DRAFT: drafted(DRAFT, 2),
        SAME_SCALE: drafted(SAME_SCALE, 1),
        "fetch_image + HF torchvision": fetched,
        "photo_patches": ours,
        "libjpeg-turbo: 1/8 grey": ceiling,
    }

    def all_of(make: Callable[[bytes], Any]) -> Callable[[], None]:
        def run() -> None:
            for path in paths:
                make(path)

        return run

    with tempfile.TemporaryDirectory() as folder:
        paths = make_photos(Path(folder), 2 if quick else 8)
        part = decode_upright(paths[0], short_side=SIZE[1], exact=False)
        scales["photo_patches"] = part.pixels.shape[1] / part.width
        quality = []
        for path in paths:
            wanted, made = full(path), ours(path)
            assert (wanted["image_grid_thw"].numpy() == made.grids).all()
            quality.append(psnr(made.rows, rows(wanted)))
        timings = interleaved(
            {name: all_of(make) for name, make in methods.items()}, rounds=5 if quick else 9
        )
    path, decoder = resampling.chosen(), scaled_jpeg.chosen()
    print(machine(["transformers", "torch", "torchvision", "pillow", "simplejpeg"]))
    print(f"decoder: {decoder.name}, {decoder.reason}")
    print(f"path: {path.name}, {path.reason}")
    print(f"{WIDTH}x{HEIGHT} → {SIZE[0]}x{SIZE[1]}, {len(paths)} photos")
    table(
        [
            (name, f"{timing.median / len(paths) * 1000:.1f}", f"{timing.spread:.0%}",
             f"{ratio(timings, name, 'photo_patches'):.2f}",
             f"{scales[name] * 8:.0f}/8" if name in scales else "1/8")
            for name, timing in timings.items()
        ],
        ("method", "CPU ms a photo", "spread", "× ours", "decoded at"),
    )  # fmt: skip
    print(f"PSNR to the full decode: {statistics.median(quality):.1f} dB, worst {min(quality):.1f}")
    finish(
        {
            "vs_draft_hf": round(ratio(timings, DRAFT, "photo_patches"), 2),
            "vs_draft_hf_at_our_scale": round(ratio(timings, SAME_SCALE, "photo_patches"), 2),
            "vs_qwen_vl_utils": round(
                ratio(timings, "fetch_image + HF torchvision", "photo_patches"), 2
            ),
            "psnr_db": round(min(quality), 1),
            "path": path.name,
            "decoder": decoder.name,
        }
    )


if __name__ == "__main__":
    main()
