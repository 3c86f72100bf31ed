"""The prompt of Qwen3-VL-Embedding, by the template in its folder: an instruction as the system's
message, what is embedded as the user's, and the opening of a reply, whose last token is the vector.

Published way: the model's card and its reference script. Needs transformers; runs no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import EncoderError
from photocraft_local.serving.tool_calls import harmless

PICTURE_INSTRUCTION = "Represent the user's input."  # the model's default
MOST_TOKENS = 8192  # of one prompt, as published
_HINT = "copy the folder again, all files that weights.md lists"


@dataclass(frozen=True, slots=True)
class Prompt:
    """``text`` has one mark for the picture; in ``ids`` (tokens,) it takes all its tokens."""

    text: str
    ids: NDArray[np.int64]


class Prompter:
    """``instruction`` is what queries come with; pictures have the model's default."""

    def __init__(self, folder: Path, instruction: str) -> None:
        """Raises EncoderError for a folder whose tokenizer or template cannot be read."""
        import transformers

        self._instruction = instruction
        try:
            self._processor: Any = transformers.AutoProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as exc:  # the library raises its own unrelated classes
            said = " ".join(str(exc).split())[:300]
            raise EncoderError(
                f"the processor of {folder} cannot be read: {said}", hint=_HINT
            ) from exc
        self._tokenizer: Any = self._processor.tokenizer
        self._mark = int(self._tokenizer.convert_tokens_to_ids(self._processor.image_token))

    def words(self, text: str) -> Prompt:
        """A query. What is too long for the model is cut at its end."""
        kept = harmless(text)
        made = self._made(self._instruction, [{"type": "text", "text": kept}])
        # More than once, since half a character that is cut at may take more tokens than a whole.
        while (excess := len(made.ids) - MOST_TOKENS) > 0 and kept:
            ids = self._tokenizer(kept, add_special_tokens=False)["input_ids"]
            kept = self._tokenizer.decode(ids[: max(0, len(ids) - excess)]).rstrip("\ufffd")
            made = self._made(self._instruction, [{"type": "text", "text": kept}])
        return made

    def picture(self, tokens: int) -> Prompt:
        """A photo that takes so many tokens."""
        made = self._made(PICTURE_INSTRUCTION, [{"type": "image"}])
        at = np.flatnonzero(made.ids == self._mark)
        if len(at) != 1:
            raise EncoderError(
                f"the chat template of this folder shows a picture {len(at)} times", hint=_HINT
            )
        marks = np.full(tokens, self._mark, np.int64)
        return Prompt(made.text, np.concatenate([made.ids[: at[0]], marks, made.ids[at[0] + 1 :]]))

    def _made(self, instruction: str, content: list[dict[str, str]]) -> Prompt:
        conversation = [
            {"role": "system", "content": [{"type": "text", "text": instruction}]},
            {"role": "user", "content": content},
        ]
        text: str = self._processor.apply_chat_template(
            conversation, tokenize=False, add_generation_prompt=True
        )
        return Prompt(text, np.array(self._tokenizer(text)["input_ids"], np.int64))
