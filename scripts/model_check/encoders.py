"""Encoders on a GPU beside the CPU: attention over blocks, Qwen3-VL-Embedding, an ONNX pair.

The times are of one layer at the sizes of the 2B model's vision tower; figures are of this run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from server_check.findings import Report

# Patches of sixteen photos as they come: some 12 MP ones at the published size, older, cut ones.
PHOTOS = (
    7200,
    7200,
    6912,
    7056,
    4800,
    4800,
    3072,
    1728,
    1200,
    7200,
    6480,
    2304,
    960,
    7200,
    512,
    400,
)
FEW = (384, 160, 96, 256)  # on a CPU
HEADS, SIZE = 16, 72
ONNX = "a CLIP in ONNX form: the CPU's vectors"
COSINE = {"cpu": 0.99999, "cuda": 0.999}  # 16 bits beside 32


def check_encoders(report: Report, folder: Path, device: str) -> None:
    """``folder`` is a tiny Qwen3-VL-Embedding."""
    lengths = PHOTOS if device == "cuda" else FEW
    report.part("attention", check_attention, report, device, lengths)
    report.part("Qwen3-VL-Embedding by transformers", check_embedding, report, folder, device)
    report.part(ONNX, check_onnx, report, folder.parent / "clip", device)


def check_attention(report: Report, device: str, lengths: tuple[int, ...]) -> None:
    """Each way that runs, beside the loop in 32 bits; and what padding would cost."""
    import torch

    from photocraft_local.embeddings.qwen import attention

    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    torch.manual_seed(1)
    rows = [torch.randn(sum(lengths), HEADS, SIZE, device=device, dtype=dtype) for _ in range(3)]
    ends = torch.tensor([0, *lengths], device=device).cumsum(0, dtype=torch.int32)
    rest = (ends, max(lengths), SIZE**-0.5, False)
    expected = attention.by_sdpa(*(part.float() for part in rows), *rest)
    for name, attend in attention.WAYS:
        try:
            off = float((attend(*rows, *rest).float() - expected).abs().max())
        except Exception as error:  # noqa: BLE001  # kernels raise anything
            said = str(error).strip() or type(error).__name__
            report.absent(f"attention by {name}", said.splitlines()[0][:200])
            continue
        spent = _median_ms(lambda attend=attend: attend(*rows, *rest), device)
        report.check(f"attention by {name}", off < 0.02, off=off, ms=spent)
    batch = [torch.zeros(len(lengths), HEADS, max(lengths), SIZE, device=device, dtype=dtype)] * 3
    padded = torch.nn.functional.scaled_dot_product_attention
    waste = 1 - sum(lengths) / (len(lengths) * max(lengths))
    spent = _median_ms(lambda: padded(*batch), device)
    report.check("attention of a padded batch, for comparison", True, ms=spent, padding=waste)
    way = attention.choose(device, str(dtype).removeprefix("torch."))
    report.check("a way of attention is chosen", True, way=attention.describe(way))


def check_embedding(report: Report, folder: Path, device: str) -> None:
    from photocraft_local.errors import MissingExtraError

    numbers = np.random.default_rng(2)
    sizes = ((200, 300), (480, 640), (64, 500), (900, 1200), (300, 300))
    photos = [numbers.integers(0, 256, (*size, 3), np.uint8) for size in sizes]
    from photocraft_local.embeddings.qwen.encoder import QwenEncoder

    try:
        here, there = (
            QwenEncoder(folder, engine="transformers", device=one).encode_images(photos)
            for one in ("cpu", device)
        )
    except MissingExtraError as lack:
        report.absent("Qwen3-VL-Embedding by transformers", str(lack))
        return
    least = float((here * there).sum(axis=1).min())
    report.check("Qwen3-VL-Embedding: the CPU's vectors", least > COSINE[device], cosine=least)


def check_onnx(report: Report, folder: Path, device: str) -> None:
    from tiny_checkpoint.dual import write

    from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
    from photocraft_local.errors import EncoderError, MissingExtraError

    photos = [np.random.default_rng(3).integers(0, 256, (90, 120, 3), np.uint8) for _ in range(4)]
    try:
        write(folder, "clip")
        here = OnnxDualEncoder(folder, device="cpu").encode_images(photos)
        there = OnnxDualEncoder(folder, device=device).encode_images(photos)
    except (MissingExtraError, EncoderError) as lack:
        report.absent(ONNX, str(lack))
        return
    least = float((here * there).sum(axis=1).min())
    report.check(ONNX, least > 0.9999, cosine=least)


def _median_ms(work: Callable[[], Any], device: str, times: int = 5) -> float:
    import torch

    spent = []
    for _ in range(times + 1):
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        spent.append(1000 * (time.perf_counter() - start))
    return round(statistics.median(spent[1:]), 3)
