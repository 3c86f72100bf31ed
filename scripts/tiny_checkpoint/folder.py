"""Writes a checkpoint folder as the families publish them: configs, tokenizer, templates, weights.

Weights come from a seeded generator per tensor name, so they depend neither on the order in which
a model builds its layers nor on how torch draws random numbers.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tiny_checkpoint import families
from tiny_checkpoint.families import Family
from tiny_checkpoint.tokenizer import PLAIN, PLAIN_SINCE_QWEN3, SPECIAL, train

CHAT = Path(__file__).resolve().parent / "chat"
VOCABULARY_STEP = 64  # rows of the embedding are padded, as in the published checkpoints


def write(out: Path, family: Family, thinking: bool = False) -> None:
    """A whole folder at ``out``; what stands there already is overwritten, nothing is removed."""
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = train(family.since_qwen3)
    tokens = SPECIAL + PLAIN + (PLAIN_SINCE_QWEN3 if family.since_qwen3 else ())
    ids = dict(zip(tokens, tokenizer.convert_tokens_to_ids(list(tokens)), strict=True))
    vocabulary = -(-len(tokenizer) // VOCABULARY_STEP) * VOCABULARY_STEP
    _write_weights(out, family, families.model_config(family, vocabulary, ids))
    _write_generation(out, ids)
    _write_json(out / "preprocessor_config.json", families.picture_config(family))
    _write_json(out / "video_preprocessor_config.json", families.video_config(family))
    tokenizer.save_pretrained(out)
    _write_templates(out, family, thinking)
    if family.embeds:
        _write_modules(out)


def _write_weights(out: Path, family: Family, config: Any) -> None:
    import torch
    import transformers

    model = getattr(transformers, family.model)(config).to(torch.float32)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if tensor.ndim >= 2:
                tensor.copy_(torch.from_numpy(values(name, tuple(tensor.shape))))
    model.save_pretrained(out)
    _turn_experts(out / "model.safetensors")
    path = out / "config.json"
    _write_json(path, families.as_published(family, json.loads(path.read_text("utf-8"))))


def _turn_experts(path: Path) -> None:
    """Published files hold experts as (expert, in, out), transformers 5 as (expert, out, in)."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(path)
    experts = [name for name in tensors if ".mlp.experts." in name]
    if experts:
        turned = {name: tensors[name].transpose(1, 2).contiguous() for name in experts}
        save_file(tensors | turned, path, metadata={"format": "pt"})


def values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Wider than models are born: at the usual 0.02 greedy output is one token for any prompt."""
    spread = 1.6 / float(np.prod(shape[1:])) ** 0.5
    if "experts" in name:  # (expert, out, in)
        spread = 1.6 / shape[2] ** 0.5
    elif "embed_tokens" in name:
        spread = 1.0
    elif "lm_head" in name:
        spread = 0.25
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return generator.standard_normal(shape, dtype=np.float32) * np.float32(spread)


def _write_generation(out: Path, ids: dict[str, int]) -> None:
    from transformers import GenerationConfig

    GenerationConfig(
        bos_token_id=ids["<|endoftext|>"],
        eos_token_id=[ids["<|im_end|>"], ids["<|endoftext|>"]],
        pad_token_id=ids["<|endoftext|>"],
        do_sample=True,
        temperature=0.7,
        top_p=0.8,
        top_k=20,
    ).save_pretrained(out)


def _write_templates(out: Path, family: Family, thinking: bool) -> None:
    """The processor's template in chat_template.json, the tokenizer's in its own config.

    For Qwen2.5-VL the two differ: pictures without tools, tools without pictures.
    """
    if family.since_qwen3:
        head = f"{{%- set thinking = {str(thinking).lower()} -%}}\n"
        head += f"{{%- set default_system = {json.dumps(family.default_system)} -%}}\n"
        of_processor = of_tokenizer = head + (CHAT / "qwen3_vl.jinja").read_text("utf-8")
    else:
        of_processor = (CHAT / "qwen2_5_vl.jinja").read_text("utf-8")
        of_tokenizer = (CHAT / "qwen2_5_text_tools.jinja").read_text("utf-8")
    _write_json(out / "chat_template.json", {"chat_template": of_processor})
    path = out / "tokenizer_config.json"
    config = json.loads(path.read_text("utf-8"))
    config |= {"chat_template": of_tokenizer, "tokenizer_class": "Qwen2Tokenizer"}
    _write_json(path, config)


def _write_modules(out: Path) -> None:
    """What says that the folder embeds, and how: the last token's state, to unit length."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (path, kind) in enumerate(kinds.items())
    ]
    pooling = {"word_embedding_dimension": families.HIDDEN, "pooling_mode_lasttoken": True}
    _write_json(out / "modules.json", modules)
    _write_json(out / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
    (out / "1_Pooling").mkdir(exist_ok=True)
    _write_json(out / "1_Pooling/config.json", pooling)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
