"""A placed Qwen3-VL-Embedding folder: that it is one, whole, and the facts that name its space.

Reads config files and headers; no engine is imported.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.embeddings.fingerprint import fingerprint
from photocraft_local.errors import EncoderError, ModelError
from photocraft_local.serving.tokens import PictureRule, chat_template
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.folder import MARKS_OF_EMBEDDERS

PUBLISHED_PIXELS = 1800 * 32 * 32  # of the reference script: the most that one picture has
LEAST_DIM = 64  # the model was trained so that this many first numbers are a vector, too
_TYPES = ("qwen3_vl", "qwen3_vl_moe")
_PROMPT = "Represent the user's input"
_HINT = "weights.md, Qwen3-VL-Embedding, lists the models and every file of them"


def is_qwen(folder: Path) -> bool:
    """Whether config.json names the family; a broken one is told when it is opened."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.get("model_type") in _TYPES


@dataclass(frozen=True, slots=True)
class QwenFolder:
    """``rule``: the sizes in which pictures are shown; ``revision``: hash of the weights."""

    root: Path
    rule: PictureRule
    dim: int
    revision: str

    @classmethod
    def read(cls, root: Path, *, dim: int = 0, max_pixels: int = PUBLISHED_PIXELS) -> QwenFolder:
        """``dim``: how many numbers of the vector are kept, 0 for all.

        Raises EncoderError that names the file or setting and the way out.
        """
        try:
            checkpoint = Checkpoint.read(root, embedder=True)
            if not _embeds(root):
                raise EncoderError(
                    f"{root} holds a Qwen-VL model that chats; its vectors find nothing",
                    hint=_HINT + "; a chat model is the setting weights",
                )
            rule = PictureRule.of_folder(root)
            rule = rule.at_most(max(1, max_pixels // rule.factor**2))
        except ModelError as exc:
            raise EncoderError(exc.message, hint=exc.hint) from exc
        own = checkpoint.hidden_size
        if dim and not min(LEAST_DIM, own) <= dim <= own:
            raise EncoderError(
                f"the setting encoder_dim is {dim}, the vectors of {checkpoint.name} have {own}",
                hint=f"a number from {min(LEAST_DIM, own)} to {own}, or 0 for all",
            )
        files = [*root.glob("*.safetensors"), *root.glob("*.json"), *root.glob("*.jinja")]
        return cls(root, rule, dim or own, fingerprint(files, weights=(".safetensors",))[:16])


def _embeds(root: Path) -> bool:
    """By the files that embedding models have, the template's own instruction, or the name."""
    marked = any((root / mark).exists() for mark in MARKS_OF_EMBEDDERS)
    return marked or _PROMPT in chat_template(root) or "embed" in root.resolve().name.lower()
