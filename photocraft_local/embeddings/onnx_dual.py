"""CLIP, SigLIP and SigLIP 2 folders in ONNX form that a person placed.

Owns running both towers by their declared inputs and outputs, whatever the exporter called
them, in batches where the graph takes them. Loads a tower when it is first used: a text needs no
vision model.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from photocraft_local.embeddings.onnx_folder import DualFolder, PictureRules, whole_number
from photocraft_local.embeddings.onnx_session import open_session, open_tokenizer, runs_on
from photocraft_local.embeddings.qwen.packing import halved
from photocraft_local.errors import EncoderError
from photocraft_local.library.batches import batches

_HINT = "weights.md says which exports of CLIP, SigLIP and SigLIP 2 work"
_MULTILINGUAL = 100_000  # vocabularies of the English-only CLIP and SigLIP are far smaller
_LONGEST = 512
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Of transformers' exporters, then of OpenCLIP's, older ones of which gave any name.
_TEXT_OUTPUTS = ("text_embeds", "pooler_output", "text_embedding")
_VISION_OUTPUTS = ("image_embeds", "pooler_output", "image_embedding")
_FULL = ("memoryerror", "failed to allocate memory", "bad_alloc", "bad allocation", "out of memory")
_MOST_AT_ONCE = 32  # pictures of one run
_DTYPES: dict[str, Any] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}
# Similarity of unrelated texts and photos as published for the two families; the library's own
# statistics are blended in when searching.
_CALIBRATIONS = {"clip": Calibration(0.17, 0.03, 3.0), "siglip": Calibration(0.0, 0.03, 3.0)}


class OnnxDualEncoder:
    """``Encoder`` over such a folder. ``threads`` is the number of cores one call may use;
    ``device`` is that of ``open_session``."""

    concurrency = 64  # so many calls of ``encode_images`` may run at once, on a core each

    def __init__(self, folder: Path, *, threads: int = 1, device: str = "cpu") -> None:
        self._folder = DualFolder.find(folder)
        self._rules = PictureRules.read(self._folder.preprocessor)
        self._threads, self._device = threads, device

    @cached_property
    def spec(self) -> EncoderSpec:
        side = self._rules.shortest or max(self._rules.height, self._rules.width)
        cut = "cut, its longer side rounded down: " if self._rules.shortest else ""
        return EncoderSpec(
            space_name(self._folder.root) or "onnx",
            self._folder.fingerprint()[:16],
            f"2, {cut}{self._rules!r}",
            self._dim,
            side,
        )

    @property
    def calibration(self) -> Calibration:
        return _CALIBRATIONS["siglip" if self._is_siglip else "clip"]

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Unit vectors (n, dim); nan where the model gave none.

        Raises:
            MissingExtraError: onnxruntime is not installed.
            EncoderError: the vision model does not take or give what a dual encoder does.
            UsageError: what are no pictures.
        """
        if not images:
            return np.zeros((0, self._dim), np.float32)
        check_pictures(images)
        most = _MOST_AT_ONCE if _takes_batches(self._vision) else 1
        parts = [part for piece in batches(images, most) for part in self._by_memory(piece)]
        return self._checked(np.concatenate(parts))

    def encode_text(self, text: str) -> TextEmbedding:
        """The query's unit vector. A model of English only is not asked about words in other
        scripts: its tokenizer would take their bytes for something."""
        text = text.encode("utf-8", "replace").decode()  # no half characters, out of file names
        words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text)
        foreign = {word for word in words if not self._is_multilingual and _is_foreign(word)}
        understood = tuple(dict.fromkeys(word for word in words if word not in foreign))
        not_understood = tuple(dict.fromkeys(word for word in words if word in foreign))
        if not understood:
            return TextEmbedding(None, (), not_understood)
        asked = " ".join(w for w in text.split() if not any(word in w for word in foreign))
        vector = self._checked(self._run_text(asked)[None])[0]
        if not np.isfinite(vector).all():
            raise EncoderError(f"{self._folder.text} gave no vector for a text", hint=_HINT)
        return TextEmbedding(vector, understood, not_understood)

    @property
    def where(self) -> str:
        """'CUDA' or 'CPU', by trying: the text model is loaded for it."""
        return runs_on(self._text)

    # Running

    def _run_vision(self, pictures: NDArray[Any]) -> Vectors:
        feed: dict[str, Any] = {"pixel_values": pictures, "image": pictures}
        if self._folder.vision == self._folder.text:  # both towers always run
            feed |= self._text_feed([0], [1])
        return _embeddings(self._vision, feed, self._named(self._vision, _VISION_OUTPUTS))

    def _by_memory(self, images: Sequence[Pixels]) -> list[Vectors]:
        """In one run, or in as many as memory asks for."""

        def run(at: Sequence[int]) -> Vectors:
            pictures = [images[i] for i in at]
            return self._run_vision(self._rules.apply(pictures, as_bytes=self._takes_bytes))

        return [vectors for _, vectors in halved(range(len(images)), run, _is_full)]

    def _checked(self, vectors: Vectors) -> Vectors:
        if vectors.shape[1] != self._dim:
            raise EncoderError(
                f"{self._folder.root} gives vectors of {vectors.shape[1]} numbers, of {self._dim}"
                " by its config.json or its other model",
                hint="both models and config.json must be of one export; place the folder anew",
            )
        return vectors

    def _run_text(self, text: str) -> NDArray[np.float32]:
        encoding = self._tokenizer.encode(self._asked(text))
        # SigLIP never learned to leave out what its texts are padded with.
        mask = [1] * len(encoding.ids) if self._is_siglip else encoding.attention_mask
        feed = self._text_feed(encoding.ids, mask)
        if self._folder.vision == self._folder.text:
            blank = np.zeros((1, 3, self._rules.height, self._rules.width), np.float32)
            feed["pixel_values"] = blank
        names = self._named(self._text, _TEXT_OUTPUTS)
        vector: NDArray[np.float32] = _embeddings(self._text, feed, names)[0]
        return vector

    def _asked(self, text: str) -> str:
        """As the family's texts were prepared when it was trained; the first SigLIP had neither
        capitals nor punctuation, and exporters' tokenizers take that as done."""
        if self._is_first_siglip:
            text = " ".join(text.translate(_NO_PUNCTUATION).split())
        return text.lower() if self._lowers else text

    def _text_feed(self, ids: list[int], mask: list[int]) -> dict[str, Any]:
        return {
            "input_ids": np.array([ids]),
            "text": np.array([ids]),
            "attention_mask": np.array([mask]),
            "position_ids": np.arange(len(ids))[None],
        }

    def _named(self, session: Any, names: tuple[str, ...]) -> tuple[str, ...]:
        outputs = [output.name for output in session.get_outputs()]
        return (*names, *outputs) if self._folder.is_openclip and len(outputs) == 1 else names

    @cached_property
    def _takes_bytes(self) -> bool:
        """A model that normalises by itself, as newer exports of OpenCLIP do."""
        kinds = {argument.name: argument.type for argument in self._vision.get_inputs()}
        return kinds.get("image") == "tensor(uint8)"

    @cached_property
    def _vision(self) -> Any:
        return open_session(self._folder.vision, threads=self._threads, device=self._device)

    @cached_property
    def _text(self) -> Any:
        if self._folder.vision == self._folder.text:
            return self._vision
        return open_session(self._folder.text, threads=self._threads, device=self._device)

    @cached_property
    def _dim(self) -> int:
        """Stated by the folder, declared by the text model, or found by running it once."""
        stated = whole_number(self._folder.config.get("projection_dim"))
        if stated:
            return stated
        for output in self._text.get_outputs():
            if output.name == "text_embeds" and isinstance(output.shape[-1], int):
                return int(output.shape[-1])
        return len(self._run_text("a photo"))

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = open_tokenizer(self._folder.tokenizer, hint=_HINT)
        tokenizer.enable_truncation(self._max_tokens)
        tokenizer.encode_special_tokens = True  # a mark in a query is text, and ends nothing
        # SigLIP was trained on texts padded to one length, without a mask; OpenCLIP's exports take
        # no other length.
        if self._is_siglip or self._folder.is_openclip:
            config = self._folder.json("tokenizer_config.json")
            pad = config.get("pad_token") or "<pad>"
            pad = str(pad.get("content") if isinstance(pad, dict) else pad)
            tokenizer.enable_padding(
                direction="left" if config.get("padding_side") == "left" else "right",
                pad_token=pad,
                pad_id=tokenizer.token_to_id(pad) or 0,
                length=self._max_tokens,
            )
        else:
            tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _max_tokens(self) -> int:
        text = self._folder.config.get("text_config")
        of_model = text.get("max_position_embeddings") if isinstance(text, dict) else None
        of_tokenizer = self._folder.json("tokenizer_config.json").get("model_max_length")
        default = 64 if self._is_siglip else 77
        longest = whole_number(of_model) or whole_number(of_tokenizer, default)
        return longest if longest <= _LONGEST else default

    @cached_property
    def _is_siglip(self) -> bool:
        return "siglip" in str(self._folder.config.get("model_type", "")).lower()

    @cached_property
    def _is_first_siglip(self) -> bool:
        """SigLIP 2 has the same type of model, and Gemma's tokenizer of many languages."""
        if self._folder.cleans_texts is not None:
            return self._folder.cleans_texts
        kind = str(self._folder.json("tokenizer_config.json").get("tokenizer_class", ""))
        known = not kind.startswith(("Gemma", "Siglip2"))
        return self._is_siglip and known and not self._is_multilingual

    @cached_property
    def _lowers(self) -> bool:
        config = self._folder.json("tokenizer_config.json")
        cleans = self._folder.cleans_texts
        return (self._is_siglip if cleans is None else cleans) or bool(config.get("do_lower_case"))

    @cached_property
    def _is_multilingual(self) -> bool:
        return bool(self._tokenizer.get_vocab_size() >= _MULTILINGUAL)


