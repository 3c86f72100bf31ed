"""The command line of ``scripts/gpu_check.sh``."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path[0] = str(SCRIPTS)
sys.path[1:1] = [str(SCRIPTS.parent), str(SCRIPTS.parent / "kernels")]  # need not be installed
os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
FAMILIES = ("qwen2.5-vl", "qwen3-vl")
EMBEDDER = "qwen3-vl-embedding"
PACKAGES = ("torch", "transformers", "triton", "torchvision", "llguidance", "vllm")
MOST_SECONDS = 420  # no part begins later: a machine is lent for ten minutes
ROWS = {"cuda": 1_000_000, "cpu": 2_000}  # of vectors


def main() -> int:
    from server_check.findings import Report

    parser = argparse.ArgumentParser(prog="gpu_check.sh", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    given = parser.parse_args()
    python = {"python": platform.python_version()}
    report = Report("gpu_check", facts=python, most_seconds=MOST_SECONDS)
    for name in ("torch", "transformers"):
        if find_spec(name) is None:
            report.check(f"{name} is installed", False)
            return report.end()
    report.facts |= facts(given.device)
    if given.device == "cuda" and not report.facts["gpus"]:
        report.check("torch sees a GPU", False, hint="try --device cpu, or see nvidia-smi")
        return report.end()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="pc-") as work:
        try:
            run(report, Path(work), given.device)
        except KeyboardInterrupt as stop:  # what was found until then is worth sending
            report.broke(stop)
        except Exception as error:  # noqa: BLE001
            report.broke(error)
    return report.end()


def run(report: Any, work: Path, device: str) -> None:
    """``report``: server_check's. What no other claim rests on comes last."""
    import torch

    from model_check.decoding import check_decoding
    from model_check.encoders import check_encoders
    from model_check.kernels import check_kernels
    from model_check.parity import check_family
    from model_check.speed import check_speed
    from model_check.vectors import check_vectors

    report.part("kernels", check_kernels, report, device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    report.part("JPEG files on the GPU", check_decoding, report)
    report.part("vectors on the GPU", check_vectors, report, ROWS[device])
    tiny = partial(check_tiny, report, work, device)
    report.part(EMBEDDER, tiny, EMBEDDER, check_encoders)
    for family in FAMILIES:
        report.part(family, tiny, family, check_family)
    report.part("speed", tiny, FAMILIES[-1], check_speed)


def check_tiny(
    report: Any, work: Path, device: str, family: str, check: Callable[[Any, Path, str], None]
) -> None:
    """A check that takes a tiny checkpoint of the family, which is made where it is not there."""
    folder = work / family
    if not folder.exists():
        script = str(SCRIPTS / "make_tiny_checkpoint.py")
        made = subprocess.run(
            [sys.executable, script, str(folder), family], capture_output=True, text=True
        )
        said = (made.stdout or made.stderr)[-300:].strip()
        if not report.check(f"a tiny {family} is made", made.returncode == 0, said=said):
            return
    check(report, folder, device)


def facts(device: str) -> dict[str, Any]:
    import torch

    found = {name: version(name) for name in PACKAGES}
    gpus = []
    for number in range(torch.cuda.device_count() if device == "cuda" else 0):
        has = torch.cuda.get_device_properties(number)
        gpus.append(f"{has.name}, {has.total_memory >> 20} MiB, capability {has.major}.{has.minor}")
    return {"device": device, "packages": found, "cuda": torch.version.cuda, "gpus": gpus}


def version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


if __name__ == "__main__":
    sys.exit(main())
