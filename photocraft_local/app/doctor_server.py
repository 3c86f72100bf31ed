"""The doctor's look at the model server: GPUs, weights, the derived command with its reasons.

Starts nothing. What cannot run here is a fault only where the settings want it to.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from photocraft_local.app.findings import Finding, State
from photocraft_local.errors import PhotocraftError
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.command import ServeCommand, version_note
from photocraft_local.serving.vllm.deriving import derive, local_endpoint, needs, place_of
from photocraft_local.serving.vllm.gpus import find_gpus, memory_users
from photocraft_local.serving.vllm.memory import GIB
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.settings import Settings

_CHECK_SECONDS = 30.0
PROVEN = (
    "the server, its flags and both families ran with vLLM 0.32.0 on the CPU, with random weights;"
    " GPU memory shares, FP8 and several GPUs follow vLLM's documentation and were not run on a GPU"
)


def gpus(settings: Settings) -> Iterator[Finding]:
    """Each GPU with its free memory; none is no fault, since only the served model needs one."""
    del settings
    report = find_gpus()
    for gpu in report.gpus:
        memory = f"{gpu.free / GIB:.1f} of {gpu.total / GIB:.1f} GiB free"
        memory = memory if gpu.total else "memory shared with the system"
        detail = f"{gpu.index} {gpu.name}: {memory}, compute capability"
        detail += f" {gpu.capability[0]}.{gpu.capability[1]}, driver {gpu.driver};"
        yield Finding("gpu", "ok", f"{detail} for the model server only")
    if report.gpus and (users := memory_users()):
        yield Finding("gpu memory", "ok", "held by " + ", ".join(users[:5]))
    if not report.gpus:
        detail = f"none is used, everything but a served model runs on the CPU ({report.problem})"
        yield Finding("gpu", "ok", detail)


def server(settings: Settings) -> Iterator[Finding]:
    """The person's own server, or the command of a managed one and why it is that."""
    wanted = settings.backbone == "vllm"
    if settings.backbone_url:
        yield _outside(settings, "fault" if wanted else "warning")
    elif settings.weights is None and not wanted:
        yield Finding(
            "model server", "ok", "not set up: weights names no folder; the planner answers"
        )
    else:
        yield from _managed(settings, "fault" if wanted else "warning")


def _outside(settings: Settings, bad: State) -> Finding:
    try:
        endpoint = local_endpoint(settings)
        assert endpoint is not None
        served = health.check(endpoint, _CHECK_SECONDS)
    except PhotocraftError as error:
        return Finding("model server", bad, error.message, error.hint)
    window = f"window of {served.window:,} tokens" if served.window else "window not stated"
    return Finding("model server", "ok", f"{endpoint} answers: {served.model}, {window}")


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
    yield Finding("proven", "ok", PROVEN)


def _weights(checkpoint: Checkpoint) -> Finding:
    kind = checkpoint.quantization or checkpoint.dtype or "unknown numbers"
    size = f"{checkpoint.weight_bytes / GIB:.1f} GiB, {kind}"
    return Finding("weights", "ok", f"{checkpoint.name} in {checkpoint.folder}: {size}, whole")
