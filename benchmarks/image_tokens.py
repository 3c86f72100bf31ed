"""Claim: the tokens of a picture, by our formula, are those that the engine counts, at any size.

For each size two counts are held against the formula: what the real vLLM puts into the prompt for
the picture as we send it, which it must take unscaled, and what the family's own processor makes
of the picture as it is. The second leaves out strips: of a side below half a token the family's
rule loses sight and it grows the other one, and beyond 200:1, also by its own rounding, it makes
what it refuses itself; ours are padded or shortened there. Sizes: ordinary ones, single pixels,
strips, and both sides of rounding edges.
"""

from __future__ import annotations

import io
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _common import arguments, finish, machine, table
from _engine import checkpoints, engine_chat, require_engine
from PIL import Image

NUM_RANDOM, NUM_RANDOM_QUICK = 400, 120
AT_ONCE = 16  # pictures of one batch
EDGES = (1, 13, 14, 15, 27, 28, 29, 41, 42, 43, 48, 56, 80, 112, 224, 256, 448, 672, 1000, 1500)


@dataclass
class Row:
    family: str
    sizes: int = 0
    by_processor: int = 0
    mismatches: list[str] = field(default_factory=list)
    seconds: float = 0.0


def all_sizes(num_random: int) -> list[tuple[int, int]]:
    """(width, height), each once."""
    edges = [(one, other) for one in EDGES[::2] for other in EDGES[1::2]]
    strips = [(1, 1), (1, 200), (1, 201), (6000, 3), (3, 6000), (5600, 28), (30, 6000), (4000, 20)]
    dice = random.Random(7)
    drawn = [(dice.randint(1, 2400), dice.randint(1, 2400)) for _ in range(num_random)]
    return list(dict.fromkeys([*edges, *strips, *drawn]))


def pictures(sizes: list[tuple[int, int]]) -> list[Image.Image]:
    return [Image.new("RGB", size, (n % 251, 90, 160)) for n, size in enumerate(sizes)]


def url_of(picture: Image.Image) -> str:
    import base64

    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def is_strip(size: tuple[int, int], factor: int) -> bool:
    tokens = [round(side / factor) for side in size]
    return min(tokens) == 0 or max(tokens) > 200 * min(tokens)


def check_processor(row: Row, folder: Path, rule: Any, sizes: list[tuple[int, int]]) -> None:
    import transformers
    from transformers import AutoImageProcessor

    transformers.logging.set_verbosity_error()
    processor = AutoImageProcessor.from_pretrained(folder)
    for size, picture in zip(sizes, pictures(sizes), strict=True):
        if is_strip(size, rule.factor):
            continue
        made = processor(images=[picture], return_tensors="pt")
        _, height, width = made["image_grid_thw"][0].tolist()
        row.by_processor += 1
        if height * width // 4 != rule.tokens(*size):
            row.mismatches.append(f"processor {size}: {height * width // 4}")


def check_engine(row: Row, chat: Any, rule: Any, sizes: list[tuple[int, int]]) -> None:
    from photocraft_local.serving.pictures import PictureStore
    from photocraft_local.serving.qwen.completion import ChatRequest
    from photocraft_local.serving.tokens import PICTURE_MARKS

    def prompt_tokens(contents: list[Any]) -> list[int]:
        asked = [ChatRequest([{"role": "user", "content": one}], max_tokens=1) for one in contents]
        return [reply.usage.prompt for reply in chat.batch(asked)]

    words = [{"type": "text", "text": "what?"}]
    (without,) = prompt_tokens([words])
    store = PictureStore(rule)
    for at in range(0, len(sizes), AT_ONCE):
        part = sizes[at : at + AT_ONCE]
        ready = [store.prepared(url_of(picture)) for picture in pictures(part)]
        sent = [
            [{"type": "image_url", "image_url": {"url": one.url}, "uuid": one.uuid}, *words]
            for one in ready
        ]
        for size, one, count in zip(part, ready, prompt_tokens(sent), strict=True):
            counted = count - without - PICTURE_MARKS
            drawn = one.width * one.height // rule.factor**2
            if not counted == one.tokens == rule.tokens(*size) == drawn:
                row.mismatches.append(f"engine {size}: {counted}, sent {one.width}x{one.height}")


def main() -> int:
    quick = arguments(__doc__.split("\n", 1)[0]).quick
    require_engine()
    from photocraft_local.serving.tokens import PictureRule

    sizes = all_sizes(NUM_RANDOM_QUICK if quick else NUM_RANDOM)
    rows = []
    with checkpoints() as folders:
        for family, folder in folders.items():
            row = Row(family, len(sizes))
            rule = PictureRule.of_folder(folder)
            start = time.perf_counter()
            check_processor(row, folder, rule, sizes)
            check_engine(row, engine_chat(folder), rule, sizes)
            row.seconds = time.perf_counter() - start
            rows.append(row)
    print(machine(["transformers"]))
    for row in rows:
        for line in row.mismatches[:20]:
            print(f"{row.family}: {line}")
    table(
        [(r.family, r.sizes, r.by_processor, len(r.mismatches), f"{r.seconds:.1f}") for r in rows],
        ["family", "sizes", "of them by the processor too", "mismatches", "seconds"],
    )
    mismatches = sum(len(row.mismatches) for row in rows)
    finish(
        {
            "sizes": sum(row.sizes for row in rows),
            "mismatches": mismatches,
            "families": {row.family: row.sizes for row in rows},
        }
    )
    return 0 if mismatches == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
