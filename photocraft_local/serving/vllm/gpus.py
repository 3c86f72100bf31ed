"""The NVIDIA GPUs of this machine, by ``nvidia-smi``: no CUDA library is loaded for it.

Honours CUDA_VISIBLE_DEVICES, which ``nvidia-smi`` itself does not. Knows no model.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FIELDS = (
    "index",
    "uuid",
    "name",
    "memory.total",
    "memory.free",
    "compute_cap",
    "driver_version",
    "mig.mode.current",
)
_MIB = 1 << 20
_SECONDS = 20.0  # a driver that is being loaded takes some seconds; a broken one hangs


@dataclass(frozen=True, slots=True)
class Gpu:
    """Memory in bytes; 0 in all where the card shares the system's memory and states none."""

    index: int
    uuid: str
    name: str
    total: int
    free: int
    capability: tuple[int, int]
    driver: str = ""
    mig: bool = False


@dataclass(frozen=True, slots=True)
class GpuReport:
    """What can be used, or in words why nothing can."""

    gpus: tuple[Gpu, ...] = ()
    problem: str = ""
    hint: str = ""


def find_gpus(environment: Mapping[str, str] | None = None) -> GpuReport:
    """The visible GPUs in the order of the bus. Never raises."""
    environment = os.environ if environment is None else environment
    program = shutil.which("nvidia-smi", path=environment.get("PATH"))
    if not program:
        return GpuReport(
            problem="no NVIDIA GPU is there: nvidia-smi is not installed",
            hint="install the NVIDIA driver, or use backbone = 'planner', which needs no GPU",
        )
    query = ["--query-gpu=" + ",".join(_FIELDS), "--format=csv,noheader,nounits"]
    code, text = _run(program, query, environment)
    if code:
        return _failed(code, text)
    try:
        gpus = [_gpu(row) for row in csv.reader(text.splitlines(), skipinitialspace=True) if row]
    except (ValueError, IndexError):
        return GpuReport(
            problem=f"nvidia-smi said what is not understood: {_first(text)}",
            hint="run nvidia-smi by hand; a new driver may mend it",
        )
    return _visible(tuple(gpus), environment.get("CUDA_VISIBLE_DEVICES"))


def memory_users(environment: Mapping[str, str] | None = None) -> list[str]:
    """Programs that hold GPU memory, the largest first: "python (process 71): 9,120 MiB"."""
    environment = os.environ if environment is None else environment
    program = shutil.which("nvidia-smi", path=environment.get("PATH"))
    query = ["--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader,nounits"]
    code, text = _run(program, query, environment) if program else (1, "")
    rows = [row for row in csv.reader(text.splitlines(), skipinitialspace=True) if len(row) == 3]
    known = [(int(row[2]), row) for row in rows if row[2].isdecimal()] if not code else []
    return [
        f"{Path(row[1]).name[:40]} (process {row[0]}): {size:,} MiB"
        for size, row in sorted(known, reverse=True)
    ]


def _run(program: str, query: list[str], environment: Mapping[str, str]) -> tuple[int, str]:
    try:
        done = subprocess.run(  # noqa: S603  # found on the person's own PATH, fixed arguments
            [program, *query],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**environment, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return -1, f"no answer within {_SECONDS:g} s"
    except OSError as exc:
        return -1, str(exc.strerror)
    return done.returncode, done.stdout if not done.returncode else done.stdout + done.stderr


def _failed(code: int, text: str) -> GpuReport:
    if "not a valid field" in text:
        return GpuReport(
            problem="the NVIDIA driver is too old to state the GPU's compute capability",
            hint="install a driver that supports CUDA 13 (580 or newer)",
        )
    if "No devices were found" in text:
        return GpuReport(
            problem="nvidia-smi finds no GPU",
            hint="check that the card is seated and powered, or given to this container",
        )
    return GpuReport(
        problem=f"nvidia-smi failed (code {code}): {_first(text)}",
        hint="the driver may need a reboot after an update; run nvidia-smi by hand",
    )


def _first(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:200] if lines else "nothing"


def _gpu(row: list[str]) -> Gpu:
    index, uuid, name, total, free, capability, driver, mig = (cell.strip() for cell in row)
    major, _, minor = capability.partition(".")
    return Gpu(
        int(index),
        uuid,
        name,
        _bytes(total),
        _bytes(free),
        (int(major), int(minor or 0)),
        driver,
        mig == "Enabled",
    )


def _bytes(cell: str) -> int:
    return 0 if cell.startswith("[") else int(cell) * _MIB  # [N/A], [Not Supported]


def _visible(gpus: tuple[Gpu, ...], wanted: str | None) -> GpuReport:
    """CUDA's own rule: the list ends at the first name that is no GPU."""
    if wanted is None:
        chosen = list(gpus)
    else:
        chosen = []
        for word in filter(None, map(str.strip, wanted.split(","))):
            found = [g for g in gpus if word == str(g.index) or _names(word, g.uuid)]
            if len(found) != 1 or found[0] in chosen:
                break
            chosen += found
    if not chosen:
        why = f"CUDA_VISIBLE_DEVICES={wanted!r} hides all {len(gpus)}" if gpus else "it lists none"
        return GpuReport(
            problem=f"nvidia-smi gives no usable GPU: {why}", hint="unset CUDA_VISIBLE_DEVICES"
        )
    if parted := [gpu for gpu in chosen if gpu.mig]:
        return GpuReport(
            problem=f"GPU {parted[0].index} ({parted[0].name}) is split (MIG), and nvidia-smi"
            " states the memory of the whole card only",
            hint="start vLLM yourself on the part, and set backbone_url to its address",
        )
    return GpuReport(tuple(chosen))


def _names(word: str, uuid: str) -> bool:
    return word.startswith("GPU-") and uuid.startswith(word)
