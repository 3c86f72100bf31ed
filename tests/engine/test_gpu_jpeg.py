"""JPEG files in batches by a stand-in for nvImageCodec: what it is asked, and that nothing is lost.

The stand-in decodes by libjpeg-turbo; torch on the CPU does the rest as it would on a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import simplejpeg
from PIL import Image, ImageCms

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch")

from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.errors import MissingExtraError, SettingsError
from photocraft_local.files import gpu_jpeg
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.gpu_jpeg import GpuJpegs, open_gpu
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings

BAD = b"a mark that the stand-in stumbles over"


class Codec:
    """``nvidia.nvimgcodec`` as far as it is used. ``rough`` engines repeat chroma."""

    BackendKind = SimpleNamespace(
        HW_GPU_ONLY="hardware", HYBRID_CPU_GPU="hybrid", GPU_ONLY="kernels"
    )

    def __init__(self, rough: Sequence[str] = (), raising: int = 0) -> None:
        self.rough, self.raising = rough, raising
        self.calls: list[int] = []
        self.options: list[str] = []
        self.Decoder = lambda **how: _Decoder(self, **how)  # as there

    def DecodeParams(self, *, apply_exif_orientation: bool) -> str:
        assert not apply_exif_orientation
        return "as stored"

    def CodeStream(self, data: bytes) -> bytes:
        return data


class _Decoder:
    def __init__(self, codec: Codec, *, backend_kinds: list[str], options: str) -> None:
        self._codec, self._kinds = codec, backend_kinds
        codec.options.append(options)

    def decode(self, streams: list[bytes], params: str) -> list[Any]:
        assert params == "as stored"
        self._codec.calls.append(len(streams))
        if len(streams) > 1 and self._codec.raising:
            self._codec.raising -= 1
            raise RuntimeError("out of device memory")
        rough = self._kinds[0] in self._codec.rough
        return [
            None if BAD in data else simplejpeg.decode_jpeg(data, "RGB", fastupsample=rough)
            for data in streams
        ]


@pytest.fixture
def files(shared: Path, tmp_path: Path) -> list[bytes]:
    """Eight orientations; then grey, progressive, PNG, one with a profile, one that is cut short,
    one that the engine refuses, one that is no picture, one that is not there."""
    sources = sorted((shared / "data/captioned/coco").glob("*.jpg"))[:8]
    folder = tmp_path / "photos"
    folder.mkdir()
    for at, source in enumerate(sources, 1):
        with Image.open(source) as image:
            exif = image.getexif()
            exif[0x0112] = at
            image.save(folder / f"{at}.jpg", quality=92, exif=exif)
    with Image.open(sources[0]) as image:
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        image.convert("L").save(folder / "grey.jpg")
        image.save(folder / "progressive.jpg", progressive=True)
        image.save(folder / "p.png")
        image.save(folder / "profile.jpg", icc_profile=profile)
        image.save(folder / "refused.jpg", comment=BAD)
        image.save(folder / "short.jpg")
    data = (folder / "short.jpg").read_bytes()
    (folder / "short.jpg").write_bytes(data[: len(data) // 2])
    (folder / "text.jpg").write_bytes(b"nothing")
    names = [f"{at}.jpg" for at in range(1, 9)]
    names += ["grey.jpg", "progressive.jpg", "p.png", "profile.jpg", "short.jpg", "refused.jpg"]
    return [os.fsencode(folder / name) for name in [*names, "text.jpg", "gone.jpg"]]


def decibels(one: np.ndarray, other: np.ndarray) -> float:
    error = float(np.mean((one.astype(np.float64) - other) ** 2))
    return 10 * float(np.log10(255**2 / max(error, 1e-9)))


@pytest.mark.parametrize("short_side", [224, 5000])
def test_a_batch_is_decoded_as_by_the_cpu_and_a_bad_file_costs_no_other(
    files: list[bytes], short_side: int
) -> None:
    codec = Codec()
    made = GpuJpegs(codec).decode(files, short_side=short_side)
    taken = [*range(8), 11]
    assert [at for at, one in enumerate(made) if one] == taken
    assert codec.calls[-1] == len(taken) + 1  # and the one that is refused
    for at in taken:
        wanted = decode_upright(files[at], short_side=short_side)
        one = made[at]
        assert one is not None
        assert (one.width, one.height, one.flags) == (wanted.width, wanted.height, wanted.flags)
        assert one.pixels.shape == wanted.pixels.shape
        assert decibels(one.pixels, wanted.pixels) >= 40, files[at]
        assert one.pixels.flags.writeable


def test_engines_that_repeat_chroma_are_not_used() -> None:
    codec = Codec()
    assert GpuJpegs(codec).engines == ("HW_GPU_ONLY", "HYBRID_CPU_GPU", "GPU_ONLY")
    assert set(codec.options) == {":fancy_upsampling=1"}
    assert GpuJpegs(Codec(["hardware"])).engines == ("HYBRID_CPU_GPU", "GPU_ONLY")
    last = GpuJpegs(Codec(["hardware", "hybrid"]))
    assert last.engines == ("GPU_ONLY",)
    assert last.decibels > 45
    with pytest.raises(SettingsError, match=r"chroma is 2\d dB off") as caught:
        GpuJpegs(Codec(["hardware", "hybrid", "kernels"]))
    assert "decode_device" in caught.value.hint


def test_a_call_that_fails_leaves_its_files_to_the_cpu(
    files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_jpeg, "_MOST_PIXELS", 3 * 640 * 480)
    codec = Codec(raising=1)
    made = GpuJpegs(codec).decode(files[:8], short_side=224)
    calls = codec.calls[1:]
    assert len(calls) > 1
    assert sum(calls) == 8
    assert [one is not None for one in made] == [False] * calls[0] + [True] * (8 - calls[0])


def test_a_file_that_makes_the_library_raise_costs_no_other(
    files: list[bytes], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It raises for a header that it cannot read, and torch for an image that it does not take."""

    def stream(data: bytes) -> bytes:
        if BAD in data:
            raise RuntimeError("Failed to create code stream")
        return data

    refused = next(path for path in files if path.endswith(b"refused.jpg"))
    gpu = GpuJpegs(Codec())
    monkeypatch.setattr(gpu._codec, "CodeStream", stream)
    batch = [files[0], refused, files[1]]
    kept = [one is not None for one in gpu.decode(batch, short_side=224)]
    assert kept == [True, False, True]
    assert gpu.decode([refused], short_side=224) == [None]
    decode = gpu._decoder.decode
    monkeypatch.setattr(
        gpu._decoder, "decode", lambda streams, params: [object(), *decode(streams[1:], params)]
    )
    (run,) = gpu.decode_there(batch)
    assert [at for at, _ in run] == [2]
    assert "torch does not take it" in caplog.text


