"""The families of backbones that are served, and the published models of each.

Facts only: how a family cuts pictures into tokens, and which row of weights.md a folder is,
told by the sizes in its config.json. Reads no file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """``factor``: side in pixels of the square that becomes one token. ``published``: (hidden
    size, layers) → name of the row, smallest first."""

    name: str
    factor: int
    published: dict[tuple[int, int], str]


FAMILIES: dict[str, Family] = {
    "qwen2_5_vl": Family(
        "Qwen2.5-VL",
        28,
        {
            (2048, 36): "Qwen2.5-VL-3B-Instruct",
            (3584, 28): "Qwen2.5-VL-7B-Instruct",
            (5120, 64): "Qwen2.5-VL-32B-Instruct",
            (8192, 80): "Qwen2.5-VL-72B-Instruct",
        },
    ),
    "qwen3_vl": Family(
        "Qwen3-VL",
        32,
        {
            (2048, 28): "Qwen3-VL-2B-Instruct",
            (2560, 36): "Qwen3-VL-4B-Instruct",
            (4096, 36): "Qwen3-VL-8B-Instruct",
            (5120, 64): "Qwen3-VL-32B-Instruct",
        },
    ),
    "qwen3_vl_moe": Family(
        "Qwen3-VL",
        32,
        {
            (2048, 48): "Qwen3-VL-30B-A3B-Instruct",
            (4096, 94): "Qwen3-VL-235B-A22B-Instruct",
        },
    ),
}
KNOWN = "Qwen2.5-VL (qwen2_5_vl) and Qwen3-VL (qwen3_vl, qwen3_vl_moe)"


def row_of(model_type: str, hidden_size: int, layers: int, folder: str) -> str:
    """The row of weights.md; the variant (Thinking, FP8 …) by the folder's own name if it says."""
    row = FAMILIES[model_type].published.get((hidden_size, layers), "")
    stem = row.removesuffix("Instruct")
    return folder if row and folder.startswith(stem) else row


def smaller_rows(model_type: str, hidden_size: int, layers: int) -> list[str]:
    """Published models of the family that need less memory, largest first."""
    if model_type == "qwen3_vl_moe":
        dense = list(FAMILIES["qwen3_vl"].published.values())
        return dense[::-1] if (hidden_size, layers) != (2048, 48) else dense[-2::-1]
    smaller = []
    for size, row in FAMILIES[model_type].published.items():
        if size == (hidden_size, layers):
            break
        smaller.append(row)
    return smaller[::-1]
