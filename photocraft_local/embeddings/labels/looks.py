"""What the pixels themselves say: colours, light, and the flat areas of screens and documents.

Owns the measures and the words that each stands for; an image classifier is trained to ignore
all of this. Knows nothing of models.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import Pixels

PHRASES = {
    "red": "something red",
    "orange": "something orange",
    "brown": "something brown",
    "yellow": "something yellow",
    "green": "something green",
    "blue": "something blue",
    "purple": "something purple",
    "pink": "something pink",
    "white": "something white",
    "black": "something black",
    "grey": "something grey",
    "night": "a dark photo at night",
    "monochrome": "a black and white photograph",
    "sky": "the blue sky",
    "lawn": "green grass on the ground",
    "dusk": "an orange sky at sunset",
    "flat": "a screenshot or document with text",
}
_RARE = ("night", "monochrome", "sky", "lawn", "dusk", "flat")
_WEIGHTS = dict.fromkeys(_RARE, 1.5) | {"flat": 4.0}  # they say more than a colour among many
_BLACK = 25
_STEP = 4  # every fourth pixel of every fourth row is enough
_Plane = NDArray[np.float32]
_Mask = NDArray[np.bool_]


def measure(pixels: Pixels) -> NDArray[np.float32]:
    """Weight from 0 of each look, in the order of ``PHRASES``, of a picture (h, w, 3)."""
    flat = _flatness(pixels)
    sample = pixels[::_STEP, ::_STEP].astype(np.float32) / np.float32(255)
    hue, chroma, value = _hue_chroma_value(sample)
    colours = _colours(hue, chroma, value)
    strength = {name: float(mask.mean()) ** 0.5 for name, mask in colours.items()}
    third = max(1, len(sample) // 3)
    strength["sky"] = _above(float(colours["blue"][:third].mean()), 0.3, 0.8)
    strength["lawn"] = _above(float(colours["green"][-third:].mean()), 0.3, 0.8)
    warm = colours["orange"] | colours["yellow"] | colours["red"]
    strength["dusk"] = _above(float(warm[:third].mean()), 0.4, 0.9)
    strength["night"] = _above(float(1 - sample.max(axis=2).mean()), 0.7, 0.9)
    strength["monochrome"] = 1.0 - _above(float(np.percentile(chroma, 98)), 0.02, 0.08)
    strength["flat"] = _above(flat, 0.35, 0.7)
    return np.array([strength[name] * _WEIGHTS.get(name, 1.0) for name in PHRASES], np.float32)


def _above(share: float, low: float, high: float) -> float:
    """0 up to ``low``, 1 from ``high`` on, a straight line between."""
    return min(max((share - low) / (high - low), 0.0), 1.0)


def _flatness(pixels: Pixels) -> float:
    """Share of neighbours in a row with the same colour, but for black ones, which a dark photo
    has too: noise and lenses leave few of them."""
    rows = pixels[::_STEP]
    same = (rows[:, 1:] == rows[:, :-1]).all(axis=2) & (rows[:, 1:].max(axis=2) > _BLACK)
    return float(same.mean())


def _hue_chroma_value(rgb: NDArray[np.float32]) -> tuple[_Plane, _Plane, _Plane]:
    """Hue in degrees, chroma and value in [0, 1], of pixels in [0, 1]."""
    value = rgb.max(axis=2)
    chroma = value - rgb.min(axis=2)
    safe = np.maximum(chroma, 1e-6)
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    sector = np.where(
        value == red,
        ((green - blue) / safe) % 6,
        np.where(value == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    return sector * np.float32(60), chroma, value


def _colours(hue: _Plane, chroma: _Plane, value: _Plane) -> dict[str, _Mask]:
    """Which pixels a person would call by each colour's name."""
    saturation = chroma / np.maximum(value, 1e-6)
    coloured = (saturation > 0.25) & (value > 0.2)
    reddish = (hue < 12) | (hue >= 345)
    pale = reddish & (saturation > 0.15) & (saturation <= 0.4) & (value > 0.7)
    warm = coloured & (hue >= 8) & (hue < 42)
    vivid = warm & (hue >= 12) & (value > 0.6) & (saturation > 0.5)
    return {
        "red": coloured & reddish & (saturation > 0.4),
        "orange": vivid,
        "brown": warm & ~vivid,
        "yellow": coloured & (hue >= 42) & (hue < 68),
        "green": coloured & (hue >= 68) & (hue < 165),
        "blue": coloured & (hue >= 165) & (hue < 255),
        "purple": coloured & (hue >= 255) & (hue < 300),
        "pink": (coloured & (hue >= 300) & (hue < 345)) | pale,
        "white": (saturation < 0.15) & (value > 0.85),
        "black": value < 0.15,
        "grey": (saturation < 0.12) & (value >= 0.25) & (value <= 0.85),
    }
