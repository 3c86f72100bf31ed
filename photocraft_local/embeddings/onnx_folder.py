"""What a placed dual-encoder folder holds, and its own preprocessing files.

Owns finding the parts in the layouts of common exporters and reading their JSON strictly.
Runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.embeddings import openclip_folder
from photocraft_local.embeddings.encoder import Pixels
from photocraft_local.embeddings.fingerprint import fingerprint
from photocraft_local.errors import EncoderError, UsageError
from photocraft_local.imaging.crop_batch import MAX_TARGET_SIDE, Crop, crop_planes
from photocraft_local.imaging.geometry import MAX_ASPECT, Box
from photocraft_local.imaging.model_values import ModelValues
from photocraft_local.imaging.resampling import FILTERS

_HINT = "weights.md lists the files that a placed encoder folder needs"
_WIDEST = 4096
# Endings that conversions for web browsers give to the same tower in other numbers, best first.
_VARIANTS = ("", "_fp16", "_quantized", "_int8", "_uint8", "_q8", "_q4f16", "_q4", "_bnb4")


@dataclass(frozen=True, slots=True)
class DualFolder:
    """The files of one folder. ``vision`` and ``text`` are one file if it has both towers."""

    root: Path
    vision: Path
    text: Path
    tokenizer: Path
    preprocessor: Path
    is_openclip: bool = False

    @classmethod
    def find(cls, root: Path) -> DualFolder:
        """Two towers or one model, at the top or in ``onnx/``, or as OpenCLIP's exporters lay them.

        Raises:
            EncoderError: a part is missing; the message names it.
        """
        if openclip_folder.is_openclip(root):
            return cls._openclip(root)
        folders = [folder for folder in (root, root / "onnx") if folder.is_dir()]

        def one(*names: str) -> Path | None:
            found = (folder / name for name in names for folder in folders)
            return next((path for path in found if path.is_file()), None)

        def tower(stem: str) -> Path | None:
            return one(*(f"{stem}{variant}.onnx" for variant in _VARIANTS))

        both = tower("model")
        vision = tower("vision_model") or both
        text = tower("text_model") or both
        tokenizer = one("tokenizer.json")
        preprocessor = one("preprocessor_config.json", "processor_config.json")
        parts = {
            "vision_model.onnx (or model.onnx)": vision,
            "text_model.onnx (or model.onnx)": text,
            "tokenizer.json": tokenizer,
            "preprocessor_config.json": preprocessor,
        }
        missing = [name for name, path in parts.items() if path is None]
        if vision is None or text is None or tokenizer is None or preprocessor is None:
            raise EncoderError(f"encoder folder {root} lacks {', '.join(missing)}", hint=_HINT)
        return cls(root, vision, text, tokenizer, preprocessor)

    @classmethod
    def _openclip(cls, root: Path) -> DualFolder:
        parts = {part: root / name for part, name in openclip_folder.PARTS.items()}
        missing = [str(path.relative_to(root)) for path in parts.values() if not path.is_file()]
        if missing:
            raise EncoderError(f"encoder folder {root} lacks {', '.join(missing)}", hint=_HINT)
        return cls(root, **parts, is_openclip=True)

    def json(self, name: str) -> dict[str, Any]:
        """An optional JSON file at the top, or beside the tokenizer; empty if it is not there."""
        places = (self.root / name, self.tokenizer.with_name(name))
        path = next((path for path in places if path.is_file()), None)
        return read_json(path) if path else {}

    @property
    def config(self) -> dict[str, Any]:
        """``config.json`` in transformers' words."""
        config = self.json("config.json")
        return openclip_folder.model_config(config) if self.is_openclip else config

    @property
    def cleans_texts(self) -> bool | None:
        """Whether texts lose capitals and punctuation; None where the folder does not say."""
        return openclip_folder.cleans(self.json("config.json")) if self.is_openclip else None

    def fingerprint(self) -> str:
        """Hex digest of the small files and of a sample of the weights."""
        files = {self.vision, self.text, self.tokenizer, self.preprocessor}
        for path in (self.vision, self.text):  # weights over 2 GB lie beside their model
            outside = (path.with_name(path.name + end) for end in ("_data", ".data"))
            files |= {data for data in outside if data.is_file()}
        return fingerprint(files, weights=(".onnx", "_data", ".data"))


