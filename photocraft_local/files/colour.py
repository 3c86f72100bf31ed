"""Colours → sRGB over white: embedded profiles, printing colours, grey depths, transparency.

Owns the conversions of Pillow images; broken profiles become a flag. Opens no file.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from PIL import Image, ImageCms

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WHITE: Final = (255, 255, 255)
_MAX_PROFILE: Final = 4 << 20
_SPACES: Final = {"RGB": "RGB ", "L": "GRAY", "CMYK": "CMYK"}


def peak_of(image: Image.Image) -> float:
    """The largest value of a wide grey image, which decides how it is scaled to 8 bits."""
    if image.mode not in ("I", "F"):
        return 0.0
    return float(np.nan_to_num(np.asarray(image), nan=0.0, posinf=0.0, neginf=0.0).max(initial=0))


def plain(image: Image.Image, peak: float = 0.0) -> Image.Image:
    """The image as L, RGB or CMYK: depths scaled to 8 bits, transparency laid over white.

    ``peak`` is ``peak_of`` the whole picture that ``image`` is a strip of.
    """
    mode = image.mode
    if mode in ("RGB", "L", "CMYK") and "transparency" not in image.info:
        return image
    if mode == "1":
        return image.convert("L")
    if mode.startswith("I") or mode == "F":
        return _eight_bits(image, peak)
    if mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return _over_white(image)
    return image.convert("RGB")


def _over_white(image: Image.Image) -> Image.Image:
    if image.mode == "La":
        image = image.convert("LA")
    image = image.convert("RGBA")
    ground = Image.new("RGBA", image.size, (*_WHITE, 255))
    return Image.alpha_composite(ground, image).convert("RGB")


def _eight_bits(image: Image.Image, peak: float) -> Image.Image:
    """16-bit, 32-bit and float grey → L. Floats up to 1 and integers up to 65535 (16 bits) keep
    their scale; beyond that the peak is white."""
    values = np.asarray(image)
    if image.mode == "F":
        white = 1.0 if peak <= 1.0 else 255.0 if peak <= 255.0 else peak
        values = np.nan_to_num(values, nan=0.0, posinf=white, neginf=0.0)
    else:
        white = max(65_535.0, peak)
    scaled = values.astype(np.float32) * (255.0 / white) + 0.5
    return Image.fromarray(np.clip(scaled, 0, 255).astype(np.uint8))


def to_srgb(image: Image.Image, profile: bytes) -> tuple[Image.Image, str]:
    """An L, RGB or CMYK image as sRGB, and a flag if its profile could not be used."""
    flag = ""
    if profile:
        try:
            transform = _transform(profile[:_MAX_PROFILE], image.mode)
            if transform is not None:
                converted = transform.apply(image)
                return converted, ""
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            flag = "bad-colour-profile"
    return (image if image.mode == "RGB" else image.convert("RGB")), flag


@lru_cache(maxsize=32)
def _transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    """The way from a profile to sRGB, None where there is nothing to do.

    Raises PyCMSError or ValueError for a profile that is broken or of another colour space.
    """
    opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    space = opened.profile.xcolor_space
    if space != _SPACES[mode]:
        raise ValueError(f"a {space} profile on {mode} pixels")
    description = (opened.profile.profile_description or "").lower()
    if mode == "RGB" and description.startswith(("srgb", "c2", "sgry")):
        return None
    return ImageCms.buildTransform(opened, _srgb(), mode, "RGB")


@lru_cache(maxsize=1)
def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def pixels_of(image: Image.Image) -> NDArray[np.uint8]:
    """(height, width, 3) of an RGB image."""
    return np.asarray(image, dtype=np.uint8)
