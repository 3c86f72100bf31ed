"""Crop, antialiased resize, normalise, lay out: in plain torch, fp32, one crop at a time.

What the kernel of the same stem is compared with. Weights are Pillow's: the filter is widened by
the ratio when it shrinks, and normalised over the pixels that exist. Nothing is rounded between.
"""

from __future__ import annotations

import torch

SUPPORT = {"bilinear": 1.0, "bicubic": 2.0}


def crop_resize_reference(
    pictures: list[torch.Tensor],
    boxes: list[tuple[int, int, int, int, int]],
    sizes: list[tuple[int, int]],
    mean: tuple[float, float, float],
    std: tuple[float, float, float],
    *,
    filter: str = "bicubic",
) -> list[torch.Tensor]:
    """(3, height, width) fp32 a crop, each byte as (byte / 255 - mean) / std.

    ``boxes`` are (picture, left, top, right, bottom), ``sizes`` (height, width); ``pictures`` uint8
    (height, width, 3). Values leave 0…255 where the filter overshoots, and are cut off there.
    """
    made = []
    for (index, left, top, right, bottom), (height, width) in zip(boxes, sizes, strict=True):
        cut = pictures[index][top:bottom, left:right].to(torch.float32)
        down = axis_weights(bottom - top, height, filter).to(cut.device)
        across = axis_weights(right - left, width, filter).to(cut.device)
        resized = torch.einsum("yh,hwc,xw->cyx", down, cut, across).clamp(0, 255)
        shift = torch.tensor(mean, device=cut.device)[:, None, None]
        scale = torch.tensor(std, device=cut.device)[:, None, None]
        made.append((resized / 255 - shift) / scale)
    return made


def axis_weights(before: int, after: int, filter: str) -> torch.Tensor:
    """(after, before) fp32, rows that sum to 1."""
    scale = before / after
    widened = max(scale, 1.0)
    support = SUPPORT[filter] * widened
    centres = (torch.arange(after, dtype=torch.float64) + 0.5) * scale
    first = (centres - support + 0.5).long().clamp(min=0)
    last = (centres + support + 0.5).long().clamp(max=before)
    taps = torch.arange(before)
    x = ((taps + 0.5) - centres[:, None]).abs() / widened
    if filter == "bilinear":
        values = (1 - x).clamp(min=0)
    else:
        near = (1.5 * x - 2.5) * x * x + 1
        far = ((-0.5 * x + 2.5) * x - 4) * x + 2
        values = torch.where(x < 1, near, torch.where(x < 2, far, torch.zeros_like(x)))
    values = values * ((taps >= first[:, None]) & (taps < last[:, None]))
    return (values / values.sum(1, keepdim=True)).float()


def patch_rows_reference(
    planes: torch.Tensor, patch: int, merge: int = 2, copies: int = 2
) -> torch.Tensor:
    """(3, height, width) → (patches, 3 * copies * patch * patch) in the order of Qwen-VL."""
    _, height, width = planes.shape
    down, across = height // (patch * merge), width // (patch * merge)
    blocks = planes.reshape(3, down, merge, patch, across, merge, patch)
    ordered = blocks.permute(1, 4, 2, 5, 0, 3, 6)
    rows = ordered.unsqueeze(5).expand(-1, -1, -1, -1, -1, copies, -1, -1)
    return rows.reshape(down * across * merge * merge, -1)