def _is_foreign(word: str) -> bool:
    """Letters beyond Latin-1."""
    return any(letter.isalpha() and ord(letter) > 0xFF for letter in word)


def _is_full(exc: BaseException) -> bool:
    """That memory ran out, in the words of onnxruntime's allocators."""
    said = f"{exc!r} {exc.__cause__!r}".lower()
    return any(word in said for word in _FULL)


def _takes_batches(session: Any) -> bool:
    """Whether the first axis of its pictures is free."""
    shapes = {argument.name: argument.shape for argument in session.get_inputs()}
    pictures = shapes.get("pixel_values") or shapes.get("image") or [None]
    return not isinstance(pictures[0], int)


def _embeddings(session: Any, feed: dict[str, Any], names: tuple[str, ...]) -> Vectors:
    """Unit vectors (rows, dim) that a tower gives, by its first output of ``names``; nan for a
    row without a direction."""
    outputs = [output.name for output in session.get_outputs()]
    name = next((name for name in names if name in outputs), None)
    inputs = {argument.name: argument.type for argument in session.get_inputs()}
    unknown = sorted(set(inputs) - set(feed))
    rows = len(next(iter(feed.values())))  # of its pictures, or one text
    if name is None or unknown:
        raise EncoderError(
            f"the model has inputs {sorted(inputs)} and outputs {outputs}; "
            f"a dual encoder has {sorted(feed)} and one of {list(names)}",
            hint=_HINT,
        )
    typed = {
        key: feed[key].astype(_DTYPES[kind], copy=False) if kind in _DTYPES else feed[key]
        for key, kind in inputs.items()
    }
    try:
        (found,) = session.run([name], typed)
    except Exception as exc:  # onnxruntime raises its own unrelated classes
        raise EncoderError(f"the model refused its input: {exc}", hint=_HINT) from exc
    made = np.asarray(found, np.float32)
    if made.ndim != 2 or len(made) != rows:
        raise EncoderError(f"output {name!r} of shape {made.shape} is no vector", hint=_HINT)
    return unit_rows(made)
