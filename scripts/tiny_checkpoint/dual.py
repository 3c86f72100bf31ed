"""Dual encoders of a few MB with the real architectures and random weights, as ONNX folders in the
layouts of common exporters: two towers in ``onnx/`` or one model with both, at the top tokenizer
and preprocessing.

Needs torch, transformers and onnx (the engine environment). ``write`` gives back transformers' own
model, for comparison.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from tiny_checkpoint.folder import values
from tiny_checkpoint.tokenizer import corpus

SIDE, PATCH, WIDTH, LEARNED = 64, 16, 64, 1024
_TOWER = {
    "hidden_size": WIDTH,
    "intermediate_size": 2 * WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
_VISION = _TOWER | {"image_size": SIDE, "patch_size": PATCH}
_MOST_TOKENS = {"clip": 77, "siglip": 64, "siglip2": 64}


def write(out: Path, family: str, *, joint: bool = False) -> Any:
    """``family`` is a key of ``DUAL``; ``joint``: one file has both towers. What stands at ``out``
    already is overwritten."""
    import torch

    (out / "onnx").mkdir(parents=True, exist_ok=True)
    tokenizer = DUAL[family](out)
    model = _model(family, tokenizer)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if tensor.ndim >= 2:
                tensor.copy_(torch.from_numpy(values(name, tuple(tensor.shape))))
    _export_joint(out, model, family) if joint else _export(out / "onnx", model, family)
    _write_json(out / "config.json", model.config.to_dict() | {"torch_dtype": "float32"})
    _write_json(out / "preprocessor_config.json", _pictures(family))
    return model


def _model(family: str, tokenizer: Tokenizer) -> Any:
    import transformers

    vocabulary = {"vocab_size": tokenizer.get_vocab_size()}
    text = _TOWER | vocabulary | {"max_position_embeddings": _MOST_TOKENS[family]}
    if family == "clip":
        ends = ("<|startoftext|>", "<|endoftext|>")
        first, last = (tokenizer.token_to_id(end) for end in ends)
        text |= {"bos_token_id": first, "eos_token_id": last}
        config = transformers.CLIPConfig(
            text_config=text, vision_config=_VISION, projection_dim=WIDTH // 2
        )
        return transformers.CLIPModel(config).eval()
    config = transformers.SiglipConfig(text_config=text, vision_config=_VISION)
    return transformers.SiglipModel(config).eval()


def _export(folder: Path, model: Any, family: str) -> None:
    """The two towers, each with one output, the first axis free."""
    import torch

    class Tower(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

    class Pictures(Tower):
        def forward(self, pixel_values: Any) -> Any:
            return _pooled(self.model.get_image_features(pixel_values=pixel_values))

    class Words(Tower):
        def forward(self, input_ids: Any) -> Any:
            return _pooled(self.model.get_text_features(input_ids=input_ids))

    pixels = torch.zeros(2, 3, SIDE, SIDE)
    ids = torch.ones(2, 64 if family != "clip" else 9, dtype=torch.int64)
    names = ("image_embeds", "text_embeds") if family == "clip" else ("pooler_output",) * 2
    towers = (
        ("vision_model", Pictures(), pixels, "pixel_values", {0: "batch_size"}),
        ("text_model", Words(), ids, "input_ids", {0: "batch_size", 1: "sequence_length"}),
    )
    for (stem, tower, example, given, free), made in zip(towers, names, strict=True):
        axes = {given: free, made: {0: "batch_size"}}
        _to_onnx(folder / f"{stem}.onnx", tower, {given: example}, [made], axes)


def _export_joint(folder: Path, model: Any, family: str) -> None:
    """As one model, whose two batches may differ, with its other outputs before the vectors."""
    import torch

    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, pixel_values: Any, attention_mask: Any) -> Any:
            masks = {"attention_mask": attention_mask}
            made = self.model(input_ids=input_ids, pixel_values=pixel_values, **masks)
            return made.logits_per_image, made.logits_per_text, made.text_embeds, made.image_embeds

    ids = torch.ones(3, 64 if family != "clip" else 9, dtype=torch.int64)
    texts = {0: "text_batch_size", 1: "sequence_length"}
    axes = {"input_ids": texts, "pixel_values": {0: "image_batch_size"}, "attention_mask": texts}
    given = {"input_ids": ids, "pixel_values": torch.zeros(2, 3, SIDE, SIDE)}
    names = ["logits_per_image", "logits_per_text", "text_embeds", "image_embeds"]
    axes |= {"text_embeds": {0: "text_batch_size"}, "image_embeds": {0: "image_batch_size"}}
    _to_onnx(folder / "model.onnx", Both(), given | {"attention_mask": ids}, names, axes)


def _to_onnx(
    path: Path, model: Any, given: dict[str, Any], made: list[str], axes: dict[str, Any]
) -> None:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of traces that hold constants, and of its age
        torch.onnx.export(
            model.eval(),
            tuple(given.values()),
            str(path),
            dynamo=False,
            input_names=list(given),
            output_names=made,
            dynamic_axes=axes,
            opset_version=18,
        )


def _pooled(features: Any) -> Any:
    """transformers 5 gives an output with the vector in it."""
    return getattr(features, "pooler_output", features)


def _pictures(family: str) -> dict[str, Any]:
    if family == "clip":
        from tiny_checkpoint.families import CLIP_MEAN, CLIP_STD

        return {
            "do_center_crop": True,
            "crop_size": {"height": SIDE, "width": SIDE},
            "size": {"shortest_edge": SIDE},
            "resample": 3,
            "rescale_factor": 1 / 255,
            "image_mean": list(CLIP_MEAN),
            "image_std": list(CLIP_STD),
            "image_processor_type": "CLIPImageProcessor",
        }
    return {
        "size": {"height": SIDE, "width": SIDE},
        "resample": 3 if family == "siglip" else 2,
        "rescale_factor": 1 / 255,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "image_processor_type": "SiglipImageProcessor",
    }


# -- tokenizers ----------------------------------------------------------------------------


def _of_clip(out: Path) -> Tokenizer:
    """Byte-level pieces that end in ``</w>``, small letters, between two marks."""
    ends = ["<|startoftext|>", "<|endoftext|>"]
    made = Tokenizer(models.BPE(end_of_word_suffix="</w>", unk_token=ends[1]))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(words, behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=LEARNED,
            special_tokens=ends,
            end_of_word_suffix="</w>",
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    marks = [(end, made.token_to_id(end)) for end in ends]
    made.post_processor = processors.RobertaProcessing(
        marks[1], marks[0], trim_offsets=False, add_prefix_space=False
    )
    config = {"tokenizer_class": "CLIPTokenizer", "model_max_length": 77, "pad_token": ends[1]}
    return _saved(out, made, config | {"bos_token": ends[0], "eos_token": ends[1]})


def _of_siglip(out: Path) -> Tokenizer:
    """SentencePiece's unigrams, as exporters convert them; a text ends in ``</s>``."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.train_from_iterator(
        corpus(),
        trainers.UnigramTrainer(
            vocab_size=LEARNED,
            special_tokens=["<unk>", "</s>"],
            unk_token="<unk>",
            show_progress=False,
        ),
    )
    made.post_processor = _ended("</s>", made)
    config = {"tokenizer_class": "SiglipTokenizer", "model_max_length": 64}
    return _saved(out, made, config | {"pad_token": "</s>", "eos_token": "</s>"})