def whole_number(value: Any, default: int = 0) -> int:
    """What a config file states, ``default`` where that is no number above 0."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if is_number and value > 0 else default


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as exc:
        raise EncoderError(f"{path} cannot be read: {exc}", hint="place the folder anew") from exc
    if not isinstance(value, dict):
        raise EncoderError(f"{path} holds no JSON object", hint="place the folder anew")
    return value


@dataclass(frozen=True, slots=True)
class PictureRules:
    """``preprocessor_config.json`` as far as a dual encoder uses it."""

    height: int
    width: int
    shortest: int | None  # resize this side, then crop; None = resize both sides
    resample: Image.Resampling
    factor: float
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def read(cls, path: Path) -> PictureRules:
        """Raises EncoderError for a missing key or a kind of preprocessing that is not known."""
        config = read_json(path)
        nested = config.get("image_processor")  # in processor_config.json, of newer exporters
        try:
            if path.name == Path(openclip_folder.PARTS["preprocessor"]).name:
                config = openclip_folder.picture_config(config)
            rules = cls._parse(nested if isinstance(nested, dict) else config)
            rules.values()
            return rules
        except (KeyError, TypeError, ValueError, UsageError) as exc:
            raise EncoderError(
                f"{path} is no preprocessing of a fixed-size picture: {exc!r}", hint=_HINT
            ) from exc

    @classmethod
    def _parse(cls, config: Mapping[str, Any]) -> PictureRules:
        size = _sides(config["size"])
        crops = config.get("do_center_crop", "shortest_edge" in size)
        target = _sides(config.get("crop_size", config["size"])) if crops else size
        height = target.get("height", target.get("shortest_edge", 0))
        width = target.get("width", height)
        shortest = size.get("shortest_edge") or min(size["height"], size["width"])
        normalises = config.get("do_normalize", True)
        return cls(
            height=height,
            width=width,
            shortest=max(shortest, height, width) if crops else None,
            resample=Image.Resampling(int(config.get("resample", Image.Resampling.BICUBIC))),
            factor=float(config.get("rescale_factor", 1 / 255)),
            mean=tuple(map(float, config["image_mean"])) if normalises else (0.0,) * 3,
            std=tuple(map(float, config["image_std"])) if normalises else (1.0,) * 3,
        )

    def values(self) -> ModelValues:
        """Raises UsageError for numbers that are no normalisation."""
        return ModelValues("float32", self.mean, self.std, self.factor)  # type: ignore[arg-type]

    def apply(self, images: Sequence[Pixels], *, as_bytes: bool = False) -> NDArray[Any]:
        """(n, 3, height, width) float32 of upright pictures (h, w, 3) of any sizes. ``as_bytes``:
        (n, height, width, 3) uint8, for a model that normalises by itself."""
        sizes = [self._resized(image.shape[1], image.shape[0]) for image in images]
        name = next((name for name, ours in FILTERS.items() if ours == self.resample), None)
        if name is None:  # of the filters that are rarely used Pillow's are taken
            images = [
                self._by_pillow(image, *size) for image, size in zip(images, sizes, strict=True)
            ]
        crops = [
            Crop(at, Box(0, 0, image.shape[1], image.shape[0]), *sizes[at])
            for at, image in enumerate(images)
        ]
        values = ModelValues("uint8") if as_bytes else self.values()
        planes = crop_planes(images, crops, values, filter=name or "bilinear")
        made = np.stack([self._centre(plane) for plane in planes])
        return np.ascontiguousarray(made.transpose(0, 2, 3, 1)) if as_bytes else made

    def _resized(self, width: int, height: int) -> tuple[int, int]:
        """Before the middle is cut out; a picture beyond 200:1 is squeezed to that."""
        if self.shortest is None:
            return self.width, self.height
        short = min(width, height)  # the longer side is rounded down, as the families do
        most = min(MAX_ASPECT * self.shortest, MAX_TARGET_SIDE)
        wide, high = (min(self.shortest * side // short, most) for side in (width, height))
        return wide, high

    def _by_pillow(self, pixels: Pixels, width: int, height: int) -> Pixels:
        picture = Image.fromarray(np.ascontiguousarray(pixels))
        return np.asarray(picture.resize((width, height), self.resample))

    def _centre(self, plane: NDArray[Any]) -> NDArray[Any]:
        left, top = (plane.shape[2] - self.width) // 2, (plane.shape[1] - self.height) // 2
        return plane[:, top : top + self.height, left : left + self.width]


def _sides(size: Any) -> dict[str, int]:
    """``size`` in its three spellings: a number, {shortest_edge}, {height, width}."""
    given = {"shortest_edge": size} if isinstance(size, int) else size
    if not isinstance(given, dict):
        raise TypeError(f"size {size!r}")
    sides = {name: int(value) for name, value in given.items() if value is not None}
    if not all(0 < value <= _WIDEST for value in sides.values()):
        raise ValueError(f"size {size!r}")
    if "shortest_edge" not in sides and not {"height", "width"} <= sides.keys():
        raise ValueError(f"size {size!r}")
    return sides
