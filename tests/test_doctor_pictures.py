"""The doctor on what makes pictures ready for a model, and on what no GPU has run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from photocraft_local import Settings
from photocraft_local.app.doctor import NO_GPU_RAN, examine
from photocraft_local.imaging import resampling


def test_it_says_which_path_cuts_and_what_is_not_proven(tmp_path: Path) -> None:
    found = {one.name: one for one in examine(Settings(library=tmp_path / "none", encoder="null"))}
    path = resampling.chosen()
    assert found["crops and patches"].detail == f"{path.name}: {path.reason}"
    assert found["pictures not proven"].detail == NO_GPU_RAN
    for part in ("no GPU has run", "decoding", "encoders", "vector search", "Triton kernels"):
        assert part in NO_GPU_RAN
    assert "gpu_check" in NO_GPU_RAN


@pytest.mark.parametrize(
    ("triton", "said"), [(object(), "by the kernel crop_resize"), (None, "patch rows on the CPU")]
)
def test_with_a_gpu_it_says_where_patch_rows_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, triton: object, said: str
) -> None:
    gpu = SimpleNamespace(engines=("GPU_ONLY",), decibels=50.0)
    monkeypatch.setattr("photocraft_local.files.gpu_jpeg.open_gpu", lambda: gpu)
    monkeypatch.setattr("photocraft_local.imaging.device_patches.find_spec", lambda _: triton)
    settings = Settings(library=tmp_path / "none", encoder="null", decode_device="gpu")
    found = {one.name: one for one in examine(settings)}
    assert "GPU_ONLY, 50 dB" in found["decoding"].detail
    assert said in found["decoding"].detail
