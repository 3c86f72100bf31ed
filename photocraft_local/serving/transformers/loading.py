"""From a folder of weights to a model that answers, on the GPU if there is one, else the CPU.

The folder and the free memory are checked before anything is loaded. Only local files are read,
and no code of the folder is run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError
from photocraft_local.serving.transformers import libraries, memory
from photocraft_local.serving.transformers.memory import Plan
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.devices import system_memory

_NUMBERS = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes of one


@dataclass(frozen=True, slots=True)
class Loaded:
    """``model`` and ``processor`` are transformers' own; ``where`` says device and numbers."""

    checkpoint: Checkpoint
    model: Any
    processor: Any
    plan: Plan
    where: str


def load(
    folder: Path,
    progress: Callable[[str], None],
    *,
    embedder: bool = False,
    device: str = "auto",
) -> Loaded:
    """``embedder``: the folder is of an embedding model; ``device`` is 'auto', 'cuda' or 'cpu'.

    Raises MissingExtraError, or ModelError that names the file and the way out.
    """
    libraries.prepare()
    checkpoint = Checkpoint.read(folder, embedder=embedder)
    if checkpoint.quantization:
        raise ModelError(
            f"{checkpoint.name} is quantised ({checkpoint.quantization}), which the transformers"
            " backbone does not load",
            hint="take a row of weights.md with bfloat16 weights, or install vLLM (the gpu extra)",
        )
    device, dtype = device_for(device)
    on_gpu, number = device == "cuda", _NUMBERS[dtype]
    memory.check(checkpoint, on_gpu=on_gpu, number=number, free=_free(on_gpu))
    if on_gpu:
        memory.check_passage(checkpoint, number=number, free=_free(False))
    where = f"on the {'GPU' if on_gpu else 'CPU'} in {dtype}"
    progress(f"loading {checkpoint.name} with transformers, {where}")
    processor, model = _opened(folder, device, dtype)
    plan = memory.plan(checkpoint, on_gpu=on_gpu, number=number, free=_free(on_gpu))
    progress(f"{checkpoint.name} is loaded {where}: a window of {plan.window:,} tokens")
    return Loaded(checkpoint, model, processor, plan, where)


def out_of_memory(exc: BaseException) -> bool:
    """Whether torch or Python found no memory; the CPU's allocator has no class for it."""
    import torch

    if isinstance(exc, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(exc, RuntimeError) and "can't allocate memory" in str(exc)


def release() -> None:
    """Gives the memory of dropped tensors back to the GPU."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def device_for(wanted: str) -> tuple[str, str]:
    """Device and numbers: 16 bits on a GPU, as the families are published, 32 on a CPU, which
    computes them faster. Raises ModelError where 'cuda' is wanted and there is none."""
    import torch

    if wanted == "cpu" or not torch.cuda.is_available():
        if wanted == "cuda":
            raise ModelError(
                "PyTorch finds no CUDA GPU here",
                hint="photocraft doctor shows the GPUs; 'auto' takes the CPU where there is none",
            )
        return "cpu", "float32"
    new = torch.cuda.get_device_capability() >= (8, 0)  # older ones have no bfloat16
    return "cuda", "bfloat16" if new else "float16"


def _free(on_gpu: bool) -> int:
    if not on_gpu:
        return system_memory()[1]
    import torch

    return int(torch.cuda.mem_get_info()[0])


def _opened(folder: Path, device: str, dtype: str) -> tuple[Any, Any]:
    import torch
    import transformers
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        processor = transformers.AutoProcessor.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        model = transformers.AutoModelForImageTextToText.from_pretrained(
            folder,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
        )
        return processor, model.eval().to(device)
    except Exception as exc:
        if out_of_memory(exc):
            hint = "end what else holds memory, or take a smaller row of weights.md"
        else:
            hint = "copy the folder again, all files of its row in weights.md"
        said = " ".join(str(exc).split())[:300]
        raise ModelError(
            f"transformers cannot load {folder}: {type(exc).__name__}: {said}", hint=hint
        ) from exc
