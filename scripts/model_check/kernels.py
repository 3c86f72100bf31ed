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
from tempfile import TemporaryFile
from typing import Any

from server_check.findings import Report

ROOT = Path(__file__).resolve().parent.parent.parent
BENCHMARKS = ROOT / "benchmarks"
TABLE = Path(__file__).with_name("crop_table.py")
MOST_SECONDS = 150  # of one script
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
        "the store's gather within 3 x": lambda seen: _at_most(
            seen["store_gather_times_of_floor"], 3
        ),
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
    good, told, said = _ran(TABLE, device, device, report.seconds_left)
    every = "kernel crop_resize: every layout equals its reference"
    report.check(every, good, how=how, **(told or {}), **said)
    for name in CLAIMS:
        script = BENCHMARKS / f"{name}.py"
        good, figures, said = _ran(script, "--quick", device, report.seconds_left)
        report.check(f"kernel {name}: agrees with its peers", good, how=how, **said)
        if figures is None:
            continue
        for claim, decides in CLAIMS[name].items():
            held = None if device == "cpu" else decides(figures)
            _tell(report, f"claim of {name}: {claim}", held, device, figures)


def _ran(
    script: Path, argument: str, device: str, most_seconds: float
) -> tuple[bool, Figures | None, dict[str, str]]:
    """Whether a script ended well, its figures and, where it did not, the end of what it said. One
    that hangs must not take the others' time on a device that is lent."""
    places = [str(ROOT), str(ROOT / "kernels"), *filter(None, [os.environ.get("PYTHONPATH")])]
    limit = max(1.0, min(MOST_SECONDS, most_seconds))
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        try:
            code = subprocess.run(
                [sys.executable, str(script), argument],
                env=os.environ
                | {"TRITON_INTERPRET": "1" if device == "cpu" else "0"}
                | {"PYTHONPATH": os.pathsep.join(places)},
                stdout=out,
                stderr=err,
                timeout=limit,
            ).returncode
            stopped = ""
        except subprocess.TimeoutExpired:
            code, stopped = 1, f"stopped after {limit:.0f} s: "
        lines, faults = (file.seek(0) or file.read().strip() for file in (out, err))
    figures = _figures(lines)
    good = code == 0 and figures is not None
    return good, figures, {} if good else {"said": stopped + (faults or lines)[-300:]}


def _figures(lines: str) -> Figures | None:
    """The JSON object of the last line, if it is one."""
    try:
        found = json.loads(lines.rpartition("\n")[2])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


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
