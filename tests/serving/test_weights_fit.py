"""The least GPU memory that weights.md states is enough by the server's own arithmetic."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from photocraft_local.app.weights import WeightsRow, rows
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.families import FAMILIES, row_of
from photocraft_local.serving.vllm.memory import GIB, Device, best_fit

PLACED = [row for row in rows() if row.role == "backbone"]


@pytest.fixture(scope="module")
def shapes(weights_table: ModuleType) -> dict[str, dict[str, object]]:
    twin = tomllib.loads(weights_table.TWIN.read_text("utf-8"))
    return {model["id"]: twin["shape"][model["shape"]] for model in twin["model"]}


def checkpoint(row: WeightsRow, shape: dict[str, object], vision_bytes: int) -> Checkpoint:
    """The folder of a row as ``Checkpoint.read`` would see it, without the gigabytes."""
    sizes = {name: int(str(shape[name])) for name in ("layers", "heads", "kv_heads")}
    return Checkpoint(
        folder=Path(row.id),
        model_type=row.family,
        row=row.id,
        weight_bytes=row.bytes,
        vision_bytes=vision_bytes,
        wide_bytes=0,
        dtype="bfloat16",
        quantization={"bfloat16": "", "fp8": "fp8", "awq-int4": "awq"}[row.dtype],
        hidden_size=int(str(shape["hidden"])),
        intermediate_size=int(str(shape["intermediate"])),
        head_dim=128,
        vocabulary=int(str(shape["vocabulary"])),
        longest_window=128_000,
        min_pixels=1,
        max_pixels=1,
        **sizes,
    )


@pytest.mark.parametrize("row", PLACED, ids=lambda row: row.id.split("/")[1])
def test_a_gpu_of_the_stated_memory_holds_the_stated_window(
    row: WeightsRow, weights_table: ModuleType, shapes: dict[str, dict[str, object]]
) -> None:
    shape = shapes[row.id]
    placed = checkpoint(row, shape, 2 * weights_table.vision(shape))
    free = row.gpu_gib * GIB
    fit = best_fit(placed, Device("cuda", 1, free, free, (8, 0)))
    assert fit
    assert fit.window >= 32_768
    less = row.bytes  # what holds the weights and nothing else is not enough
    assert best_fit(placed, Device("cuda", 1, less, less, (8, 0))) is None


def test_every_row_that_a_server_can_name_stands_on_the_page(
    shapes: dict[str, dict[str, object]],
) -> None:
    for family, facts in FAMILIES.items():
        for size, name in facts.published.items():
            shape = shapes[f"Qwen/{name}"]
            assert (shape["family"], shape["hidden"], shape["layers"]) == (family, *size)
    named = {row_of(row.family, *_size(shapes[row.id]), row.id.split("/")[1]) for row in PLACED}
    assert {f"Qwen/{name}" for name in named} == {row.id for row in PLACED}


def _size(shape: dict[str, object]) -> tuple[int, int]:
    return int(str(shape["hidden"])), int(str(shape["layers"]))
