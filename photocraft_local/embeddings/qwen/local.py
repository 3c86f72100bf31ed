"""Qwen3-VL-Embedding in this process by transformers, on the GPU if there is one, else the CPU.

All items of a pass lie one behind another, pictures and prompts alike: nothing is padded.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import Vectors
from photocraft_local.embeddings.qwen import attention
from photocraft_local.embeddings.qwen.packing import halved, passes
from photocraft_local.embeddings.qwen.uploads import Sent, Uploads
from photocraft_local.errors import EncoderError, ModelError
from photocraft_local.serving.transformers.loading import load, out_of_memory, release
from photocraft_local.serving.transformers.pictures import Features, shown_to

_log = logging.getLogger(__name__)
_MOST_PATCHES = {"cpu": 8192, "cuda": 65536}  # of one pass; a photo has up to 7,200 as published


@dataclass(frozen=True, slots=True)
class Item:
    """A prompt (tokens,) and, of a picture, its patch rows as bytes, one copy of each frame, and
    grid (time, down, across). The rows are here, or a tensor on the device."""

    ids: NDArray[np.int64]
    rows: NDArray[np.uint8] | Any = None
    grid: tuple[int, int, int] | None = None
    begun: Sent | None = None  # of the rows, by ``LocalEmbedder.begin``

    @property
    def size(self) -> int:
        """Work in patches, of which four become a token."""
        return 4 * len(self.ids)


class LocalEmbedder:
    """The loaded model. ``way`` says how its attention is computed and why."""

    def __init__(self, folder: Path, device: str = "auto") -> None:
        """Raises MissingExtraError, EncoderError."""
        try:
            loaded = load(folder, lambda _: None, embedder=True, device=device)
        except ModelError as exc:
            raise EncoderError(exc.message, hint=exc.hint) from exc
        self._model = loaded.model
        self._device = str(self._model.device.type)
        self._image = int(self._model.config.image_token_id)
        self.where = loaded.where
        dtype = str(self._model.dtype).removeprefix("torch.")
        self.way = attention.choose(self._device, dtype)
        attention.install(self._model, self.way)
        self.most_patches = _MOST_PATCHES[self._device]
        frames = int(self._model.config.vision_config.temporal_patch_size)
        self._uploads = Uploads(self._device, frames)

    def begin(self, rows: Any) -> Sent | None:
        """The rows, on their way to the device, while the model is at others; from any thread. None
        where that does not work now: their pass sends them then, and parts itself if it must."""
        try:
            return self._uploads.begin(rows)
        except RuntimeError as exc:  # memory of the device, or pinned memory here
            _log.debug("rows are sent with their pass: %s", exc)
            return None

    def embed(self, items: Sequence[Item]) -> Vectors:
        """The last token's state of each item, (n, size of the model) float32, not normalised.

        Raises EncoderError for an item that alone does not fit into the memory.
        """
        result = np.empty((len(items), self._model.config.text_config.hidden_size), np.float32)
        parted = passes([item.size for item in items], self.most_patches)
        try:
            for part, following in zip(parted, [*parted[1:], []], strict=True):
                for at in (*part, *following):
                    self._send(items[at])
                for done, vectors in self._embedded(part, items):
                    result[list(done)] = vectors
                for at in part:
                    self._forget(items[at])
        finally:
            for item in items:
                self._forget(item)
        return result

    def _embedded(
        self, part: Sequence[int], items: Sequence[Item]
    ) -> list[tuple[Sequence[int], Vectors]]:
        """The items of a pass, in as many pieces as memory asks for."""
        try:
            return halved(part, lambda at: self._pass([items[i] for i in at]), _is_full)
        except Exception as exc:
            if not out_of_memory(exc):
                raise
            raise EncoderError(
                f"a photo of {max(items[i].size for i in part):,} patches does not fit into"
                f" the memory ({self.where})",
                hint="lower the setting encoder_pixels, or end what else holds memory",
            ) from exc

    def _send(self, item: Item) -> None:
        if item.rows is None:
            return
        try:
            self._uploads.send(item.rows, item.begun)
        except RuntimeError as exc:  # as in ``begin``
            _log.debug("rows are sent with their pass: %s", exc)

    def _forget(self, item: Item) -> None:
        if item.rows is not None:
            self._uploads.forget(item.rows)

    def _pass(self, items: Sequence[Item]) -> Vectors:
        import torch

        lengths = [len(item.ids) for item in items]
        ids = torch.from_numpy(np.concatenate([item.ids for item in items]))[None]
        positions = torch.cat([self._positions(item) for item in items], dim=-1)
        ends = torch.tensor([0, *lengths]).cumsum(0, dtype=torch.int32).to(self._device)
        with torch.inference_mode(), shown_to(self._model, self._features(items)) as pictures:
            states = self._model.model(
                input_ids=ids.to(self._device),
                position_ids=positions.to(self._device),
                use_cache=False,
                cu_seq_lens_q=ends,
                max_length_q=max(lengths),
                **pictures,
            ).last_hidden_state[0]
            made: Vectors = states[ends[1:].long() - 1].float().cpu().numpy()
        return made

    def _positions(self, item: Item) -> Any:
        """(3, 1, tokens): each item begins anew."""
        import torch

        ids = torch.from_numpy(item.ids)[None]
        grid = torch.tensor([item.grid]) if item.grid else None
        positions, _ = self._model.model.get_rope_index(
            ids, mm_token_type_ids=(ids == self._image).int(), image_grid_thw=grid
        )
        return positions

    def _features(self, items: Sequence[Item]) -> list[Features]:
        """Of the pictures among the items, all in one pass through the vision tower."""
        import torch

        rows = [item.rows for item in items if item.rows is not None]
        if not rows:
            return []
        here = torch.tensor([item.grid for item in items if item.grid])
        grids = here.to(self._device)
        pixels = torch.cat([self._uploads.take(each) for each in rows])
        made = self._model.model.get_image_features(pixels, grids, return_dict=True)
        deep = getattr(made, "deepstack_features", None) or ()
        counts = (here.prod(-1) // 4).tolist()  # of the copy on this side: nothing is waited for
        levels = [
            level if isinstance(level, (tuple, list)) else level.split(counts) for level in deep
        ]
        return [
            Features(pooled, tuple(level[at] for level in levels))
            for at, pooled in enumerate(made.pooler_output)
        ]


def _is_full(exc: BaseException) -> bool:
    full = out_of_memory(exc)
    if full:
        release()
    return full
