"""Messages as the token ids that the model sees, by the folder's own template and tokenizer.

The same messages give the same ids as a server of the same folder. Encodes no picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from photocraft_local.errors import ModelError
from photocraft_local.serving.chat_model import Message
from photocraft_local.serving.transformers.pictures import Pictures, Seen
from photocraft_local.serving.transformers.prefixes import Keys


@dataclass(frozen=True, slots=True)
class Placed:
    """A picture, its tokens ``start`` to ``end`` of the prompt, and its data URL if it was sent."""

    seen: Seen
    start: int
    end: int
    url: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """``keys`` are the ids, but for pictures the number of their content."""

    ids: Keys
    keys: Keys
    pictures: tuple[Placed, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def within(self, start: int, end: int) -> list[Placed]:
        """Pictures whose tokens lie between, whole by how both were chosen."""
        return [one for one in self.pictures if start <= one.start and one.end <= end]

    def before(self, at: int) -> int:
        """``at``, or where the picture begins that it would cut."""
        return next((one.start for one in self.pictures if one.start < at < one.end), at)

    def after(self, at: int) -> int:
        """``at``, or where the picture ends that it would cut."""
        return next((one.end for one in self.pictures if one.start < at < one.end), at)


def prompt_of(messages: Sequence[Message], processor: Any, pictures: Pictures, pad: int) -> Prompt:
    """``pad``: the id that stands for a picture. Raises as ``Pictures.seen``."""
    parts = [part for one in messages for part in _parts(one) if part["type"] == "image_url"]
    shown = [pictures.seen(part) for part in parts]
    begun = messages[-1]["role"] == "assistant"  # the reply's own beginning
    try:
        text = processor.apply_chat_template(
            [_plain(one) for one in messages],
            tokenize=False,
            add_generation_prompt=not begun,
            continue_final_message=begun,
        )
    except ValueError as exc:
        said = " ".join(str(exc).split())[:200]
        raise ModelError(f"the chat template of these weights does not fit: {said}") from exc
    encoded = processor.tokenizer(text, add_special_tokens=False, return_attention_mask=False)
    single = np.asarray(encoded["input_ids"], dtype=np.int64)
    places = np.flatnonzero(single == pad)
    if len(places) != len(shown):
        raise ModelError(
            f"the chat template shows {len(places)} of {len(shown)} pictures",
            hint="the template of these weights is not that of a Qwen-VL model; copy it again",
        )
    counts = np.ones(len(single), dtype=np.int64)
    counts[places] = [seen.tokens for seen, _ in shown]
    starts = (np.cumsum(counts) - counts)[places]
    marked = single.copy()
    marked[places] = [seen.key for seen, _ in shown]
    placed = [
        Placed(seen, int(start), int(start) + seen.tokens, url)
        for (seen, url), start in zip(shown, starts, strict=True)
    ]
    return Prompt(np.repeat(single, counts), np.repeat(marked, counts), tuple(placed))


def _parts(message: Message) -> list[dict[str, Any]]:
    content = message["content"]
    return [] if isinstance(content, str) else content


def _plain(message: Message) -> Message:
    """With places for pictures, as templates ask for them."""
    content = message["content"]
    if isinstance(content, str):
        return {"role": message["role"], "content": content}
    parts = [part if part["type"] == "text" else {"type": "image"} for part in content]
    return {"role": message["role"], "content": parts}
