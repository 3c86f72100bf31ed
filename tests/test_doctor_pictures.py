"""The doctor on what makes pictures ready for a model, and on what no GPU has run."""

from __future__ import annotations

from pathlib import Path

from photocraft_local import Settings
from photocraft_local.app.doctor import NO_GPU_RAN, examine
from photocraft_local.imaging import resampling


def test_it_says_which_path_cuts_and_what_is_not_proven(tmp_path: Path) -> None:
    found = {one.name: one for one in examine(Settings(library=tmp_path / "none", encoder="null"))}
    path = resampling.chosen()
    assert found["crops and patches"].detail == f"{path.name}: {path.reason}"
    assert found["pictures not proven"].detail == NO_GPU_RAN
    assert "no GPU has run" in NO_GPU_RAN
    assert "gpu_check" in NO_GPU_RAN
