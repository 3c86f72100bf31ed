"""How the engine tests start vLLM and speak to it: options, messages, greedy sampling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BLOCK = 32  # tokens; the CPU back end takes multiples of 32
OPTIONS: dict[str, Any] = {
    "dtype": "float32",  # "auto" would turn these weights into bfloat16
    "max_model_len": 16384,  # the tools alone take 9,000 of these small tokens
    "max_num_seqs": 32,
    "block_size": BLOCK,
    "kv_cache_memory_bytes": 64 << 20,
    "enforce_eager": True,
    "limit_mm_per_prompt": {"image": 4, "video": 0},
    "distributed_executor_backend": "uni",
    "structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": True},
    "disable_log_stats": False,  # else the engine keeps no counters
    "generation_config": "vllm",  # no sampling defaults from the folder
}
CLASSES = {
    "Qwen2_5_VLForConditionalGeneration": "qwen2_5_vl",
    "Qwen3VLForConditionalGeneration": "qwen3_vl",
    "Qwen3VLMoeForConditionalGeneration": "qwen3_vl_moe",
}


def start(folder: Path, **more: Any) -> Any:
    from vllm import LLM

    _inspect_here()
    return LLM(model=str(folder), **(OPTIONS | more))


def _inspect_here() -> None:
    """Registers the model classes themselves: vLLM would start a process to look at each."""
    from importlib import import_module

    from vllm import ModelRegistry

    for name, module in CLASSES.items():
        cls = getattr(import_module(f"vllm.model_executor.models.{module}"), name)
        ModelRegistry.register_model(name, cls)


def greedy(tokens: int = 12, **more: Any) -> Any:
    from vllm import SamplingParams

    options = {"temperature": 0, "max_tokens": tokens, "ignore_eos": True}
    return SamplingParams(**(options | more))


def picture(image: object, uid: str | None = None, kind: str = "image_pil") -> dict[str, Any]:
    """A part of a message; with a ``uid`` the engine knows the picture by that name."""
    return {"type": kind, kind: image} | ({"uuid": uid} if uid else {})


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def counters(llm: Any) -> dict[str, int]:
    """The engine's own counters, by name without the prefix."""
    return {
        metric.name.removeprefix("vllm:"): int(metric.value)
        for metric in llm.get_metrics()
        if hasattr(metric, "value")
    }
