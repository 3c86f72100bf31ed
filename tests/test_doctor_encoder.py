"""What the doctor says of a placed encoder: it opens the engine, and names what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from photocraft_local.app.doctor import Finding, examine
from photocraft_local.serving.transformers import libraries
from photocraft_local.settings import Settings

sys.path.append(str(Path(__file__).resolve().parent / "embeddings"))
from test_onnx_dual import clip_folder
from test_qwen_folder import placed


def said(tmp_path: Path, folder: Path, **settings: str) -> dict[str, Finding]:
    found = examine(
        Settings(library=tmp_path / "l", cache=tmp_path, encoder=str(folder), **settings)  # type: ignore[arg-type]
    )
    return {finding.name: finding for finding in found if "encoder" in finding.name}


def test_an_onnx_folder_runs_on_the_cpu_and_cuda_is_a_fault(tmp_path: Path) -> None:
    folder = clip_folder(tmp_path / "pair")
    found = said(tmp_path, folder)
    assert "ONNX dual encoder" in found["encoder"].detail
    assert found["encoder runs on"].detail.startswith("the CPU; this onnxruntime knows")
    assert "nothing of them ran on a GPU" in found["encoder not proven"].detail
    found = said(tmp_path, folder, encoder_device="cuda")
    assert found["encoder"].state == "fault"
    assert "built for the CPU" in found["encoder"].detail


def test_a_qwen_folder_without_its_engine_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    found = said(tmp_path, placed(tmp_path / "Qwen3-VL-Embedding-2B"), encoder_device="cpu")
    assert found["encoder"].state == "fault"
    assert "Qwen3-VL-Embedding needs the Python module 'torch'" in found["encoder"].detail
    assert "photocraft-local[transformers]" in found["encoder"].hint


def test_a_folder_that_lacks_a_file_is_a_fault(tmp_path: Path) -> None:
    folder = clip_folder(tmp_path / "pair")
    (folder / "tokenizer.json").unlink()
    assert "lacks tokenizer.json" in said(tmp_path, folder)["encoder"].detail


def test_the_embedded_encoder_is_told_without_an_engine(tmp_path: Path) -> None:
    assert set(said(tmp_path, Path("labels"))) == {"encoder"}
