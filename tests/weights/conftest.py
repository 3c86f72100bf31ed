"""The command, run in this process, and a folder of two shards with their index."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from checkpoints import Done, Run, safetensors

from photocraft_local.cli.main import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def one(*words: str | Path) -> Done:
        code = main([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two shards with their index, as published checkpoints have them."""
    root = tmp_path / "Qwen3-VL-0B"
    root.mkdir()
    numbers = np.arange(2000, dtype=np.float32)
    safetensors(root / "model-00001-of-00002.safetensors", a=numbers, b=numbers[:10])
    safetensors(root / "model-00002-of-00002.safetensors", c=numbers[::-1])
    parts = {"a": 1, "b": 1, "c": 2}
    index = {name: f"model-0000{part}-of-00002.safetensors" for name, part in parts.items()}
    (root / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    (root / "config.json").write_text('{"model_type": "qwen3_vl"}')
    (root / "README.md").write_text("# a model")
    (root / ".cache").mkdir()
    (root / ".cache" / "lock").write_text("of a download tool")
    return root
