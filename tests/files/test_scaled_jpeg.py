"""The C decoder of scaled JPEG files: what it gives is libjpeg-turbo's picture or a nearer one, and
what it does not take goes to libjpeg-turbo with the same pixels and flags as without it.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import simplejpeg
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.errors import PhotoError
from photocraft_local.files import scaled_jpeg
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.scaled_jpeg import decode_scaled

needs_native = pytest.mark.skipif(
    not scaled_jpeg.chosen().native, reason=f"NO C DECODER: {scaled_jpeg.chosen().reason}"
)
SIZES = [
    (1, 1),
    (7, 9),
    (8, 8),
    (15, 17),
    (16, 16),
    (31, 33),
    (64, 48),
    (127, 65),
    (160, 96),
    (200, 129),
]
SAMPLINGS = ["444", "422", "420", "440", "411", "Gray"]


def picture(width: int, height: int, seed: int = 0) -> NDArray[np.uint8]:
    dice = np.random.default_rng(seed)
    coarse = dice.integers(40, 216, (height // 12 + 2, width // 12 + 2, 3), dtype=np.uint8)
    smooth = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    return np.ascontiguousarray(smooth)


def encoded(pixels: NDArray[np.uint8], sampling: str, quality: int = 90) -> bytes:
    if sampling == "Gray":
        grey = np.ascontiguousarray(pixels[:, :, :1])
        return bytes(simplejpeg.encode_jpeg(grey, quality, "GRAY", "Gray"))
    return bytes(simplejpeg.encode_jpeg(pixels, quality, "RGB", sampling))


def saved(pixels: NDArray[np.uint8], **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def scaled(data: bytes, width: int, height: int, eighths: int) -> NDArray[np.uint8] | None:
    size = -(-width * eighths // 8), -(-height * eighths // 8)
    buffer = memoryview(bytearray(size[0] * size[1] * 3))
    return decode_scaled(memoryview(data), buffer, size, eighths)


def from_blocks(data: bytes, eighths: int) -> NDArray[np.float64]:
    """Grey pixels by definition: the lowest frequencies of each full block, transformed back."""
    full = simplejpeg.decode_jpeg(data, "GRAY")[:, :, 0].astype(float)

    def matrix(n: int) -> NDArray[np.float64]:
        u, x = np.mgrid[:n, :n]
        return np.cos((2 * x + 1) * u * np.pi / (2 * n)) * np.where(u, np.sqrt(2 / n), n**-0.5)

    down = matrix(eighths).T @ matrix(8)[:eighths] * np.sqrt(eighths / 8)
    rows, columns = full.shape[0] // 8, full.shape[1] // 8
    blocks = full.reshape(rows, 8, columns, 8).transpose(0, 2, 1, 3)
    small = down @ blocks @ down.T
    return small.transpose(0, 2, 1, 3).reshape(rows * eighths, columns * eighths)


@needs_native
@pytest.mark.parametrize("eighths", range(1, 9))
def test_grey_is_what_the_blocks_hold(eighths: int) -> None:
    data = encoded(picture(160, 96), "Gray", 95)
    found = scaled(data, 160, 96, eighths)
    assert found is not None
    assert (found == found[:, :, :1]).all()
    assert np.abs(found[:, :, 0] - from_blocks(data, eighths)).max() <= 1.5


def library(data: bytes, width: int, height: int, eighths: int) -> NDArray[np.uint8]:
    size = -(-width * eighths // 8), -(-height * eighths // 8)
    return simplejpeg.decode_jpeg(data, "RGB", min_width=size[0], min_height=size[1])


@needs_native
@pytest.mark.parametrize("sampling", ["444", "420", "Gray"])
def test_the_same_as_the_library_where_that_transforms_alike(sampling: str) -> None:
    """At 3/8, and without coarser colours at 8/8; at 1/8, 2/8 and 4/8 it averages pixels."""
    compared = 0
    for width, height in SIZES:
        for quality in (1, 5, 30, 75, 100):
            data = encoded(picture(width, height), sampling, quality)
            for eighths in (3, 8) if sampling != "420" else (3,):
                wanted = library(data, width, height, eighths)
                found = scaled(data, width, height, eighths)
                assert found is not None
                if wanted.shape == found.shape:  # of tiny pictures it takes another scale
                    compared += 1
                    apart = np.abs(found.astype(int) - wanted).max()
                    assert apart <= 4, (width, height, quality, eighths)
    assert compared > 20


@needs_native
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_sampling_and_odd_size(sampling: str) -> None:
    for width, height in SIZES:
        data = encoded(picture(width, height), sampling)
        full = Image.fromarray(simplejpeg.decode_jpeg(data, "RGB"))
        for eighths in (1, 2, 3, 4):
            found = scaled(data, width, height, eighths)
            if sampling == "411" and eighths > 2:
                assert found is None, "colours at more than 8/8"
                continue
            assert found is not None
            if width % 32 == 0 and height % 16 == 0:  # else encoders fill the last blocks up
                wanted = np.asarray(full.resize(found.shape[1::-1], Image.Resampling.BOX))
                apart = np.abs(found.astype(int) - wanted).mean()
                assert apart < 5, (width, height, eighths)


@needs_native
def test_nearer_to_the_full_picture_than_the_library(shared: Path) -> None:
    better = []
    for path in sorted((shared / "data/captioned/coco").glob("*.jpg"))[:12]:
        data = path.read_bytes()
        full = np.asarray(Image.open(path).convert("RGB"))
        height, width = full.shape[:2]
        if width % 8 or height % 8:
            continue
        size = width // 4, height // 4
        wanted = shrunk(full, size)
        found = scaled(data, width, height, 4)
        assert found is not None
        other = library(data, width, height, 4)
        better.append(distance(shrunk(other, size), wanted) / distance(shrunk(found, size), wanted))
    assert len(better) >= 3
    assert np.median(better) > 1.2


def shrunk(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))


def distance(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.sqrt(np.mean((one.astype(float) - other) ** 2)))


@needs_native
def test_restarts_and_optimised_tables_change_nothing() -> None:
    pixels = picture(200, 120)
    wanted = scaled(saved(pixels), 200, 120, 4)
    assert wanted is not None
    for options in (
        {"optimize": True}, {"restart_marker_blocks": 1}, {"restart_marker_blocks": 7},
        {"restart_marker_rows": 1}, {"restart_marker_rows": 1, "optimize": True},
    ):  # fmt: skip
        found = scaled(saved(pixels, **options), 200, 120, 4)
        assert found is not None
        assert (found == wanted).all(), options


@needs_native
def test_what_it_does_not_take() -> None:
    pixels = picture(64, 48)
    good = encoded(pixels, "420")
    cmyk = io.BytesIO()
    Image.fromarray(pixels).convert("CMYK").save(cmyk, "JPEG")
    for data in (
        saved(pixels, progressive=True), cmyk.getvalue(), b"", b"\xff\xd8", good[:-2],
        good[: len(good) // 2], good[:-2] + b"\x00\xff\xd9", b"\x00" + good, good[:2] + good,
    ):  # fmt: skip
        assert scaled(data, 64, 48, 4) is None
    assert scaled(good, 64, 48, 4) is not None
    assert scaled(good, 65, 48, 4) is None, "another size than the header's"
    assert scaled(good, 64, 48, 5) is None, "colours at 10/8"


def with_table(data: bytes, table: bytes, times: int = 1) -> bytes:
    """``data`` with a Huffman table of its own before all others, or behind them (``times`` 1)."""
    segment = b"\xff\xc4" + (2 + len(table) * times).to_bytes(2, "big") + table * times
    scan = data.index(b"\xff\xda") if times == 1 else 2
    return data[:scan] + segment + data[scan:]


@needs_native
def test_codes_of_ones_alone_are_the_library_s_to_judge() -> None:
    """libjpeg refuses such a table: the flags must not depend on who decodes."""
    good = saved(picture(64, 48))
    at = good.index(b"\xff\xc4") + 4
    assert good[at] == 0, "the first table of DC"
    counts = bytearray(good[at + 1 : at + 17])
    symbols = good[at + 17 : at + 17 + sum(counts)]
    assert scaled(with_table(good, b"\0" + counts + symbols), 64, 48, 4) is not None
    counts[max(i for i in range(16) if counts[i])] += 1
    full = with_table(good, b"\0" + counts + symbols + b"\x05")
    with pytest.raises(ValueError, match="Huffman"):
        simplejpeg.decode_jpeg(full, "RGB")
    assert scaled(full, 64, 48, 4) is None


@needs_native
@pytest.mark.parametrize("version", [0, 1, 2])
def test_jfif_versions_are_the_library_s_to_judge(version: int) -> None:
    good = bytearray(saved(picture(64, 48)))
    good[good.index(b"JFIF") + 5] = version
    if version == 1:
        assert scaled(bytes(good), 64, 48, 4) is not None
        return
    with pytest.raises(ValueError, match="JFIF"):
        simplejpeg.decode_jpeg(bytes(good), "RGB")
    assert scaled(bytes(good), 64, 48, 4) is None


@needs_native
@pytest.mark.parametrize("side", [65_500, 65_501])
def test_sides_that_the_library_refuses(side: int) -> None:
    """One more column fits into the same blocks: nothing else is wrong with the file."""
    wide = bytearray(encoded(np.full((8, 65_500, 3), 90, np.uint8), "444"))
    frame = wide.index(b"\xff\xc0")
    wide[frame + 7 : frame + 9] = side.to_bytes(2, "big")
    assert (scaled(bytes(wide), side, 8, 1) is None) == (side > 65_500)


@needs_native
def test_tables_without_number_are_not_made() -> None:
    """Each costs as much time as thousands of its bytes: a small file could take minutes."""
    good = saved(picture(64, 48))
    empty = b"\x10" + bytes(16)
    assert scaled(with_table(good, empty, 8), 64, 48, 4) is not None
    assert scaled(with_table(good, empty, 3000), 64, 48, 4) is None


@needs_native
def test_sizes_are_checked_at_the_door() -> None:
    from photocraft_local.files import _native

    good = encoded(picture(64, 48), "420")
    for height, width, eighths, size in (
        (24, 32, 4, 24 * 32 * 3 - 1), (24, 32, 0, 24 * 32 * 3), (24, 32, 9, 24 * 32 * 3),
        (-24, -32, 4, 24 * 32 * 3), (0, 0, 4, 0), (65_536, 1, 4, 65_536 * 3),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="out must have"):
            _native.decode(good, bytearray(size), height, width, eighths)
    with pytest.raises((BufferError, TypeError)):
        _native.decode(good, bytes(24 * 32 * 3), 24, 32, 4)


def outcome(path: Path) -> tuple[object, ...]:
    try:
        decoded = decode_upright(bytes(path), short_side=60)
    except PhotoError as error:
        return type(error), error.message
    return decoded.flags, decoded.width, decoded.height, decoded.pixels


@needs_native
def test_mutated_and_cut_files_end_as_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors, flags and sizes are the same; pixels too, or the file decoded without a fault."""
    dice = np.random.default_rng(11)
    seeds = [encoded(picture(240, 180), sampling, 80) for sampling in ("420", "444", "Gray")]
    seeds.append(saved(picture(240, 180), restart_marker_blocks=5))
    seeds.append(saved(picture(240, 180), optimize=True))
    path = tmp_path / "p.jpg"
    taken = 0
    for number in range(400):
        data = bytearray(seeds[number % len(seeds)])
        if number % 4 == 0:
            data = data[: int(dice.integers(0, len(data)))]
        for _ in range(int(dice.integers(1, 4))):
            reach = len(data) if dice.integers(2) else min(len(data), 640)
            if reach:
                data[int(dice.integers(0, reach))] = int(dice.integers(0, 256))
        path.write_bytes(data)
        monkeypatch.setattr(scaled_jpeg, "chosen", with_native)
        ours = outcome(path)
        monkeypatch.setattr(scaled_jpeg, "chosen", without_native)
        wanted = outcome(path)
        assert ours[:-1] == wanted[:-1], number
        if isinstance(ours[-1], np.ndarray):
            assert isinstance(wanted[-1], np.ndarray)
            taken += (ours[-1] != wanted[-1]).any()
            assert np.abs(ours[-1].astype(int) - wanted[-1]).mean() < 6, number
        else:
            assert ours[-1] == wanted[-1]
    assert taken > 20, "some mutations leave a whole JPEG"


