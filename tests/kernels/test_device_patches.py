"""Photos to patch rows on a device: the kernel interpreted, nvImageCodec by a stand-in."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="TRITON ABSENT: no torch")
pytest.importorskip("triton", reason="TRITON ABSENT: no triton")
np: Any = pytest.importorskip("numpy")
simplejpeg: Any = pytest.importorskip("simplejpeg")

from photocraft_kernels import crop_resize as kernel  # noqa: E402
from PIL import Image, ImageCms  # noqa: E402

from photocraft_local.embeddings.decoding import Decoder, Failed, Ready, gpu_for  # noqa: E402
from photocraft_local.embeddings.null import NullEncoder  # noqa: E402
from photocraft_local.embeddings.qwen.uploads import Uploads  # noqa: E402
from photocraft_local.files import gpu_jpeg  # noqa: E402
from photocraft_local.files.decode import decode_upright  # noqa: E402
from photocraft_local.imaging.crop_batch import Crop, crop_patches  # noqa: E402
from photocraft_local.imaging.device_patches import device_patches  # noqa: E402
from photocraft_local.imaging.geometry import Box  # noqa: E402
from photocraft_local.imaging.model_values import ModelValues, PatchLayout  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from model_check import decoding  # noqa: E402
from server_check.findings import Report  # noqa: E402

BAD = b"a mark that the stand-in stumbles over"
LAYOUT = PatchLayout(8, 2, copies=1)


class Codec:
    """``nvidia.nvimgcodec`` as far as it is used."""

    BackendKind = SimpleNamespace(HW_GPU_ONLY=1, HYBRID_CPU_GPU=2, GPU_ONLY=3)

    def __init__(self) -> None:
        self.calls: list[int] = []

    def Decoder(self, **_: Any) -> Any:
        return SimpleNamespace(decode=self._decode)

    def DecodeParams(self, **_: Any) -> None:
        return None

    def CodeStream(self, data: bytes) -> bytes:
        return data

    def _decode(self, streams: list[bytes], params: Any) -> list[Any]:
        self.calls.append(len(streams))
        return [None if BAD in data else simplejpeg.decode_jpeg(data, "RGB") for data in streams]


@pytest.fixture
def files(tmp_path: Path) -> list[bytes]:
    """Eight orientations, then what is left to the CPU."""
    down, across = np.mgrid[0:40, 0:58]
    planes = [90 + 2 * across, 60 + 3 * down, 180 - down - across]
    smooth = Image.fromarray(np.stack(planes, axis=-1).clip(40, 215).astype(np.uint8))
    for at in range(1, 9):
        exif = smooth.getexif()
        exif[0x0112] = at
        smooth.save(tmp_path / f"{at}.jpg", quality=92, exif=exif)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    smooth.save(tmp_path / "progressive.jpg", progressive=True)
    smooth.save(tmp_path / "p.png")
    smooth.save(tmp_path / "profile.jpg", icc_profile=profile)
    smooth.save(tmp_path / "refused.jpg", comment=BAD)
    names = [*(f"{at}.jpg" for at in range(1, 9))]
    names += ["progressive.jpg", "p.png", "profile.jpg", "refused.jpg", "gone.jpg"]
    return [os.fsencode(tmp_path / name) for name in names]


def size(width: int, height: int) -> tuple[int, int]:
    return (48, 32) if width > height else (32, 48)


def by_cpu(path: bytes) -> Any:
    pixels = decode_upright(path).pixels
    height, width = pixels.shape[:2]
    crop = Crop(0, Box(0, 0, width, height), *size(width, height))
    return crop_patches([pixels], [crop], LAYOUT, ModelValues("uint8"))


def test_rows_are_those_of_the_cpu_to_a_step_and_others_are_left_to_it(files: list[bytes]) -> None:
    assert type(kernel._tiles).__name__ == "InterpretedFunction"
    codec = Codec()
    made = device_patches(gpu_jpeg.GpuJpegs(codec), files, LAYOUT, size)
    assert [one is not None for one in made] == [True] * 8 + [False] * 5
    assert codec.calls[1:] == [9]  # with the one that is refused, in one call
    for path, one in zip(files, made[:8], strict=False):
        assert one is not None
        wanted = by_cpu(path)
        assert one.grid == tuple(wanted.grids[0])
        assert one.rows.dtype == torch.uint8
        off = np.abs(one.rows.numpy().astype(int) - wanted.rows)
        assert off.max() <= 1, path
        assert off.mean() < 0.25  # Pillow rounds twice, the kernel once


def test_gpu_check_compares_them(files: list[bytes]) -> None:
    gpu, report = gpu_jpeg.GpuJpegs(Codec()), Report("a test")
    decoding.check_rows(report, gpu, files[:8:3], (64, 32))
    decoding.check_rows(report, gpu, files[8:9], (64, 32))  # one that is not made there
    assert [entry["ok"] for entry in report.checks] == [True, False]
    assert report.checks[0]["db"] > 45


def test_rows_on_the_device_become_the_models_numbers_where_they_lie(files: list[bytes]) -> None:
    (one,) = device_patches(gpu_jpeg.GpuJpegs(Codec()), files[:1], LAYOUT, size)
    assert one is not None
    uploads = Uploads("cpu", 2)
    here = uploads.take(one.rows.numpy())
    assert torch.equal(uploads.take(one.rows), here)


def test_runs_are_bounded_by_pixels_and_by_bytes(
    files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    codec = Codec()
    gpu = gpu_jpeg.GpuJpegs(codec)
    monkeypatch.setattr(gpu_jpeg, "_MOST_PIXELS", 2 * 3 * 40 * 58)
    assert sum(one is not None for one in device_patches(gpu, files[:8], LAYOUT, size)) == 8
    assert codec.calls[1:] == [3, 3, 2]
    monkeypatch.setattr(gpu_jpeg, "_MOST_PIXELS", 10**9)
    most = max(Path(os.fsdecode(path)).stat().st_size for path in files[:8])
    monkeypatch.setattr(gpu_jpeg, "_MOST_BYTES", 2 * most)
    codec.calls.clear()
    assert sum(one is not None for one in gpu.decode(files[:8], short_side=32)) == 8
    assert len(codec.calls) >= 4
    assert max(codec.calls) == 2
    monkeypatch.setattr(gpu_jpeg, "_MOST_BYTES", 10)  # each file is larger than a call may be
    assert gpu.decode(files[:8], short_side=32) == [None] * 8


def test_a_kernel_that_fails_costs_no_photo(
    files: list[bytes], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(kernel, "crop_resize", fails)
    with caplog.at_level(logging.WARNING):
        made = device_patches(gpu_jpeg.GpuJpegs(Codec()), files[:3], LAYOUT, size)
    assert made == [None] * 3
    assert "illegal memory access" in caplog.text


class Rows(NullEncoder):
    """An encoder that takes patch rows, from the device where they lie there."""

    here = True

    def takes_device_rows(self) -> bool:
        return self.here

    def prepare(self, path: bytes, *, max_pixels: int) -> tuple[Any, tuple[str, ...]]:
        decode_upright(path)
        return "by the CPU", ()

    def prepare_many(self, gpu: Any, paths: Sequence[bytes], *, max_pixels: int) -> list[Any]:
        made = device_patches(gpu, paths, LAYOUT, size, max_pixels=max_pixels)
        return [one and (one.rows, one.flags) for one in made]

    def encode_prepared(self, items: Sequence[Any]) -> Any:
        raise AssertionError("nothing is encoded here")


def test_a_batch_has_every_photo_by_the_device_or_by_the_cpu(
    files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    codec = Codec()
    opened = gpu_jpeg.GpuJpegs(codec)
    monkeypatch.setattr("photocraft_local.embeddings.decoding.open_gpu", lambda: opened)
    encoder = Rows()
    gpu = gpu_for(encoder, "gpu")
    assert gpu is opened
    assert gpu_for(encoder, "cpu") is None
    photos = [SimpleNamespace(paths=(path,), format="JPEG", width=58, height=40) for path in files]
    made = Decoder(encoder, 10**9, gpu).decode_many(photos)  # type: ignore[arg-type]
    assert all(isinstance(one, Ready) for one in made[:-1])
    assert isinstance(made[-1], Failed)  # the one that is not there
    by_device = [isinstance(one, Ready) and torch.is_tensor(one.pixels) for one in made]
    assert by_device == [True] * 8 + [False] * 5
    encoder.here = False  # its model runs elsewhere
    assert gpu_for(encoder, "gpu") is None