def _of_siglip2(out: Path) -> Tokenizer:
    """Gemma's pieces with bytes for what has none, small letters; a text ends in ``<eos>``."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    raw = [f"<0x{byte:02X}>" for byte in range(256)]
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", "▁")])
    made.pre_tokenizer = pre_tokenizers.Split(" ", behavior="merged_with_previous")
    made.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=LEARNED, special_tokens=[*special, *raw], show_progress=False
        ),
    )
    made.post_processor = _ended("<eos>", made)
    config = {"tokenizer_class": "GemmaTokenizer", "model_max_length": 64, "padding_side": "right"}
    return _saved(out, made, config | {"pad_token": "<pad>", "eos_token": "<eos>"})


def _ended(mark: str, tokenizer: Tokenizer) -> Any:
    return processors.TemplateProcessing(
        single=f"$A {mark}", special_tokens=[(mark, tokenizer.token_to_id(mark))]
    )


def _saved(out: Path, tokenizer: Tokenizer, config: dict[str, Any]) -> Tokenizer:
    tokenizer.save(str(out / "tokenizer.json"))
    _write_json(out / "tokenizer_config.json", config)
    return tokenizer


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, default=str) + "\n", "utf-8")


DUAL: dict[str, Callable[[Path], Tokenizer]] = {
    "clip": _of_clip,
    "siglip": _of_siglip,
    "siglip2": _of_siglip2,
}
