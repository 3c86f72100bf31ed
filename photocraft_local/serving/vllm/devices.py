"""Which device a checkpoint runs on: the GPUs that can share it evenly, or the CPU.

The CPU is taken only where vLLM's build for it is installed. Measures memory, derives no flags.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import ModelError
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.gpus import Gpu, GpuReport
from photocraft_local.serving.vllm.memory import Device
from photocraft_local.serving.vllm.program import Program

LEAST_CAPABILITY = (7, 5)
_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Chosen:
    """``why`` in words for people; ``gpus`` is empty on the CPU."""

    device: Device
    gpus: tuple[Gpu, ...]
    why: str


def choose_device(checkpoint: Checkpoint, program: Program, report: GpuReport) -> Chosen:
    """Raises ModelError if there is no GPU and vLLM is not the build for the CPU, or if no GPU
    is new enough."""
    if program.for_cpu:
        return _cpu(report)
    if not report.gpus:
        raise ModelError(report.problem, hint=report.hint)
    able = [gpu for gpu in report.gpus if gpu.capability >= LEAST_CAPABILITY]
    if not able:
        gpu = report.gpus[0]
        raise ModelError(
            f"GPU {gpu.index} ({gpu.name}) has compute capability {_dotted(gpu.capability)},"
            f" vLLM needs {_dotted(LEAST_CAPABILITY)}",
            hint="use a Turing card or newer, or backbone = 'planner', which needs no GPU",
        )
    return on_gpus(checkpoint, _alike(able))


def on_gpus(checkpoint: Checkpoint, gpus: list[Gpu]) -> Chosen:
    """As many of these as divide the model evenly."""
    count = next(n for n in range(len(gpus), 0, -1) if _divides(checkpoint, n))
    used = tuple(gpus[:count])
    measured = [gpu for gpu in used if gpu.total]
    total, free = min(((g.total, g.free) for g in measured), key=lambda m: m[1], default=(0, 0))
    names = ", ".join(f"{gpu.index} ({gpu.name})" for gpu in used)
    why = f"GPU {names}"
    if not total:
        total, free = system_memory()
        why += ", which shares the system's memory"
    if count < len(gpus):
        why += f"; {len(gpus)} GPUs cannot share {checkpoint.heads} attention heads evenly"
    capability = min(gpu.capability for gpu in used)
    return Chosen(Device("cuda", count, total, free, capability), used, why)


def _alike(gpus: list[Gpu]) -> list[Gpu]:
    """The GPUs of the kind that has most memory free in all; unlike cards slow one another."""
    kinds: dict[tuple[str, int], list[Gpu]] = {}
    for gpu in gpus:
        kinds.setdefault((gpu.name, gpu.total), []).append(gpu)
    best = max(kinds.values(), key=lambda kind: sum(gpu.free for gpu in kind))
    return sorted(best, key=lambda gpu: (-gpu.free, gpu.index))


def _divides(checkpoint: Checkpoint, count: int) -> bool:
    """vLLM's rule: whole query heads a GPU, and key heads that are split or repeated evenly."""
    kv = checkpoint.kv_heads
    return checkpoint.heads % count == 0 and (kv % count == 0 or count % kv == 0)


def _cpu(report: GpuReport) -> Chosen:
    total, free = system_memory()
    unused = f"; {len(report.gpus)} GPU unused" if report.gpus else ""
    return Chosen(Device("cpu", 1, total, free), (), f"the CPU: vLLM's build for it{unused}")


def system_memory() -> tuple[int, int]:
    """Bytes in all and available, the limit of a container included."""
    lines = dict(line.split(":", 1) for line in _MEMORY.read_text("utf-8").splitlines())
    total, free = (int(lines[key].split()[0]) << 10 for key in ("MemTotal", "MemAvailable"))
    try:
        limit = int((_GROUP / "memory.max").read_text("utf-8"))
        used = int((_GROUP / "memory.current").read_text("utf-8"))
    except (OSError, ValueError):  # no container, or "max"
        return total, free
    return min(total, limit), min(free, max(0, limit - used))


def _dotted(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))
