"""Folders of weights: whole ones of the known families are taken, each fault is one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server_parts import GIB, QWEN3_8B, TINY, safetensors, weights, write_json

from photocraft_local.errors import ModelError
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.families import FAMILIES, smaller_rows

INDEX = "model.safetensors.index.json"
SECOND = "model-00002-of-00003.safetensors"


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.parametrize("files", [1, 3])
def test_whole_folders_are_taken(tmp_path: Path, model_type: str, files: int) -> None:
    found = Checkpoint.read(weights(tmp_path / "w", model_type, files=files))
    assert found.model_type == model_type
    assert (found.layers, found.hidden_size, found.kv_heads, found.head_dim) == (2, 128, 2, 32)
    assert found.weight_bytes == pytest.approx(4 << 20, abs=100)
    assert found.vision_bytes == pytest.approx((4 << 20) / 20, abs=10)
    assert found.wide_bytes == pytest.approx((4 << 20) * 0.85, abs=100)
    assert (found.dtype, found.quantization, found.row) == ("bfloat16", "", "")
    area = FAMILIES[model_type].factor ** 2
    assert (found.min_pixels, found.max_pixels) == (64 * area, 16384 * area)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("models", "Qwen3-VL-8B-Instruct"),
        ("Qwen3-VL-8B-Thinking", "Qwen3-VL-8B-Thinking"),
        ("Qwen3-VL-8B-Instruct-FP8", "Qwen3-VL-8B-Instruct-FP8"),
    ],
)
def test_a_published_model_is_known_by_its_sizes(tmp_path: Path, name: str, row: str) -> None:
    assert Checkpoint.read(weights(tmp_path / name, sizes=QWEN3_8B)).row == row


def test_every_published_row_stands_in_weights_md(root: Path) -> None:
    text = (root / "weights.md").read_text("utf-8")
    rows = [row for family in FAMILIES.values() for row in family.published.values()]
    assert [row for row in rows if row not in text] == []


def test_smaller_models_are_proposed_largest_first() -> None:
    assert smaller_rows("qwen3_vl", 4096, 36) == ["Qwen3-VL-4B-Instruct", "Qwen3-VL-2B-Instruct"]
    assert smaller_rows("qwen3_vl", 2048, 28) == []
    assert "Qwen3-VL-32B-Instruct" not in smaller_rows("qwen3_vl_moe", 2048, 48)


def cut(folder: Path, name: str, by: int) -> None:
    with (folder / name).open("r+b") as file:
        file.truncate((folder / name).stat().st_size - by)


def change(folder: Path, name: str, **values: Any) -> None:
    path = folder / name
    write_json(path, json.loads(path.read_text("utf-8")) | values)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda f: (f / "config.json").unlink(), r"config\.json is missing"),
    "config is no JSON": (lambda f: (f / "config.json").write_text("{"), "cannot be read"),
    "config is binary": (lambda f: (f / "config.json").write_bytes(b"\xff\xfe"), "cannot be read"),
    "config is deep": (lambda f: (f / "config.json").write_text("[" * 99999), "cannot be read"),
    "config is a list": (lambda f: (f / "config.json").write_text("[]"), "not a JSON object"),
    "other family": (lambda f: change(f, "config.json", model_type="llama"), "type 'llama'"),
    "older family": (lambda f: change(f, "config.json", model_type="qwen2_vl"), "'qwen2_vl'"),
    "no family": (lambda f: change(f, "config.json", model_type=[1]), "no known backbone"),
    "bad size": (
        lambda f: change(f, "config.json", text_config=TINY | {"hidden_size": "big"}),
        "hidden_size is 'big'",
    ),
    "no sizes": (lambda f: change(f, "config.json", text_config=None), "text_config"),
    "an embedder": (lambda f: write_json(f / "modules.json", []), "embedding model"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), r"tokenizer\.json is missing"),
    "no processor": (lambda f: (f / "preprocessor_config.json").unlink(), "is missing"),
    "bad pixels": (
        lambda f: change(f, "preprocessor_config.json", max_pixels="all"),
        "max_pixels is 'all'",
    ),
    "no index": (lambda f: (f / INDEX).unlink(), f"neither model.safetensors nor {INDEX}"),
    "index is empty": (lambda f: write_json(f / INDEX, {}), "names no tensors"),
    "index points out": (
        lambda f: write_json(f / INDEX, {"weight_map": {"a": "../../etc/passwd"}}),
        "outside of the folder: '../../etc/passwd'",
    ),
    "missing file": (lambda f: (f / SECOND).unlink(), f"{SECOND} is missing"),
    "truncated by one byte": (lambda f: cut(f, SECOND, 1), f"{SECOND} is truncated: .* bytes of"),
    "truncated header": (
        lambda f: cut(f, SECOND, (f / SECOND).stat().st_size - 20),
        "is truncated: 20 bytes",
    ),
    "empty file": (lambda f: (f / SECOND).write_bytes(b""), "is truncated: 0 bytes of at least 8"),
    "too long": (lambda f: cut(f, SECOND, -7), "its header states"),
    "a pointer": (
        lambda f: (f / SECOND).write_text("version https://git-lfs.github.com/spec/v1\n"),
        "Git LFS pointer",
    ),
    "a web page": (lambda f: (f / SECOND).write_text("<html>" * 99), "is no safetensors file"),
    "of another revision": (
        lambda f: safetensors(f / SECOND, {"other": ("BF16", [1], 2)}),
        "lacks 4 of its tensors",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_line_with_file_and_way_out(tmp_path: Path, fault: str) -> None:
    folder = weights(tmp_path / "Qwen3-VL-8B-Instruct", sizes=QWEN3_8B, files=3)
    Checkpoint.read(folder)
    spoil, said = FAULTS[fault]
    spoil(folder)
    with pytest.raises(ModelError, match=said) as info:
        Checkpoint.read(folder)
    assert str(folder) in info.value.message
    assert "\n" not in info.value.message + info.value.hint
    assert info.value.hint


@pytest.mark.parametrize("fault", ["missing file", "truncated by one byte", "no tokenizer"])
def test_a_fault_of_a_published_model_names_its_row(tmp_path: Path, fault: str) -> None:
    folder = weights(tmp_path / "m", sizes=QWEN3_8B, files=3)
    FAULTS[fault][0](folder)
    with pytest.raises(ModelError) as info:
        Checkpoint.read(folder)
    assert "weights.md, row Qwen3-VL-8B-Instruct" in info.value.hint


def test_no_folder_and_other_formats(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        Checkpoint.read(tmp_path / "gone")
    folder = weights(tmp_path / "w")
    with pytest.raises(ModelError, match="is a file"):
        Checkpoint.read(folder / "config.json")
    (folder / "model.safetensors").rename(folder / "model-q4.gguf")
    with pytest.raises(ModelError, match=r"model-q4\.gguf is in another format"):
        Checkpoint.read(folder)


def test_sixteen_gigabytes_are_checked_without_reading_them(tmp_path: Path) -> None:
    folder = weights(tmp_path / "w", sizes=QWEN3_8B, size=16 * GIB, files=4)
    assert Checkpoint.read(folder).weight_bytes == pytest.approx(16 * GIB, abs=100)
