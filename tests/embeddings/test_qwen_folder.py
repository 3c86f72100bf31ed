"""Placed Qwen3-VL-Embedding folders: recognised, checked and named without any engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from photocraft_local.embeddings.qwen.encoder import QwenEncoder, choose_engine
from photocraft_local.embeddings.qwen.folder import QwenFolder
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.errors import EncoderError, MissingExtraError
from photocraft_local.settings import Settings

HIDDEN = 128
TEXT = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 448,
    "max_position_embeddings": 4096,
}


def placed(folder: Path, template: str = "Represent the user's input.") -> Path:
    """A whole folder in the published layout; its weights are one tensor."""
    folder.mkdir(parents=True)
    files: dict[str, Any] = {
        "config.json": {"model_type": "qwen3_vl", "text_config": TEXT},
        "tokenizer.json": {},
        "tokenizer_config.json": {"chat_template": template},
        "preprocessor_config.json": {
            "patch_size": 16,
            "merge_size": 2,
            "size": {"shortest_edge": 65536, "longest_edge": 16777216},
        },
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value))
    header = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    whole = len(text).to_bytes(8, "little") + text + np.ones(2, np.float32).tobytes()
    (folder / "model.safetensors").write_bytes(whole)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return placed(tmp_path / "Qwen3-VL-Embedding-2B")


def test_the_registry_knows_the_folder_and_its_settings(folder: Path) -> None:
    settings = Settings(encoder=str(folder))
    spec = make_encoder(settings).spec
    assert spec.encoder_id == "qwen3-vl-embedding-2b"
    assert spec.dim == HIDDEN
    assert spec.decode_side == 1357  # the published 1,843,200 pixels as a square
    fewer = make_encoder(replace(settings, encoder_dim=64, encoder_pixels=640_000)).spec
    assert (fewer.dim, fewer.decode_side) == (64, 800)
    assert fewer.space_id != spec.space_id


def test_the_instruction_of_queries_and_the_engine_are_no_other_space(folder: Path) -> None:
    first = QwenEncoder(folder).spec
    assert QwenEncoder(folder, instruction="Find the photo.").spec == first
    assert QwenEncoder(folder, engine="transformers").spec == first


def test_other_weights_are_another_space(folder: Path) -> None:
    before = QwenEncoder(folder).spec.space_id
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + np.float32(2).tobytes())
    assert QwenEncoder(folder).spec.space_id != before


@pytest.mark.parametrize(
    "lost", ["tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"]
)
def test_a_missing_file_is_named(folder: Path, lost: str) -> None:
    (folder / lost).unlink()
    with pytest.raises(EncoderError, match=lost) as caught:
        QwenEncoder(folder)
    assert "weights.md" in caught.value.hint


def test_missing_or_cut_weights_are_named(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(EncoderError, match=r"model\.safetensors"):
        QwenEncoder(folder)
    path.unlink()
    with pytest.raises(EncoderError, match=r"model\.safetensors"):
        QwenEncoder(folder)


def test_a_model_that_chats_is_no_encoder(tmp_path: Path) -> None:
    chats = placed(tmp_path / "Qwen3-VL-2B-Instruct", template="{{ messages }}")
    with pytest.raises(EncoderError, match="chats") as caught:
        QwenFolder.read(chats)
    assert "setting weights" in caught.value.hint
    (chats / "modules.json").write_text("[]")
    assert QwenFolder.read(chats).dim == HIDDEN


@pytest.mark.parametrize("dim", [1, 63, 129, 4096])
def test_a_dimension_that_the_model_has_not_is_refused(folder: Path, dim: int) -> None:
    with pytest.raises(EncoderError, match=f"encoder_dim is {dim}.* have 128") as caught:
        QwenEncoder(folder, dim=dim)
    assert "from 64 to 128" in caught.value.hint


def test_the_engine_follows_the_settings_and_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    from photocraft_local.embeddings.qwen import encoder

    assert choose_engine("transformers", "auto")[0] == "transformers"
    assert choose_engine("auto", "cpu")[0] == "transformers"
    monkeypatch.setattr(encoder, "find_spec", lambda name: None)
    engine, why = choose_engine("auto", "auto")
    assert (engine, "vLLM is not installed" in why) == ("transformers", True)
    with pytest.raises(MissingExtraError) as missing:
        choose_engine("vllm", "auto")
    assert missing.value.extra == "gpu"


def test_what_is_not_installed_is_named_with_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from photocraft_local.serving.transformers import libraries

    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    encoder = QwenEncoder(folder, engine="transformers")
    with pytest.raises(MissingExtraError) as missing:
        encoder.encode_text("dogs")
    assert missing.value.extra == "transformers"


def test_rows_without_a_direction_become_nan(folder: Path) -> None:
    states = np.ones((3, HIDDEN), np.float32)
    states[1], states[2, 5] = 0, np.inf
    units = QwenEncoder(folder, dim=100)._units(states)
    assert units.shape == (3, 100)
    np.testing.assert_allclose(np.linalg.norm(units[0]), 1, atol=1e-6)
    assert np.isnan(units[1:]).all()