def test_an_image_of_another_shape_is_not_believed(
    files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = GpuJpegs(Codec())
    monkeypatch.setattr(
        gpu._decoder, "decode", lambda streams, params: [np.zeros((4, 4, 3), np.uint8)]
    )
    assert gpu.decode(files[:1], short_side=224) == [None]
    assert gpu.decode(files[:2], short_side=224) == [None, None]  # fewer images than files


def test_the_index_has_every_photo_whatever_the_gpu_does(
    files: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("photocraft_local.embeddings.pipeline._GPU_BATCH", 3)
    vectors = {}
    for device in ("cpu", "gpu"):
        codec = Codec(raising=1)
        monkeypatch.setattr(
            "photocraft_local.embeddings.decoding.open_gpu", lambda codec=codec: GpuJpegs(codec)
        )
        settings = Settings(library=tmp_path / device, decode_device=device)
        encoder = NullEncoder()
        with Library.open(settings.library, create=True, settings=settings) as library:
            sync(library, [os.fsencode(Path(os.fsdecode(files[0])).parent)])
            space = VectorSpace.open(tmp_path / f"{device} space", encoder.spec, create=True)
            report = index_pending(library, space, encoder)
            assert report.indexed == library.count() == 14
            names = {p.photo_id: Path(os.fsdecode(p.paths[0])).name for p in library.photos()}
        assert bool(codec.calls) is (device == "gpu")
        rows = zip(space.photo_ids.tolist(), space.vectors, strict=True)
        vectors[device] = {names[photo]: vector.astype(np.float32) for photo, vector in rows}
    for name, vector in vectors["cpu"].items():
        assert vector @ vectors["gpu"][name] >= 0.99, name


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingExtraError, match=r"nvidia\.nvimgcodec") as caught:
        open_gpu()
    assert "gpu-decode" in caught.value.hint
    monkeypatch.setattr(gpu_jpeg, "_is_there", lambda module: True)
    monkeypatch.setitem(__import__("sys").modules, "nvidia", SimpleNamespace(nvimgcodec=Codec()))
    with pytest.raises(SettingsError, match="no CUDA GPU"):
        open_gpu()
