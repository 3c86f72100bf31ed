"""What tests of the server are made with: weights, a ``vllm`` and ``nvidia-smi`` to find.

The weights are sparse files: a folder of 16 GB takes some kB of disk.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FAKE = Path(__file__).with_name("fake_vllm.py")
GIB = 1 << 30
TOKEN_AREA = {"qwen2_5_vl": 28**2, "qwen3_vl": 32**2, "qwen3_vl_moe": 32**2}
QWEN3_8B = {
    "hidden_size": 4096,
    "num_hidden_layers": 36,
    "intermediate_size": 12288,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 262144,
}
TINY = QWEN3_8B | {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 448,
}


def safetensors(path: Path, tensors: dict[str, tuple[str, list[int], int]]) -> None:
    """``tensors``: name → number type, shape, bytes. Zeros, of which none takes room on disk."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (kind, shape, size) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)


def language(size: int, files: int = 1) -> list[dict[str, tuple[str, list[int], int]]]:
    """A model of about ``size`` bytes in 16 bits: 5 % vision, 10 % embedding, the rest matrices."""
    parts = {
        "model.visual.blocks.0.attn.qkv.weight": size // 20,
        "model.language_model.embed_tokens.weight": size // 10,
    }
    rest = size - sum(parts.values())
    for layer in range(10):
        parts[f"model.language_model.layers.{layer}.mlp.up_proj.weight"] = rest // 10
    tensors = {name: ("BF16", [2, n // 4], n // 4 * 4) for name, n in parts.items()}
    names = list(tensors)
    return [{name: tensors[name] for name in names[k::files]} for k in range(files)]


def weights(
    folder: Path,
    model_type: str = "qwen3_vl",
    sizes: dict[str, int] = TINY,
    size: int = 4 << 20,
    files: int = 1,
    **more: Any,
) -> Path:
    """A whole folder in the layout of the family."""
    folder.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = {"model_type": model_type, "torch_dtype": "bfloat16"} | more
    config |= sizes if model_type == "qwen2_5_vl" else {"text_config": sizes}
    write_json(folder / "config.json", config)
    write_json(folder / "tokenizer.json", {})
    write_json(folder / "tokenizer_config.json", {"chat_template": "{{ messages }}"})
    area = TOKEN_AREA[model_type]
    limits = {"shortest_edge": 64 * area, "longest_edge": 16384 * area}
    write_json(folder / "preprocessor_config.json", {"size": limits})
    shards = language(size, files)
    names = [f"model-{k + 1:05}-of-{files:05}.safetensors" for k in range(files)]
    if files == 1:
        safetensors(folder / "model.safetensors", shards[0])
        return folder
    for name, shard in zip(names, shards, strict=True):
        safetensors(folder / name, shard)
    where = {tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard}
    write_json(folder / "model.safetensors.index.json", {"weight_map": where})
    return folder


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), "utf-8")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def install_vllm(home: Path, version: str = "0.32.0+cpu") -> Path:
    """An environment whose ``vllm`` is the fake one; gives the folder for PATH."""
    script(home / "bin/vllm", f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    info = home / f"lib/python3.11/site-packages/vllm-{version}.dist-info"
    info.mkdir(parents=True)
    return home / "bin"


def install_smi(home: Path, gpus: str, code: int = 0, processes: str = "") -> Path:
    """An ``nvidia-smi`` that prints ``gpus`` to a query of GPUs; gives the folder for PATH."""
    script(
        home / "bin/nvidia-smi",
        "#!/bin/sh\n"
        'case "$1" in *compute-apps*) cat <<"END"\n' + processes + "\nEND\nexit 0;; esac\n"
        'cat <<"END"\n' + gpus + f"\nEND\nexit {code}\n",
    )
    return home / "bin"
