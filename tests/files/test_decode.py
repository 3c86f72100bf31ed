"""Pixels: upright, sRGB, over white, at the wanted size, in bounded memory, from any thread."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from photo_maker import dng, exif_block, gradient, jpeg, write
from PIL import Image, ImageCms, ImageFile

from photocraft_local.errors import PictureTooLarge, UnreadablePhoto
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.metadata import read_metadata
from photocraft_local.files.render import target_size
from photocraft_local.files.resample import shrink


def error(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.abs(one.astype(int) - other).mean())


def textured(width: int, height: int) -> Image.Image:
    """Something with detail at every scale, the same each time."""
    dice = np.random.default_rng(5)
    coarse = Image.fromarray(dice.integers(0, 256, (height // 16, width // 16, 3), dtype=np.uint8))
    pixels = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), np.float32)
    pixels = pixels + dice.normal(0, 6, pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["p.jpg", "p.png", "p.webp", "p.tif", "p.avif"])
def test_every_orientation_in_every_container(name: str, orientation: int, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / name
    gradient().save(path, exif=exif)
    upright = _as_exif_says(np.asarray(gradient()), orientation)
    found = decode_upright(bytes(path))
    assert found.pixels.shape == upright.shape
    assert error(found.pixels, upright) < 8
    header = read_metadata(bytes(path))
    assert (header.width, header.height) == (found.width, found.height)


def _as_exif_says(stored: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    turns = {1: stored, 2: stored[:, ::-1], 3: stored[::-1, ::-1], 4: stored[::-1],
             5: stored.transpose(1, 0, 2), 6: np.rot90(stored, -1),
             7: stored[::-1, ::-1].transpose(1, 0, 2), 8: np.rot90(stored, 1)}  # fmt: skip
    return turns[orientation]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("p.jpg", {}), ("p.jpg", {"progressive": True}), ("p.png", {}), ("p.webp", {}),
        ("p.webp", {"lossless": True}), ("p.tif", {"compression": "raw"}),
        ("p.tif", {"compression": "tiff_lzw"}), ("p.tif", {"compression": "jpeg"}),
        ("p.gif", {}), ("p.bmp", {}), ("p.avif", {}), ("p.jp2", {}), ("p.ppm", {}),
        ("p.jpg", {"subsampling": "4:4:4"}), ("p.jpg", {"subsampling": "4:2:2"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("short_side", [None, 200, 37])
def test_every_format_at_every_size(
    name: str, options: dict[str, object], short_side: int | None, tmp_path: Path
) -> None:
    original = textured(640, 480).resize((640, 480))
    original = original.resize((80, 60)).resize((640, 480), Image.Resampling.BICUBIC)
    original.save(tmp_path / name, **options)
    found = decode_upright(bytes(tmp_path / name), short_side=short_side)
    assert (found.width, found.height) == (640, 480)
    size = (640, 480) if short_side is None else (round(640 * short_side / 480), short_side)
    assert found.pixels.shape == (size[1], size[0], 3)
    assert found.pixels.flags.c_contiguous
    assert found.pixels.flags.writeable
    expected = np.asarray(original.resize(size, Image.Resampling.BICUBIC))
    assert error(found.pixels, expected) < (12 if name == "p.gif" else 4)


def test_small_pictures_are_not_enlarged(tmp_path: Path) -> None:
    found = decode_upright(write(tmp_path / "p.jpg", jpeg()), short_side=448)
    assert found.pixels.shape == (48, 64, 3)


def test_scaled_decode_is_the_picture_that_pillow_makes(shared: Path, tmp_path: Path) -> None:
    """The claim of benchmarks/decode.py on one 12-megapixel photo: 50 dB or better."""
    with (
        Image.open(shared / "data/exif/im_IMG_2682.heic".replace(".heic", ".none"))
        if False
        else (Image.open(shared / "data/captioned/coco/000000000030.jpg")) as photo
    ):
        large = photo.convert("RGB").resize((4032, 3024), Image.Resampling.BICUBIC)
    noisy = np.asarray(large, np.float32) + np.random.default_rng(2).normal(0, 4, (3024, 4032, 1))
    Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(
        tmp_path / "p.jpg", quality=93, subsampling="4:2:0"
    )
    for side in (448, 224):
        size = round(4032 * side / 3024), side
        with Image.open(tmp_path / "p.jpg") as image:
            plain = np.asarray(image.resize(size, Image.Resampling.BICUBIC))
        ours = decode_upright(bytes(tmp_path / "p.jpg"), short_side=side).pixels
        assert 10 * np.log10(255**2 / np.mean((ours.astype(float) - plain) ** 2)) >= 50


@pytest.mark.parametrize(
    ("before", "after"),
    [((1200, 900), (448, 336)), ((1201, 903), (447, 335)), ((3000, 700), (2999, 700)),
     ((900, 1200), (7, 1200)), ((640, 480), (213, 160))],
)  # fmt: skip
def test_shrinking_agrees_with_pillow(before: tuple[int, int], after: tuple[int, int]) -> None:
    image = textured(*before).resize(before)
    expected = np.asarray(image.resize(after, Image.Resampling.BICUBIC))
    found = shrink(np.asarray(image), after)
    assert found.shape == expected.shape
    assert np.abs(found.astype(int) - expected).max() <= 3
    assert error(found, expected) < 0.3


def test_depths_and_transparency(tmp_path: Path) -> None:
    def pixels(image: Image.Image, name: str = "p.png", **options: object) -> NDArray[np.uint8]:
        image.save(tmp_path / name, **options)
        return decode_upright(bytes(tmp_path / name)).pixels

    ramp = np.tile(np.linspace(0, 65535, 256).astype(np.uint16), (8, 1))
    deep = pixels(Image.fromarray(ramp))
    assert (deep[0, :, 0] == np.arange(256)).all()
    assert (pixels(Image.fromarray(ramp), "p.tif")[0, :, 0] == np.arange(256)).all()
    floats = Image.fromarray((ramp / 65535).astype(np.float32))
    assert np.abs(pixels(floats, "f.tif")[0, :, 0].astype(int) - np.arange(256)).max() <= 1
    half = Image.new("RGBA", (8, 8), (255, 0, 0, 128))
    assert np.abs(pixels(half)[0, 0].astype(int) - (255, 127, 127)).max() <= 1
    grey = Image.new("LA", (8, 8), (0, 0))
    assert (pixels(grey) == 255).all()
    palette = gradient().quantize(16)
    assert (pixels(palette, transparency=b"\0" * 16) == 255).all()
    keyed = Image.new("RGB", (8, 8), (1, 2, 3))
    assert (pixels(keyed, transparency=(1, 2, 3)) == 255).all()
    clear = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    assert (pixels(clear, "p.webp", lossless=True) == 255).all()
    assert (pixels(Image.new("1", (8, 8), 1)) == 255).all()


def test_large_wide_grey_is_scaled_alike_in_every_strip(tmp_path: Path) -> None:
    tall = np.tile(np.linspace(0, 40, 5000, dtype=np.float32)[:, None], (1, 1000))
    Image.fromarray(tall).save(tmp_path / "p.tif")
    found = decode_upright(bytes(tmp_path / "p.tif")).pixels[:, 0, 0].astype(int)
    assert (np.diff(found) >= 0).all()
    assert found[-1] == 40


def test_printing_colours(tmp_path: Path) -> None:
    for name, options in (("p.jpg", {"quality": 98}), ("p.tif", {})):
        Image.new("CMYK", (32, 32), (0, 255, 255, 0)).save(tmp_path / name, **options)
        found = decode_upright(bytes(tmp_path / name), short_side=16)
        assert np.abs(found.pixels.astype(int) - (255, 0, 0)).max() <= 3
        assert found.flags == ("cmyk",)


def _profile(space: str) -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile(space)).tobytes()


def test_colour_profiles_are_applied_and_broken_ones_flagged(tmp_path: Path) -> None:
    swapped = bytearray(_profile("sRGB"))
    red, green = swapped.find(b"rXYZ"), swapped.find(b"gXYZ")
    swapped[red : red + 4], swapped[green : green + 4] = b"gXYZ", b"rXYZ"
    at = swapped.find("sRGB".encode("utf-16-be"))
    while at >= 0:  # the description must not say sRGB, or nothing is converted
        swapped[at : at + 8] = "xRGB".encode("utf-16-be")
        at = swapped.find("sRGB".encode("utf-16-be"))
    picture = Image.new("RGB", (32, 32), (250, 10, 10))
    for name in ("p.jpg", "p.png", "p.webp", "p.tif", "p.avif"):
        for profile, colour, flags in (
            (_profile("sRGB"), (250, 10, 10), ()),
            (bytes(swapped), (10, 250, 10), ()),
            (b"junk" * 50, (250, 10, 10), ("bad-colour-profile",)),
            (_profile("LAB"), (250, 10, 10), ("bad-colour-profile",)),
        ):
            picture.save(tmp_path / name, icc_profile=profile, quality=95)
            found = decode_upright(bytes(tmp_path / name), short_side=16)
            assert np.abs(found.pixels.astype(int) - colour).max() <= 12, (name, colour)
            assert found.flags == flags, name


def test_first_picture_of_many(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue", "blue")]
    for name in ("p.gif", "p.webp", "p.png", "p.avif", "p.tif", "p.mpo"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
        found = decode_upright(bytes(tmp_path / name))
        assert np.abs(found.pixels.astype(int) - (255, 0, 0)).max() <= 12, name
        expected = {"p.mpo": ("multi-picture",), "p.tif": ()}.get(name, ("animated",))
        assert found.flags == expected, name


def test_raw_previews_and_development(tmp_path: Path) -> None:
    path = dng(tmp_path / "a.dng", orientation=6, size=320, preview=gradient(320, 240))
    found = decode_upright(path, short_side=120)
    assert found.flags == ("raw-preview",)
    assert (found.width, found.height, found.pixels.shape) == (240, 320, (160, 120, 3))
    upright = np.rot90(np.asarray(gradient(160, 120)), -1)
    assert error(found.pixels, upright) < 8
    small = dng(tmp_path / "b.dng", orientation=6, size=320, preview=gradient(64, 48))
    found = decode_upright(small, short_side=120)
    assert found.flags == ("raw-developed",)
    assert found.pixels[-1, 0, 0] > found.pixels[0, 0, 0] + 100  # red still grows downwards
    named = Path(str(tmp_path) + "/\udcff.dng")
    assert decode_upright(dng(named), short_side=20).pixels.shape == (20, 27, 3)


def test_cut_off_files_keep_what_is_there(tmp_path: Path) -> None:
    for name in ("p.jpg", "p.png", "p.tif", "p.bmp", "p.gif"):
        options = {"interlace": False} if name == "p.gif" else {}
        textured(320, 240).save(tmp_path / name, **options)
        data = (tmp_path / name).read_bytes()
        path = write(tmp_path / name, data[: len(data) // 2])
        found = decode_upright(path)
        assert "truncated" in found.flags, name
        with Image.open(io.BytesIO(data)) as image:
            whole = np.asarray(image.convert("RGB"))
        top, kept = (slice(60), slice(180, None))[:: -1 if name == "p.bmp" else 1]
        assert error(found.pixels[top], whole[top]) < 3, name
        assert error(found.pixels[kept], whole[kept]) > 20, name


def test_a_missing_end_mark_is_no_fault_and_damage_is(tmp_path: Path) -> None:
    for options in ({}, {"progressive": True}):
        textured(320, 240).save(tmp_path / "p.jpg", **options)
        data = (tmp_path / "p.jpg").read_bytes()
        assert decode_upright(write(tmp_path / "q.jpg", data[:-2])).flags == ()
    middle = len(data) // 2
    damaged = data[:middle] + b"\xff\xd5\x12\x34" + data[middle + 30 :]
    assert decode_upright(write(tmp_path / "q.jpg", damaged)).flags in (
        ("damaged",),
        ("truncated",),
    )


def test_limits_come_from_the_header(tmp_path: Path) -> None:
    gradient().save(tmp_path / "p.png")
    with pytest.raises(PictureTooLarge, match="64x48") as caught:
        decode_upright(bytes(tmp_path / "p.png"), max_pixels=3000)
    assert "max_pixels" in caught.value.hint
    data = bytearray(jpeg())
    at = data.find(b"\xff\xc0")
    data[at + 5 : at + 9] = b"\x40\x00\x40\x00"  # 268 megapixels in a kilobyte
    with pytest.raises(PictureTooLarge, match="16384x16384"):
        decode_upright(write(tmp_path / "p.jpg", bytes(data)), short_side=100)


def test_a_bomb_stays_under_a_gibibyte(shared: Path) -> None:
    program = (
        "import pathlib, re, sys; from photocraft_local.files.decode import decode_upright\n"
        "for name in sys.argv[1:]: decode_upright(name.encode(), short_side=448)\n"
        "decode_upright(sys.argv[1].encode())\n"  # and at full size: 588 MB of result alone
        # ru_maxrss would count what the parent had before the exec
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024)"
    )
    folder = shared / "data/odd"
    files = [folder / "bomb_14000.png", folder / "mid_12000x8000.png"]
    done = subprocess.run([sys.executable, "-c", program, *files], capture_output=True, check=True)
    assert int(done.stdout) < 1024


def test_no_warning_leaves_and_no_setting_of_pillow_changes(tmp_path: Path) -> None:
    data = (b"II*\0\x08\0\0\0" + b"\x09\0" + b"\0" * 30) + b"x" * 20
    corrupt = exif_block({0x0112: 6}) + b"\xff" * 3
    Image.new("1", (9500, 9500)).save(tmp_path / "large.png")  # past Pillow's warning
    gradient().save(tmp_path / "p.tif", tiffinfo={270: "x" * 400})
    tiff = (tmp_path / "p.tif").read_bytes()
    before = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decode_upright(bytes(tmp_path / "large.png"), short_side=50)
        decode_upright(write(tmp_path / "c.jpg", jpeg(corrupt)))
        for cut in (len(tiff) - 60, len(tiff) - 200):
            try:
                decode_upright(write(tmp_path / "c.tif", tiff[:cut]))
            except UnreadablePhoto:
                continue
        with pytest.raises(UnreadablePhoto):
            decode_upright(write(tmp_path / "d.tif", data))
    after = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters)
    assert before == after


def test_threads_do_not_disturb_each_other(shared: Path) -> None:
    folder = shared / "data/captioned"
    paths = [bytes(path) for path in sorted((folder / "coco").iterdir())[:24]]
    paths += [bytes(path) for path in sorted((folder / "rclip").iterdir())]
    alone = [decode_upright(path, short_side=160) for path in paths]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda path: decode_upright(path, short_side=160), paths * 2))
    for one, other in zip(alone * 2, together, strict=True):
        assert (one.pixels == other.pixels).all()
        assert one.flags == other.flags


@pytest.mark.parametrize("size", [(565, 640), (1001, 747), (2050, 1533), (999, 1999)])
@pytest.mark.parametrize("exact", [True, False])
def test_a_scaled_decode_is_not_shifted_where_a_scale_does_not_divide(
    shared: Path, tmp_path: Path, size: tuple[int, int], exact: bool
) -> None:
    """A scaled JPEG has its sizes rounded up: its last column is only partly filled."""
    source = sorted((shared / "data/captioned/coco").glob("*.jpg"))[3]
    with Image.open(source) as image:
        large = image.convert("RGB").resize(size, Image.Resampling.BICUBIC)
    large.save(tmp_path / "p.jpg", quality=92)
    whole = decode_upright(bytes(tmp_path / "p.jpg")).pixels
    for side in (min(size) * 2 // 5, min(size) // 4, min(size) // 7):
        made = decode_upright(bytes(tmp_path / "p.jpg"), short_side=side, exact=exact).pixels
        target = target_size(*size, side)
        small, wanted = (
            np.asarray(Image.fromarray(each).resize(target, Image.Resampling.BICUBIC), np.float64)
            for each in (made, whole)
        )
        assert np.mean((small - wanted) ** 2) <= 255**2 / 10**4, side  # 40 dB
