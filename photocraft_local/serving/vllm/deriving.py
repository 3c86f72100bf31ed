"""From settings and this machine to the command of the server: what `doctor` shows, and what runs.

Looks at files, GPUs and memory each time it is asked, since free memory changes. Starts nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from photocraft_local.errors import SettingsError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.command import ServeCommand, derive_command
from photocraft_local.serving.vllm.devices import choose_device
from photocraft_local.serving.vllm.environment import server_environment
from photocraft_local.serving.vllm.gpus import find_gpus
from photocraft_local.serving.vllm.memory import GIB, WINDOWS, Device, least_fit, ways
from photocraft_local.serving.vllm.place import ServerPlace
from photocraft_local.serving.vllm.program import find_program
from photocraft_local.settings import Settings


def weights_folder(settings: Settings) -> Path:
    """Raises SettingsError if it is not set."""
    if settings.weights is None:
        raise SettingsError(
            "a model as the backbone needs the setting weights: the folder of its files",
            hint="place a model as weights.md, Qwen-VL backbones, says, and set weights to its"
            " absolute path (PHOTOCRAFT_WEIGHTS, or in the settings file)",
        )
    return settings.weights


def place_of(settings: Settings) -> ServerPlace:
    return ServerPlace.of(settings.cache, weights_folder(settings))


def derive(settings: Settings) -> ServeCommand:
    """Checks weights, program, GPUs, memory and address in this order; raises at the first fault
    SettingsError, ModelError, MissingExtraError or UsageError."""
    checkpoint = Checkpoint.read(weights_folder(settings))
    program = find_program()
    chosen = choose_device(checkpoint, program, find_gpus())
    place = place_of(settings)
    endpoint = place.endpoint(settings.server_port)
    return derive_command(program, checkpoint, chosen, endpoint, place.media)


def environment_of(command: ServeCommand, place: ServerPlace) -> dict[str, str]:
    return server_environment(
        os.environ,
        place.caches,
        place.scratch,
        gpus=tuple(sorted(gpu.index for gpu in command.chosen.gpus)),
        for_cpu=command.chosen.device.kind == "cpu",
        token=command.endpoint.token,
    )


def needs(checkpoint: Checkpoint) -> list[str]:
    """What one GPU would have to have free, in words, for a machine that has none."""
    plain = Device("cuda", 1, 0, 0, (8, 0))
    newer = Device("cuda", 1, 0, 0, (8, 9))
    full = next(fit for fit in ways(checkpoint, plain) if fit.batched == 2048)
    lines = [_need("16-bit", full.window, full.needed)]
    least = least_fit(checkpoint, plain)
    if least.window < min(WINDOWS[0], checkpoint.longest_window):
        lines.append(_need("16-bit", least.window, least.needed))
    if (small := least_fit(checkpoint, newer)).needed < least.needed:
        lines.append(_need("FP8 (compute capability 8.9 or newer)", small.window, small.needed))
    return lines


def _need(kind: str, window: int, size: int) -> str:
    whole = (size + GIB) / 0.95  # the reserve, and what a card states but never gives
    return f"{kind}: {whole / GIB:.0f} GiB for a window of {window:,} tokens"


def local_endpoint(settings: Settings) -> Endpoint | None:
    """The server that the person runs, if one is set. Raises UsageError."""
    return Endpoint.parse(settings.backbone_url) if settings.backbone_url else None
