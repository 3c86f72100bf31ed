"""The model itself: prompts through it in pieces, then a token at a time.

Positions are worked out from the whole prompt and given with each piece: transformers' own state
for them is wrong where a picture follows a kept prefix. Knows no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.serving.transformers.memory import CHUNK
from photocraft_local.serving.transformers.pictures import Features, shown_to
from photocraft_local.serving.transformers.prefixes import Layers
from photocraft_local.serving.transformers.prompts import Prompt

Scores = Any  # (vocabulary,) float32 on the CPU


@dataclass(slots=True)
class Run:
    """One prompt on its way. ``done``: tokens whose keys and values are in every layer."""

    cache: Any
    positions: Any  # (3, 1, tokens) of the whole prompt
    delta: int  # from a token's place to its position, after the prompt
    done: int

    def layers(self) -> Layers:
        return [(layer.keys, layer.values) for layer in self.cache.layers if layer.is_initialized]


class Model:
    """``model`` is transformers' own, of one of the families."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.vocabulary = int(model.config.get_text_config().vocab_size)
        self.pad = int(model.config.image_token_id)
        self.num_prefilled = 0

    def start(self, prompt: Prompt, layers: Layers, done: int) -> Run:
        """``layers`` hold the first ``done`` tokens."""
        import torch

        ids = torch.from_numpy(prompt.ids)[None]
        grids = [one.seen.grid for one in prompt.pictures]
        positions, delta = self._model.model.get_rope_index(
            ids,
            mm_token_type_ids=(ids == self.pad).int(),
            image_grid_thw=torch.tensor(grids) if grids else None,
        )
        return Run(self._cache(layers), positions, int(delta), done)

    def prefill(self, run: Run, prompt: Prompt, features: dict[int, Features]) -> Scores:
        """The rest of the prompt; scores of what follows it. ``features`` by keys of pictures."""
        if run.done >= len(prompt):
            raise ValueError("nothing of the prompt is left to compute")
        scores: Any = None
        while run.done < len(prompt):
            end = prompt.after(min(run.done + CHUNK, len(prompt)))
            shown = [features[one.seen.key] for one in prompt.within(run.done, end)]
            positions = run.positions[:, :, run.done : end]
            scores = self._forward(run, prompt.ids[run.done : end], positions, shown)
            self.num_prefilled += end - run.done
            run.done = end
        return scores[-1]

    def step(self, run: Run, token: int) -> Scores:
        """The scores of what follows ``token``."""
        return self.follow(run, [token])[-1]

    def follow(self, run: Run, tokens: list[int]) -> Any:
        """(tokens, vocabulary) scores of what follows each of them."""
        import torch

        first = run.done + run.delta
        positions = torch.arange(first, first + len(tokens)).expand(3, 1, -1)
        scores = self._forward(run, np.asarray(tokens), positions, [], keep=len(tokens))
        run.done += len(tokens)
        return scores

    def branch(self, run: Run) -> Run:
        """Another way on from the same tokens."""
        return Run(self._cache(run.layers()), run.positions, run.delta, run.done)

    def _forward(
        self,
        run: Run,
        ids: NDArray[np.int64],
        positions: Any,
        shown: list[Features],
        keep: int = 1,
    ) -> Any:
        import torch

        device = self._model.device
        with torch.inference_mode(), shown_to(self._model, shown) as pictures:
            output = self._model(
                input_ids=torch.from_numpy(np.ascontiguousarray(ids))[None].to(device),
                position_ids=positions.to(device),
                past_key_values=run.cache,
                use_cache=True,
                logits_to_keep=keep,
                **pictures,
            )
            return output.logits[0].float().cpu()

    def _cache(self, layers: Layers) -> Any:
        """It grows by new tensors, so that the given ones stay as they are."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self._model.config)
        for layer, (keys, values) in zip(cache.layers, layers, strict=False):
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys, values
        return cache
