"""Pictures of a request: read, given to the vision tower once, kept by their names.

Pixels come in the family's own sizes and go through as they are. Knows no prompt; not safe to
share between threads.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import io
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from photocraft_local.errors import ModelError, PictureUnknown
from photocraft_local.imaging.crop_batch import Crop, Patches, crop_patches
from photocraft_local.imaging.geometry import MAX_ASPECT, Box, smart_resize
from photocraft_local.imaging.model_values import ModelValues, PatchLayout

Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture as the prompt counts it. ``key`` is below 0 and made of its bytes; ``grid`` are
    patches in time, height and width; ``tokens`` what it takes of the prompt."""

    uuid: str
    key: int
    grid: tuple[int, int, int]
    tokens: int


@dataclass(frozen=True, slots=True)
class Features:
    """What the vision tower makes of a picture: (tokens, size), once more for each level that
    Qwen3-VL adds deeper in the model."""

    pooled: Any
    deep: tuple[Any, ...]

    @property
    def num_bytes(self) -> int:
        return sum(part.numel() * part.element_size() for part in (self.pooled, *self.deep))


class Pictures:
    """Encodes with ``model`` and keeps ``budget`` bytes of features, those used last."""

    def __init__(self, model: Any, processor: Any, budget: int) -> None:
        """Raises ModelError for a processor that prepares pictures in another way."""
        self._model, self._budget = model, budget
        vision = model.config.vision_config
        self._patch, self._merge = int(vision.patch_size), int(vision.spatial_merge_size)
        self._layout = PatchLayout(self._patch, self._merge, int(vision.temporal_patch_size))
        self._limits, self._values = _rules(processor.image_processor, self._layout)
        self._seen: dict[str, Seen] = {}
        self._features: OrderedDict[int, Features] = OrderedDict()
        self._num_bytes = 0
        self.num_encoded = 0

    def seen(self, part: Part) -> tuple[Seen, str]:
        """A part of a message, and its data URL ("" if only its name was sent).

        Raises PictureUnknown for a name that was never sent with a picture, ModelError for what
        is no picture in a size of the family.
        """
        url = (part.get("image_url") or {}).get("url", "")
        uuid = str(part.get("uuid") or "")
        if not url:
            if uuid not in self._seen:
                raise PictureUnknown(f"the picture {uuid[:40]!r} was never sent")
            return self._seen[uuid], ""
        digest = hashlib.sha256(url.encode()).digest()
        key = -1 - (int.from_bytes(digest[:8], "big") >> 1)
        known = self._seen.get(uuid or str(key))
        if known is None or known.key != key:
            width, height = self._opened(url).size
            rows, columns = height // self._patch, width // self._patch
            known = Seen(
                uuid or str(key), key, (1, rows, columns), rows * columns // self._merge**2
            )
            self._seen[known.uuid] = known
        return known, url

    def holds(self, seen: Seen) -> bool:
        return seen.key in self._features

    def features(self, seen: Seen, url: str) -> Features:
        """Raises PictureUnknown where only the name was sent and they were let go."""
        made = self._features.get(seen.key)
        if made is None:
            if not url:
                raise PictureUnknown(f"the picture {seen.uuid[:40]!r} is not kept any more")
            made = self._encoded(seen, url)
            self._features[seen.key] = made
            self._num_bytes += made.num_bytes
        self._features.move_to_end(seen.key)
        while self._num_bytes > self._budget and len(self._features) > 1:
            self._num_bytes -= self._features.popitem(last=False)[1].num_bytes
        return made

    def clear(self) -> None:
        self._features.clear()
        self._num_bytes = 0

    def _opened(self, url: str) -> Image.Image:
        """Upright RGB in a size that the family leaves alone."""
        picture = _read(url)
        if max(picture.size) > MAX_ASPECT * min(picture.size):
            raise _unfit(picture, f"it is longer than {MAX_ASPECT}:1")
        height, width = smart_resize(
            picture.height, picture.width, self._layout.factor, *self._limits
        )
        if (width, height) != picture.size:
            raise _unfit(picture, f"it would be shown at {width} × {height}")
        return picture

    def _rows(self, url: str) -> Patches:
        """What the family's own processor makes of the picture, number by number."""
        pixels = np.asarray(self._opened(url), np.uint8)
        height, width = pixels.shape[:2]
        whole = Crop(0, Box(0, 0, width, height), width, height)
        return crop_patches([pixels], [whole], self._layout, self._values)

    def _encoded(self, seen: Seen, url: str) -> Features:
        import torch

        patches = self._rows(url)
        pixels, grid = torch.from_numpy(patches.rows), torch.from_numpy(patches.grids)
        device = self._model.device
        with torch.inference_mode():
            made = self._model.model.get_image_features(
                pixels.to(device), grid.to(device), return_dict=True
            )
        self.num_encoded += 1
        deep = getattr(made, "deepstack_features", None) or ()
        # One picture: transformers before 5.19 does not part the levels by pictures.
        levels = (level[0] if isinstance(level, tuple) else level for level in deep)
        return Features(made.pooler_output[0], tuple(levels))


