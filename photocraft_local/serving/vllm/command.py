"""The ``vllm serve`` command for a checkpoint on this machine, with the reason for every flag.

Checks that it fits first. Starts nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.devices import Chosen
from photocraft_local.serving.vllm.families import smaller_rows
from photocraft_local.serving.vllm.gpus import memory_users
from photocraft_local.serving.vllm.limits import Limits, limits_of
from photocraft_local.serving.vllm.memory import GIB, Device, Fit, best_fit, least_fit
from photocraft_local.serving.vllm.program import TESTED, Program

MODEL_NAME = "photocraft"
_AT_ONCE = {"cuda": 64, "cpu": 8}
_CPU_BLOCK = 32  # tokens; the CPU build takes multiples of 32
_CPU_EPISODES = 4  # full windows that the cache on the CPU holds, memory allowing


@dataclass(frozen=True, slots=True)
class Flag:
    """``value`` is "" for a switch."""

    name: str
    value: str
    why: str

    @property
    def words(self) -> list[str]:
        return [self.name, self.value] if self.value else [self.name]


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """Everything about a server before it is started."""

    program: Program
    checkpoint: Checkpoint
    chosen: Chosen
    fit: Fit
    flags: tuple[Flag, ...]
    limits: Limits
    endpoint: Endpoint

    @property
    def argv(self) -> list[str]:
        words = [word for flag in self.flags for word in flag.words]
        return [str(self.program.path), "serve", str(self.checkpoint.folder), *words]


def derive_command(
    program: Program, checkpoint: Checkpoint, chosen: Chosen, endpoint: Endpoint, media: Path
) -> ServeCommand:
    """``media``: the only folder that pictures are read from.

    Raises ModelError if the model does not fit into the memory that is free.
    """
    device = chosen.device
    _check_number_type(checkpoint, device)
    fit = best_fit(checkpoint, device)
    if fit is None:
        raise too_little_memory(checkpoint, chosen)
    limits = limits_of(checkpoint, fit)
    flags = (
        *_place_flags(endpoint, media),
        *_memory_flags(checkpoint, device, fit),
        *_picture_flags(limits, device, fit),
        *_device_flags(checkpoint, chosen, fit),
        *_reply_flags(checkpoint),
    )
    return ServeCommand(program, checkpoint, chosen, fit, flags, limits, endpoint)


def too_little_memory(checkpoint: Checkpoint, chosen: Chosen) -> ModelError:
    device = chosen.device
    need = least_fit(checkpoint, device).needed
    where = "of the system's memory" if device.kind == "cpu" else "on each GPU"
    smaller = smaller_rows(checkpoint.model_type, checkpoint.hidden_size, checkpoint.layers)
    way = f"weights.md has smaller rows, e.g. {smaller[0]}; or " if smaller else ""
    users = memory_users() if device.kind == "cuda" else []
    held = f" (now {', '.join(users[:3])})" if users else ""
    return ModelError(
        f"{checkpoint.name} needs {_gib(need)} {where} ({chosen.why}),"
        f" {_gib(device.budget)} of {_gib(device.total)} can be used now",
        hint=f"{way}end what else holds memory there{held}, and try again",
    )


def _check_number_type(checkpoint: Checkpoint, device: Device) -> None:
    if device.kind == "cuda" and checkpoint.quantization == "fp8" and not device.fp8:
        have = ".".join(map(str, device.capability))
        row = checkpoint.name.removesuffix("-FP8")
        raise ModelError(
            f"{checkpoint.name} holds FP8 weights; this GPU has compute capability {have}, FP8"
            " needs 8.9",
            hint=f"take the 16-bit weights instead: weights.md, row {row}",
        )
    if device.kind == "cpu" and checkpoint.quantization:
        raise ModelError(
            f"{checkpoint.name} is quantised ({checkpoint.quantization}), which the CPU cannot run",
            hint="take a row of weights.md with bfloat16 weights",
        )


def _place_flags(endpoint: Endpoint, media: Path) -> list[Flag]:
    if endpoint.socket:
        place = [Flag("--uds", str(endpoint.socket), "a socket that only you can open")]
    else:
        host, _, port = endpoint.url.removeprefix("http://").rpartition(":")
        place = [
            Flag("--host", host.strip("[]"), "this machine only; every request needs a secret"),
            Flag("--port", port, "the setting server_port"),
        ]
    return [
        *place,
        Flag("--served-model-name", MODEL_NAME, "so that requests name no folder"),
        Flag("--allowed-local-media-path", str(media), "pictures are read from there only"),
        Flag("--allowed-media-domains", "photocraft.invalid", "no picture is fetched from a web"),
        Flag("--allowed-origins", "[]", "no web page may ask the server"),
        Flag("--disable-fastapi-docs", "", "its pages would load scripts from a web"),
        Flag("--disable-uvicorn-access-log", "", "the log stays short"),
        Flag("--no-enable-log-requests", "", "questions stay out of the log"),
    ]


def _memory_flags(checkpoint: Checkpoint, device: Device, fit: Fit) -> list[Flag]:
    per_token = f"{fit.kv_per_token / 1024:,.0f} KiB a token"
    longest = f"the model takes {checkpoint.longest_window:,}"
    held = min(fit.episodes, 999)
    flags = [
        Flag(
            "--max-model-len",
            str(fit.window),
            f"{longest}; {per_token} leave room for {held:.1f} such windows",
        )
    ]
    if device.kind == "cpu":
        size = int(min(fit.kv_room, _CPU_EPISODES * fit.kv_per_token * fit.window))
        why = f"{min(fit.episodes, _CPU_EPISODES):.1f} windows; memory is shared with all else"
        flags += [
            Flag("--kv-cache-memory-bytes", str(size), why),
            Flag("--block-size", str(_CPU_BLOCK), "the finest prefix that the CPU build caches"),
        ]
    else:
        share = f"{device.share:.2f}"
        why = f"{_gib(device.free)} of {_gib(device.total)} are free, 1 GiB of it stays so"
        flags.append(Flag("--gpu-memory-utilization", share, why))
    if fit.kv_fp8:
        why = f"16-bit keys would not leave {fit.window:,} tokens; this GPU computes FP8"
        flags.append(Flag("--kv-cache-dtype", "fp8", why))
    else:
        why = "as the model's" if device.fp8 else "as the model's; FP8 needs capability 8.9"
        flags.append(Flag("--kv-cache-dtype", "auto", why))
    if fit.weights_fp8:
        why = f"made FP8 while loading: 16 bits leave no window of {fit.window:,} tokens"
        flags.append(Flag("--quantization", "fp8", why))
    return [*flags, Flag("--enable-prefix-caching", "", "turns reuse what came before them")]


def _picture_flags(limits: Limits, device: Device, fit: Fit) -> list[Flag]:
    pixels = {"shortest_edge": limits.min_pixels, "longest_edge": limits.max_pixels}
    return [
        Flag(
            "--limit-mm-per-prompt",
            _json({"image": limits.pictures, "video": 0}),
            "one view shows up to 20, and earlier ones stay until compaction; no videos",
        ),
        Flag(
            "--mm-processor-kwargs",
            _json({"size": pixels}),
            f"at most {limits.picture_tokens:,} tokens a picture; ours come in the right size",
        ),
        Flag(
            "--max-num-batched-tokens",
            str(fit.batched),
            f"a step and the encoder's cache hold one picture ({limits.picture_tokens:,} tokens)",
        ),
        Flag("--max-num-seqs", str(_AT_ONCE[device.kind]), "requests that are computed together"),
    ]


def _device_flags(checkpoint: Checkpoint, chosen: Chosen, fit: Fit) -> list[Flag]:
    device = chosen.device
    flags = [Flag("--dtype", *_dtype(checkpoint, device))]
    if device.kind == "cpu":
        return [
            *flags,
            Flag("--enforce-eager", "", "compiling costs more than it saves on a CPU"),
            Flag("--distributed-executor-backend", "uni", "one process less"),
        ]
    flags.append(Flag("--tensor-parallel-size", str(device.count), chosen.why))
    if device.count > 1:
        why = "the vision tower is small: each GPU sees other pictures"
        flags.append(Flag("--mm-encoder-tp-mode", "data", why))
    return flags


def _dtype(checkpoint: Checkpoint, device: Device) -> tuple[str, str]:
    if device.kind == "cuda" and device.capability < (8, 0):
        return "float16", "this GPU has no bfloat16 (compute capability below 8.0)"
    if checkpoint.dtype in ("float32", "float16", "bfloat16"):
        return checkpoint.dtype, "as config.json states"
    return "bfloat16", "what the family is published in"


def _reply_flags(checkpoint: Checkpoint) -> list[Flag]:
    guided = {"backend": "guidance", "disable_any_whitespace": True}
    why = "a thinking variant: reasoning comes apart, and the schema holds what follows it"
    thinking = [Flag("--reasoning-parser", "qwen3", why)] if checkpoint.thinks else []
    return [
        *thinking,
        Flag(
            "--structured-outputs-config",
            _json(guided),
            "replies are strict JSON of our schema, without idle whitespace",
        ),
        Flag("--generation-config", "vllm", "no sampling defaults but ours"),
        Flag("--enable-prompt-tokens-details", "", "replies state how much came from the cache"),
    ]


def version_note(program: Program) -> str:
    """ "" if it is the version that is tested."""
    if program.version == TESTED:
        return ""
    return f"vLLM {program.version or 'of unknown version'}; tested is {TESTED}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _gib(size: int) -> str:
    return f"{size / GIB:.1f} GiB"