def with_native() -> scaled_jpeg.Path:
    return scaled_jpeg.Path(True, "")


def without_native() -> scaled_jpeg.Path:
    return scaled_jpeg.Path(False, "")


def markers(data: bytes) -> list[int]:
    places, at = [0], 2
    while data[at + 1] != 0xDA:
        places.append(at)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return [
        *places,
        at,
        at + 2,
        at + 2 + int.from_bytes(data[at + 2 : at + 4], "big"),
        len(data) - 2,
    ]


@needs_native
def test_cut_at_every_marker() -> None:
    data = saved(picture(64, 48), restart_marker_blocks=2)
    restarts = [
        at for at in range(len(data) - 1) if data[at] == 255 and 0xD0 <= data[at + 1] < 0xD8
    ]
    assert len(restarts) >= 3
    for place in markers(data) + restarts:
        for end in (place, place + 1, place + 2, place + 3):
            if end < len(data):
                assert scaled(data[:end], 64, 48, 4) is None, end


@needs_native
@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_as_the_library_path_turns(
    orientation: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "p.jpg"
    Image.fromarray(picture(320, 240)).save(path, exif=exif)
    ours = decode_upright(bytes(path), short_side=80).pixels
    monkeypatch.setattr(scaled_jpeg, "chosen", without_native)
    wanted = decode_upright(bytes(path), short_side=80).pixels
    assert ours.shape == wanted.shape
    assert np.abs(ours.astype(int) - wanted).mean() < 1.5


def test_without_the_extension_the_library_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "photocraft_local.files._native", None)
    monkeypatch.delattr("photocraft_local.files._native", raising=False)
    path = scaled_jpeg._choose()
    assert not path.native
    assert path.name == "library"
    assert "cannot be used" in path.reason
    assert "compiler" in path.hint
