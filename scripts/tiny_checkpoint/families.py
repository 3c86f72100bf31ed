"""What the families are: model classes, small sizes in the real proportions, pixels, templates.

Facts only; tokenizer.py knows tokens, folder.py writes files. Sizes that code of an engine
branches on (patch, merge, window, M-RoPE sections, deepstack, head size 32) are kept real or in
proportion; widths and depths are as small as the engine takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
HIDDEN, HEADS, KV_HEADS, HEAD_DIM = 128, 4, 2, 32
MAX_PICTURE_TOKENS = 1280  # the published limits are 16384 tokens; an engine tries the limit out


@dataclass(frozen=True)
class Family:
    """One family: ``config`` and ``model`` name classes of transformers."""

    name: str
    model: str
    config: str
    since_qwen3: bool
    default_system: str = ""
    tied: bool = False
    text: dict[str, Any] = field(default_factory=dict)
    embeds: bool = False

    @property
    def patch(self) -> int:
        """Side of a patch in pixels; a token stands for 2 × 2 of them."""
        return 16 if self.since_qwen3 else 14

    def pixel_limits(self) -> tuple[int, int]:
        """Least and most pixels of a picture: 4 tokens (64 since Qwen3) to ``MAX_…``."""
        token = (2 * self.patch) ** 2
        return (64 if self.since_qwen3 else 4) * token, MAX_PICTURE_TOKENS * token


DENSE = {"num_hidden_layers": 2, "intermediate_size": 256}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 96}
QWEN3_VL = {"model": "Qwen3VLForConditionalGeneration", "config": "Qwen3VLConfig"}

FAMILIES = {
    family.name: family
    for family in (
        Family(
            "qwen2.5-vl",
            "Qwen2_5_VLForConditionalGeneration",
            "Qwen2_5_VLConfig",
            since_qwen3=False,
            text=DENSE,
        ),
        Family("qwen3-vl", **QWEN3_VL, since_qwen3=True, text=DENSE),
        Family(
            "qwen3-vl-moe",
            "Qwen3VLMoeForConditionalGeneration",
            "Qwen3VLMoeConfig",
            since_qwen3=True,
            text=DENSE | EXPERTS | {"decoder_sparse_step": 1, "mlp_only_layers": []},
        ),
        Family(
            "qwen3-vl-embedding",
            **QWEN3_VL,
            since_qwen3=True,
            default_system="Represent the user's input.",
            tied=True,
            text=DENSE,
            embeds=True,
        ),
    )
}


def text_config(family: Family, vocabulary: int, ids: dict[str, int]) -> dict[str, Any]:
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [4, 6, 6]}
    shape: dict[str, Any] = {"max_position_embeddings": 131072}
    if family.since_qwen3:
        rope |= {"rope_theta": 5e6, "mrope_section": [6, 5, 5], "mrope_interleaved": True}
        shape = {"max_position_embeddings": 262144, "head_dim": HEAD_DIM}
    return {
        "vocab_size": vocabulary,
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "rms_norm_eps": 1e-6,
        "rope_parameters": rope,
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "tie_word_embeddings": family.tied,
        **shape,
        **family.text,
    }


def vision_config(family: Family) -> dict[str, Any]:
    """Three layers: the second attends fully, or gives deepstack features with the first."""
    if family.since_qwen3:
        own: dict[str, Any] = {"num_position_embeddings": 2304, "deepstack_visual_indexes": [0, 1]}
    else:
        own = {"window_size": 112, "fullatt_block_indexes": [1]}
    return {
        "depth": 3,
        "hidden_size": 64,
        "num_heads": 2,
        "intermediate_size": 128,
        "out_hidden_size": HIDDEN,
        "patch_size": family.patch,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        **own,
    }


def model_config(family: Family, vocabulary: int, ids: dict[str, int]) -> Any:
    import transformers

    config = getattr(transformers, family.config)(
        text_config=text_config(family, vocabulary, ids),
        vision_config=vision_config(family),
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=family.tied,
    )
    config.architectures = [family.model]
    return config


def as_published(family: Family, saved: dict[str, Any]) -> dict[str, Any]:
    """config.json in the layout of the published files, where transformers 5 writes a newer one.

    Before Qwen3 the text model's fields stand at the top level.
    """
    text = saved["text_config"]
    rope = text.pop("rope_parameters")
    if "num_local_experts" in text:
        text["num_experts"] = text.pop("num_local_experts")
        text["norm_topk_prob"] = True  # transformers always does; vLLM reads it
    text["rope_theta"] = rope.pop("rope_theta")
    text["rope_scaling"] = rope
    saved["vision_config"].pop("rope_parameters", None)
    if family.since_qwen3:
        return saved
    rope["type"] = rope.pop("rope_type").replace("default", "mrope")
    del saved["text_config"], text["model_type"]
    return text | saved


def picture_config(family: Family) -> dict[str, Any]:
    """preprocessor_config.json, with the limits under the names that the family publishes."""
    least, most = family.pixel_limits()
    shared = {"patch_size": family.patch, "temporal_patch_size": 2, "merge_size": 2}
    if family.since_qwen3:
        return shared | {
            "size": {"shortest_edge": least, "longest_edge": most},
            "image_mean": [0.5] * 3,
            "image_std": [0.5] * 3,
            "image_processor_type": "Qwen2VLImageProcessorFast",
            "processor_class": "Qwen3VLProcessor",
        }
    return shared | {
        "min_pixels": least,
        "max_pixels": most,
        "image_mean": list(CLIP_MEAN),
        "image_std": list(CLIP_STD),
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen2_5_VLProcessor",
    }


def video_config(family: Family) -> dict[str, Any]:
    picture = picture_config(family)
    del picture["image_processor_type"]
    kind = "Qwen3VLVideoProcessor" if family.since_qwen3 else "Qwen2VLVideoProcessor"
    return picture | {"video_processor_type": kind}
