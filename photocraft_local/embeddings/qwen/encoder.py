"""``Encoder`` over a Qwen3-VL-Embedding folder, with the model's own prompt, pooling and sizes.

Owns which engine runs it; photos become patch rows (transformers) or pictures in the family's
sizes (vLLM) by the same resize, from files in the threads that decode. Loads nothing before it is
used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from photocraft_local.embeddings.encoder import (
    Calibration,
    EncoderSpec,
    Pixels,
    TextEmbedding,
    Vectors,
    check_pictures,
    unit_rows,
)
from photocraft_local.embeddings.fingerprint import space_name
from photocraft_local.embeddings.qwen.folder import PUBLISHED_PIXELS, QwenFolder
from photocraft_local.errors import EncoderError, MissingExtraError
from photocraft_local.imaging.crop_batch import Crop, crop_patches, crop_planes, parts
from photocraft_local.imaging.device_patches import device_patches
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.model_values import ModelValues, PatchLayout
from photocraft_local.imaging.photo_patches import photo_patches, photo_picture
from photocraft_local.serving.vllm.gpus import find_gpus

if TYPE_CHECKING:
    from photocraft_local.embeddings.qwen.engine import EngineEmbedder
    from photocraft_local.embeddings.qwen.local import LocalEmbedder
    from photocraft_local.embeddings.qwen.prompt import Prompter
    from photocraft_local.files.gpu_jpeg import GpuJpegs

QUERY_INSTRUCTION = "Retrieve images or text relevant to the user's query."  # published
ENGINES = ("auto", "vllm", "transformers")
_MERGE = 2  # patches a side that become one token
_BYTES = ModelValues("uint8")  # an eighth of the processor's rows; the device makes these of them
_MOST_BYTES = 256 << 20  # of the rows of one call
# Texts against pictures in the example of the model's card: unrelated ones -0.02 to 0.37, the
# fitting ones 0.61 to 0.74. The library's own statistics are blended in when searching.
_CALIBRATION = Calibration(mean=0.2, std=0.12, cutoff=3.0)


class QwenEncoder:
    """``engine`` is one of ``ENGINES``; ``device`` is that of transformers."""

    concurrency = 1  # a pass fills the machine

    def __init__(
        self,
        folder: Path,
        *,
        engine: str = "auto",
        device: str = "auto",
        dim: int = 0,
        max_pixels: int = PUBLISHED_PIXELS,
        instruction: str = QUERY_INSTRUCTION,
    ) -> None:
        """Raises EncoderError for a folder that is not whole, or a setting that does not fit."""
        self._folder = QwenFolder.read(folder, dim=dim, max_pixels=max_pixels)
        self._wanted, self._device, self._instruction = engine, device, instruction
        self._layout = PatchLayout(self._folder.rule.factor // _MERGE, _MERGE, copies=1)

    @cached_property
    def spec(self) -> EncoderSpec:
        rule, folder = self._folder.rule, self._folder
        return EncoderSpec(
            encoder_id=space_name(folder.root) or "qwen3-vl-embedding",
            revision=folder.revision,
            preprocessing=f"2: {rule.min_pixels} to {rule.max_pixels} px of {rule.factor}",
            dim=folder.dim,
            decode_side=math.isqrt(rule.max_pixels),
        )

    @property
    def calibration(self) -> Calibration:
        return _CALIBRATION

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Unit vectors (n, dim); nan where the model gave none.

        Raises MissingExtraError, EncoderError, UsageError for what are no pictures.
        """
        check_pictures(images)
        crops = [self._shown(at, image) for at, image in enumerate(images)]
        vectors = [np.zeros((0, self._folder.dim), np.float32)]
        for piece in parts(crops, self._layout, _BYTES, most_bytes=_MOST_BYTES):
            vectors.append(self.encode_prepared(self._items(images, piece)))
        return np.concatenate(vectors)

    def prepare(self, path: bytes, *, max_pixels: int) -> tuple[Any, tuple[str, ...]]:
        """A photo's file for ``encode_prepared``: what the engine is given. Raises PhotoError."""
        if self.engine == "vllm":
            pixels, flags = photo_picture(path, self._size, max_pixels=max_pixels)
            return self._picture(pixels), flags
        patches, flags = photo_patches(
            path, self._layout, _BYTES, self._size, max_pixels=max_pixels
        )
        return self._item(patches.rows, patches.grids[0]), flags

    def takes_device_rows(self) -> bool:
        """By transformers where a GPU may be used; vLLM takes pictures, in a process of its own."""
        return self.engine == "transformers" and self._device != "cpu"

    def prepare_many(
        self, gpu: GpuJpegs, paths: Sequence[bytes], *, max_pixels: int
    ) -> list[tuple[Any, tuple[str, ...]] | None]:
        """``prepare`` of many JPEG files on the GPU, where their rows stay."""
        made = device_patches(gpu, paths, self._layout, self._size, max_pixels=max_pixels)
        return [
            None if one is None else (self._item(one.rows, one.grid), one.flags) for one in made
        ]

    def encode_prepared(self, items: Sequence[Any]) -> Vectors:
        """Unit vectors (n, dim); nan where the model gave none.

        Raises MissingExtraError, EncoderError.
        """
        if not items:
            return np.zeros((0, self._folder.dim), np.float32)
        if self.engine == "vllm":
            return self._units(self._by_vllm.embed(items))
        return self._units(self._by_transformers.embed(items))

    def encode_text(self, text: str) -> TextEmbedding:
        """The query's unit vector; the model knows words of some 30 languages.

        Raises MissingExtraError, EncoderError.
        """
        words = tuple(dict.fromkeys(re.findall(r"\w+(?:['’-]\w+)*", text)))
        if not words:
            return TextEmbedding(None)
        prompt = self._prompter.words(text)
        if self.engine == "vllm":
            from photocraft_local.embeddings.qwen.engine import Shown

            vector = self._units(self._by_vllm.embed([Shown(prompt.text)]))[0]
        else:
            from photocraft_local.embeddings.qwen.local import Item

            vector = self._units(self._by_transformers.embed([Item(prompt.ids)]))[0]
        if not np.isfinite(vector).all():
            raise EncoderError(
                f"the model in {self._folder.root} gave no vector for a text",
                hint="the weights are damaged: photocraft weights verify, and copy them again",
            )
        return TextEmbedding(vector, words)

    # -- engines ---------------------------------------------------------------------------

    @cached_property
    def engine(self) -> str:
        """'vllm' or 'transformers'. Raises MissingExtraError if that is not installed."""
        return choose_engine(self._wanted, self._device)[0]

    @cached_property
    def _by_vllm(self) -> EngineEmbedder:
        from photocraft_local.embeddings.qwen.engine import EngineEmbedder

        return EngineEmbedder(self._folder.root)

    @cached_property
    def _by_transformers(self) -> LocalEmbedder:
        from photocraft_local.embeddings.qwen.local import LocalEmbedder

        return LocalEmbedder(self._folder.root, self._device)

    @cached_property
    def _prompter(self) -> Prompter:
        from photocraft_local.embeddings.qwen.prompt import Prompter
        from photocraft_local.serving.transformers import libraries

        libraries.prepare("Qwen3-VL-Embedding")
        return Prompter(self._folder.root, self._instruction)

    # -- pixels and numbers ----------------------------------------------------------------

    def _items(self, images: Sequence[Pixels], crops: Sequence[Crop]) -> list[Any]:
        if self.engine == "vllm":
            planes = crop_planes(images, crops, _BYTES)
            return [self._picture(np.ascontiguousarray(p.transpose(1, 2, 0))) for p in planes]
        patches = crop_patches(images, crops, self._layout, _BYTES)
        ends = np.cumsum(patches.grids.prod(axis=1))
        rows = np.split(patches.rows, ends[:-1])
        return [self._item(part, grid) for part, grid in zip(rows, patches.grids, strict=True)]

    def _picture(self, pixels: Pixels) -> Any:
        from photocraft_local.embeddings.qwen.engine import Shown

        return Shown(self._prompter.picture(1).text, Image.fromarray(pixels))

    def _item(self, rows: Any, grid: Iterable[int]) -> Any:
        from photocraft_local.embeddings.qwen.local import Item

        _, down, across = (int(side) for side in grid)
        ids = self._prompter.picture(len(rows) // _MERGE**2).ids
        # Before the model is loaded, which is at the first batch, nothing knows where they go.
        model: LocalEmbedder | None = self.__dict__.get("_by_transformers")
        return Item(ids, rows, (1, down, across), model.begin(rows) if model else None)

    def _size(self, width: int, height: int) -> tuple[int, int]:
        fit = self._folder.rule.fit(width, height)
        return fit.canvas_width, fit.canvas_height

    def _shown(self, index: int, image: Pixels) -> Crop:
        """The whole picture in the size in which the model sees it. One that is longer than
        200:1 is squeezed to that."""
        height, width = image.shape[:2]
        return Crop(index, Box(0, 0, width, height), *self._size(width, height))

    def _units(self, states: Vectors) -> Vectors:
        """The first ``dim`` numbers of each row (Matryoshka), to unit length; nan for zeros."""
        return unit_rows(states[:, : self._folder.dim].astype(np.float32))


def choose_engine(wanted: str, device: str) -> tuple[str, str]:
    """'vllm' or 'transformers', and why. Raises MissingExtraError for one that is not installed."""
    has_vllm = find_spec("vllm") is not None
    if wanted == "vllm":
        if not has_vllm:
            raise MissingExtraError("vllm", "gpu", "the setting encoder_engine = 'vllm'")
        return "vllm", "the setting encoder_engine"
    if wanted == "transformers":
        return "transformers", "the setting encoder_engine"
    if device == "cpu":
        return "transformers", "auto, and encoder_device is cpu"
    if not has_vllm:
        return "transformers", "auto, and vLLM is not installed"
    if not find_gpus().gpus:
        return "transformers", "auto, and there is no GPU for vLLM"
    return "vllm", "auto: vLLM and a GPU are here"
