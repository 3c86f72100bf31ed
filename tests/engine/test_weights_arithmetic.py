"""The formulas behind weights.md count what the architectures really hold, tensor by tensor."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FAMILIES = ["qwen2.5-vl", "qwen3-vl", "qwen3-vl-moe", "qwen3-vl-embedding"]


def shape_of(config: dict[str, Any]) -> dict[str, Any]:
    """A published config.json in the words of weights.toml."""
    text, eye = config.get("text_config", config), config["vision_config"]
    experts = {"experts": text["num_experts"]} if text.get("num_experts") else {}
    return {
        "family": config["model_type"],
        "hidden": text["hidden_size"],
        "layers": text["num_hidden_layers"],
        "heads": text["num_attention_heads"],
        "kv_heads": text["num_key_value_heads"],
        "intermediate": text["moe_intermediate_size" if experts else "intermediate_size"],
        "vocabulary": text["vocab_size"],
        "tied": config["tie_word_embeddings"],
        "vision": {
            "depth": eye["depth"],
            "hidden": eye["hidden_size"],
            "intermediate": eye["intermediate_size"],
            "positions": eye.get("num_position_embeddings", 0),
            "deepstack": len(eye.get("deepstack_visual_indexes", [])),
        },
        **experts,
    }


def tensors(folder: Path) -> dict[str, list[int]]:
    """Name → shape, from the files' headers."""
    found: dict[str, list[int]] = {}
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        header.pop("__metadata__", None)
        found |= {name: entry["shape"] for name, entry in header.items()}
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_the_formulas_count_every_number(
    weights_table: ModuleType, checkpoint: Callable[..., Path], family: str
) -> None:
    folder = checkpoint(family)
    shape = shape_of(json.loads((folder / "config.json").read_text("utf-8")))
    there = tensors(folder)
    counted = sum(math.prod(sides) for sides in there.values())
    assert weights_table.parameters(shape, head=32) == counted
    layers = r"layers\.\d+\.(self_attn\.[qkvo]_proj|mlp\.(experts\.)?[a-z_]*proj)(\.weight)?$"
    matrices = [sides for name, sides in there.items() if re.search(layers, name)]
    assert weights_table.linears(shape, head=32) == sum(math.prod(sides) for sides in matrices)


@pytest.mark.parametrize("family", FAMILIES)
def test_keys_and_values_follow_the_config(
    weights_table: ModuleType, checkpoint: Callable[..., Path], family: str
) -> None:
    folder = checkpoint(family)
    shape = shape_of(json.loads((folder / "config.json").read_text("utf-8")))
    rows = [sides[0] for name, sides in tensors(folder).items() if ".k_proj.weight" in name]
    per_token = 2 * 2 * sum(rows)  # keys and values, two bytes each
    assert weights_table.keys_and_values(shape, 1000) * 32 == per_token * 1000 * weights_table.HEAD
