"""Crops are cut in original upright pixels, of real files in every orientation."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps

from photocraft_local.errors import UsageError
from photocraft_local.imaging.crops import crop_view, cut, model_view
from photocraft_local.imaging.geometry import Box


def path(file: Path) -> bytes:
    return str(file).encode()


def upright_srgb(file: Path) -> Image.Image:
    """The reference: Pillow's own turn, littlecms's own conversion."""
    with Image.open(file) as image:
        upright = ImageOps.exif_transpose(image).convert("RGB")
        profile = image.info["icc_profile"]
    converted = ImageCms.profileToProfile(
        upright, io.BytesIO(profile), ImageCms.createProfile("sRGB")
    )
    assert converted is not None
    return converted


@pytest.mark.parametrize("name", ["ia_landscape_3.jpg", "ia_portrait_6.jpg", "ia_landscape_5.jpg"])
def test_a_crop_is_cut_from_the_upright_picture(shared: Path, name: str) -> None:
    file = shared / "data" / "exif" / name
    upright = np.asarray(upright_srgb(file))
    height, width = upright.shape[:2]
    box = Box(width // 4, height // 4, width // 2, height // 2)
    expected = upright[box.y : box.bottom, box.x : box.right]
    view = crop_view(path(file), box)
    assert (view.source_width, view.source_height) == (box.width, box.height)
    enlarged = Image.fromarray(expected).resize((view.width, view.height), Image.Resampling.LANCZOS)
    assert np.abs(np.asarray(enlarged).astype(int) - view.pixels).mean() < 1.5


def test_a_large_crop_keeps_its_pixels(shared: Path) -> None:
    file = shared / "data" / "exif" / "ia_67-0_length_string.jpg"
    view = crop_view(path(file), Box(100, 50, 800, 600))
    assert (view.width, view.height) == (800, 600)


def test_a_box_outside_states_the_upright_size(shared: Path) -> None:
    file = shared / "data" / "exif" / "ia_portrait_6.jpg"  # stored lying, upright 450 x 600
    with pytest.raises(UsageError) as caught:
        crop_view(path(file), Box(0, 0, 600, 450))
    assert "450 pixels wide and 600 pixels high" in caught.value.message


def test_a_tiny_crop_is_enlarged_and_a_line_is_padded() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (2000, 3000, 3), dtype=np.uint8)
    tiny = model_view(cut(picture, Box(10, 10, 4, 3)))
    assert (tiny.width, tiny.height) == (448, 336)
    line = model_view(cut(picture, Box(0, 0, 3000, 1)))
    assert (line.width, line.height) == (2048, 28)
    assert (line.content.height, line.content.y) == (1, 13)
    assert tuple(line.pixels[0, 0]) == (128, 128, 128)