@contextmanager
def shown_to(model: Any, features: Sequence[Features]) -> Iterator[dict[str, Any]]:
    """The arguments by which a forward pass takes pictures that are encoded already.

    transformers before 5.19 knows none and would leave them out in silence: there its encoder is
    asked as usual, and gives these.
    """
    if not features:
        yield {}
        return
    pooled = [one.pooled for one in features]
    levels: list[Any] = list(zip(*(one.deep for one in features), strict=True))
    if "mm_encoder_outputs" in inspect.signature(type(model).forward).parameters:
        encoded = SimpleNamespace(pooler_output=pooled, deepstack_features=levels)
        yield {"mm_encoder_outputs": {"image": encoded}}
        return
    import torch

    inner, levels = model.model, [torch.cat(level) for level in levels]
    encoded = SimpleNamespace(pooler_output=pooled, deepstack_features=levels)
    inner.get_image_features = lambda *_, **__: encoded
    try:
        yield {"pixel_values": torch.empty(0)}
    finally:
        del inner.get_image_features  # the class's own shows again


def _rules(processor: Any, layout: PatchLayout) -> tuple[tuple[int, int], ModelValues]:
    """The least and the most pixels, and the numbers that stand for bytes."""
    sizes = processor.patch_size, processor.merge_size, processor.temporal_patch_size
    plain = processor.do_resize and processor.do_rescale and processor.do_normalize
    usual = abs(processor.rescale_factor * 255 - 1) < 1e-6
    if not (plain and usual) or sizes != (layout.patch, layout.merge, layout.copies):
        raise ModelError(
            "preprocessor_config.json of these weights prepares pictures in another way than"
            f" config.json says: patches {sizes}, scaled by {processor.rescale_factor}",
            hint="copy it again, with config.json, from the same revision",
        )
    mean, std = (tuple(map(float, three)) for three in (processor.image_mean, processor.image_std))
    least, most = (int(processor.size[name]) for name in ("shortest_edge", "longest_edge"))
    return (least, most), ModelValues(mean=mean, std=std)  # type: ignore[arg-type]


def _read(url: str) -> Image.Image:
    head, _, body = url.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise ModelError(
            f"a picture of the prompt is no data URL: {url[:60]!r}",
            hint="pictures are never fetched; give their bytes",
        )
    try:
        with Image.open(io.BytesIO(base64.b64decode(body, validate=True))) as image:
            return image.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as exc:
        raise ModelError(f"a picture of the prompt cannot be read: {exc}") from exc


def _unfit(picture: Image.Image, why: str) -> ModelError:
    return ModelError(
        f"a picture of {picture.width} × {picture.height} pixels has no size of this family: {why}",
        hint="pictures are resized by PictureRule before they are sent",
    )
