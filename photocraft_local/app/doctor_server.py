"""The doctor's look at the model server: GPUs, weights, the derived command with its reasons.

Starts nothing. What cannot run here is a fault only where the settings want it to.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from photocraft_local.app.backbones import available, chosen
from photocraft_local.app.findings import Finding, State
from photocraft_local.errors import PhotocraftError, SettingsError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.command import ServeCommand, version_note
from photocraft_local.serving.vllm.counters import cache_counters
from photocraft_local.serving.vllm.deriving import (
    derive,
    local_endpoint,
    needs,
    place_of,
    weights_folder,
)
from photocraft_local.serving.vllm.gpus import find_gpus, memory_users
from photocraft_local.serving.vllm.limits import Limits
from photocraft_local.serving.vllm.memory import GIB
from photocraft_local.serving.vllm.outside import OutsideServer
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.settings import Settings

_CHECK_SECONDS = 30.0
PROVEN = (
    "on a CPU alone, with checkpoints of a few MB and random weights: vLLM 0.32.0's server and its"
    " flags, both families, pictures, calls held by a schema, caches, restarts, no network"
)
NOT_PROVEN = (
    "nothing ran on a GPU: GPU memory shares, FP8, several GPUs and CUDA graphs follow vLLM's own"
    " documentation and sources; no Qwen weights were run, so nothing is said of their answers"
)


def gpus(settings: Settings) -> Iterator[Finding]:
    """Each GPU with its free memory; none is no fault, since only a Qwen-VL model needs one."""
    del settings
    report = find_gpus()
    for gpu in report.gpus:
        memory = f"{gpu.free / GIB:.1f} of {gpu.total / GIB:.1f} GiB free"
        memory = memory if gpu.total else "memory shared with the system"
        detail = f"{gpu.index} {gpu.name}: {memory}, compute capability"
        detail += f" {gpu.capability[0]}.{gpu.capability[1]}, driver {gpu.driver};"
        yield Finding("gpu", "ok", f"{detail} for a model only")
    if report.gpus and (users := memory_users()):
        yield Finding("gpu memory", "ok", "held by " + ", ".join(users[:5]))
    if not report.gpus:
        detail = f"none is used, everything but a Qwen-VL model runs on the CPU ({report.problem})"
        yield Finding("gpu", "ok", detail)


def backbones(settings: Settings) -> Iterator[Finding]:
    """Which can run here, whatever the settings say, and which one they choose."""
    for ability in available():
        here = "is here" if ability.able else "is not here"
        yield Finding(f"backbone {ability.name}", "ok", f"{here}: {ability.why}")
    name = chosen(settings)
    why = "the setting backbone" if settings.backbone != "auto" else _why_auto(settings)
    yield Finding("backbone", "ok", f"questions go to {name}: {why}")


def _why_auto(settings: Settings) -> str:
    if settings.backbone_url:
        return "auto, and backbone_url is set"
    return "auto, and weights is set" if settings.weights else "auto, and no model is set"


def server(settings: Settings) -> Iterator[Finding]:
    """The person's own server, or the command of a managed one and why it is that; of a model
    that needs no server, its weights."""
    choice = _choice(settings)
    bad: State = "warning" if choice == "planner" else "fault"
    if settings.backbone_url:
        yield from _outside(settings, bad)
    elif settings.weights is None and choice == "planner":
        yield Finding(
            "model server", "ok", "not set up: weights names no folder; the planner answers"
        )
    elif choice == "transformers":
        yield _local(settings)
    else:
        yield from _managed(settings, bad)


def _local(settings: Settings) -> Finding:
    try:
        return _weights(Checkpoint.read(weights_folder(settings)))
    except PhotocraftError as error:
        return Finding("weights", "fault", error.message, error.hint)


def _choice(settings: Settings) -> str:
    """ "" for settings that contradict one another, which ``backbones`` reports."""
    try:
        return chosen(settings)
    except SettingsError:
        return ""


def proven(settings: Settings) -> Iterator[Finding]:
    """What no test of this program has seen, for whoever is the first to run it."""
    if settings.weights or settings.backbone_url:
        yield Finding("proven", "ok", PROVEN)
        yield Finding("not proven", "ok", NOT_PROVEN)


def _outside(settings: Settings, bad: State) -> Iterator[Finding]:
    try:
        endpoint = local_endpoint(settings)
        assert endpoint is not None
        served = OutsideServer(settings, endpoint)
        served.check(_CHECK_SECONDS)
        limits, notes = served.limits, served.notes
    except PhotocraftError as error:
        yield Finding("model server", bad, error.message, error.hint)
        return
    window = f"window of {limits.window:,} tokens"
    yield Finding("model server", "ok", f"{endpoint} answers: {served.model}, {window}")
    if served.measured.factor:
        side = f"{limits.factor} × {limits.factor}"
        detail = f"a token stands for {side} pixels (measured), {_pictures(limits)}"
        yield Finding("its pictures", "ok", detail)
    for note in notes:
        yield Finding("not measured", "warning", note, "vLLM with a Qwen-VL model states all of it")
    yield from _counted(endpoint)


def _pictures(limits: Limits) -> str:
    return f"at most {limits.picture_tokens:,} tokens each, {limits.pictures} in a prompt"


def _counted(endpoint: Endpoint) -> Iterator[Finding]:
    found = cache_counters(endpoint, _CHECK_SECONDS)
    if found is not None:
        detail = f"{found.cached_tokens:,} of {found.tokens:,} prompt tokens were cached,"
        detail += f" {found.cached_pictures:,} of {found.pictures:,} pictures"
        yield Finding("its caches", "ok", f"{detail}, since it started")


def _managed(settings: Settings, bad: State) -> Iterator[Finding]:
    try:
        command = derive(settings)
    except PhotocraftError as error:
        yield Finding("model server", bad, error.message, error.hint)
        yield from _needs(settings)
        return
    yield from _running(settings)
    yield from _explained(command)


def _needs(settings: Settings) -> Iterator[Finding]:
    """If the folder itself is sound: what a machine for it would have."""
    if settings.weights is None:
        return
    try:
        checkpoint = Checkpoint.read(settings.weights)
    except PhotocraftError:
        return
    yield _weights(checkpoint)
    for line in needs(checkpoint):
        yield Finding("one GPU needs", "ok", line)


def _running(settings: Settings) -> Iterator[Finding]:
    record = ServerRecord.read(place_of(settings).record)
    if record is not None and record.is_served():
        where = f"process {record.server.pid} for process {record.owner.pid}, at {record.endpoint}"
        yield Finding("model server", "ok", f"runs already: {where}")
        window = f"a window of {record.limits.window:,} tokens"
        yield Finding("its limits", "ok", f"{window}; pictures: {_pictures(record.limits)}")
        yield from _counted(record.endpoint)


def _explained(command: ServeCommand) -> Iterator[Finding]:
    yield _weights(command.checkpoint)
    note = version_note(command.program)
    state: State = "warning" if note else "ok"
    detail = note or f"vLLM {command.program.version} at {command.program.path}"
    yield Finding("vllm", state, detail, "options may differ: see the log if it ends" * bool(note))
    fit = command.fit
    detail = f"{command.chosen.why}: weights {fit.weights / GIB:.1f} GiB, work"
    detail += f" {fit.activations / GIB:.1f} GiB, cache {fit.kv_room / GIB:.1f} GiB"
    yield Finding("model runs on", "ok", detail)
    yield Finding("model server command", "ok", shlex.join(command.argv))
    for flag in command.flags:
        yield Finding(f"why {shlex.join(flag.words)}", "ok", flag.why)


def _weights(checkpoint: Checkpoint) -> Finding:
    kind = checkpoint.quantization or checkpoint.dtype or "unknown numbers"
    size = f"{checkpoint.weight_bytes / GIB:.1f} GiB, {kind}"
    return Finding("weights", "ok", f"{checkpoint.name} in {checkpoint.folder}: {size}, whole")
