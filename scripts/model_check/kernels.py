"""The Triton kernels: they agree with their references and peers, and which claims hold.

On a CPU they are interpreted: agreement is checked, the claims of speed are not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from server_check.findings import Report

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
TABLE = Path(__file__).with_name("crop_table.py")
MOST_SECONDS = 150  # of one script; all of gpu_check has to fit into 8 minutes
Figures = Mapping[str, Any]
# Of each benchmark: what is claimed, and what decides it; None where a peer is not installed.
CLAIMS: dict[str, dict[str, Callable[[Figures], bool | None]]] = {
    "crop_resize": {
        ">= 50 % of the copy bandwidth": lambda seen: seen["share_of_copy_bandwidth"] >= 0.5,
        ">= 2 x F.interpolate by shape": lambda seen: seen["vs_interpolate_by_shape"] >= 2,
        ">= 2 x kornia by shape": lambda seen: _at_least(seen["vs_kornia_by_shape"], 2),
        ">= 100 x the processor, a crop": lambda seen: _at_least(seen["vs_processor_by_crop"], 100),
    },
    "topk_similarity": {
        "within 3 x of the gathered bytes": lambda seen: seen["times_of_floor"] <= 3,
        "faster than torch's own calls": lambda seen: seen["vs_torch"] > 1,
        "the store's gather within 3 x": lambda seen: seen["store_gather_times_of_floor"] <= 3,
        "the whole store within 3 x": lambda seen: _at_most(seen["store_times_of_floor"], 3),
    },
}


def check_kernels(report: Report, device: str) -> None:
    """A claim that does not hold is no fault of the machine: it is told, with its figure."""
    how = "interpreted" if device == "cpu" else "on the GPU"
    if find_spec("triton") is None:
        for name in CLAIMS:
            report.absent(f"kernel {name}", "triton is not installed")
        return
    code, said = _ran(TABLE, device, device)
    told = {"said": "\n".join(said)[-300:]} if code or not said else json.loads(said[-1])
    report.check("kernel crop_resize: every layout equals its reference", not code, how=how, **told)
    for name in CLAIMS:
        code, said = _ran(BENCHMARKS / f"{name}.py", "--quick", device)
        if not report.check(
            f"kernel {name}: agrees with its peers",
            code == 0 and bool(said),
            how=how,
            **({} if code == 0 else {"said": "\n".join(said)[-300:]}),
        ):
            continue
        figures = json.loads(said[-1])
        for claim, decides in CLAIMS[name].items():
            held = None if device == "cpu" else decides(figures)
            _tell(report, f"claim of {name}: {claim}", held, device, figures)


def _ran(script: Path, argument: str, device: str) -> tuple[int, list[str]]:
    """Exit code and lines of a script; of one that failed, of its errors. One that hangs must
    not take the others' time on a device that is lent."""
    try:
        done = subprocess.run(
            [sys.executable, str(script), argument],
            env=os.environ | {"TRITON_INTERPRET": "1" if device == "cpu" else "0"},
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 1, [f"stopped after {MOST_SECONDS} s"]
    is_told = done.returncode == 0 or not done.stderr
    return done.returncode, (done.stdout if is_told else done.stderr).splitlines()


def _at_least(value: float | None, bound: float) -> bool | None:
    return None if value is None else value >= bound


def _at_most(value: float | None, bound: float) -> bool | None:
    return None if value is None else value <= bound


def _tell(report: Report, name: str, held: bool | None, device: str, figures: Figures) -> None:
    if held is None:
        why = "an interpreter's times mean nothing" if device == "cpu" else "its peer is not there"
        report.absent(name, why)
    else:
        report.check(name, True, holds=held, **figures)
