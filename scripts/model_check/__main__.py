"""The command line of ``scripts/gpu_check.sh``."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path[0] = str(SCRIPTS)
sys.path.insert(1, str(SCRIPTS.parent))  # the package itself, which need not be installed
os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
FAMILIES = ("qwen2.5-vl", "qwen3-vl")
EMBEDDER = "qwen3-vl-embedding"
PACKAGES = ("torch", "transformers", "triton", "torchvision", "llguidance", "vllm")


def main() -> int:
    from server_check.findings import Report

    parser = argparse.ArgumentParser(prog="gpu_check.sh", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    given = parser.parse_args()
    report = Report("gpu_check", facts={"python": platform.python_version()})
    for name in ("torch", "transformers"):
        if find_spec(name) is None:
            report.check(f"{name} is installed", False)
            return report.end()
    report.facts |= facts(given.device)
    if given.device == "cuda" and not report.facts["gpus"]:
        report.check("torch sees a GPU", False, hint="try --device cpu, or see nvidia-smi")
        return report.end()
    with tempfile.TemporaryDirectory(prefix="pc-") as work:
        try:
            run(report, Path(work), given.device)
        except Exception as error:  # noqa: BLE001  # what was found until then is worth sending
            report.broke(error)
    return report.end()


def run(report: Any, work: Path, device: str) -> None:
    """``report``: server_check's."""
    import torch

    from model_check.decoding import check_decoding
    from model_check.encoders import check_encoders
    from model_check.kernels import check_kernels
    from model_check.opening import open_on
    from model_check.parity import check_family
    from model_check.speed import check_speed
    from model_check.vectors import check_vectors

    check_kernels(report, device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for family in (*FAMILIES, EMBEDDER):
        script = str(SCRIPTS / "make_tiny_checkpoint.py")
        made = subprocess.run(
            [sys.executable, script, str(work / family), family], capture_output=True, text=True
        )
        said = (made.stdout or made.stderr)[-300:].strip()
        if not report.check(f"a tiny {family} is made", made.returncode == 0, said=said):
            continue
        if family == EMBEDDER:
            check_encoders(report, work / family, device)
        else:
            check_family(report, family, work / family, device)
    check_speed(report, open_on(work / FAMILIES[-1], "cpu"), device)
    if device == "cuda":
        check_decoding(report)
        check_vectors(report)


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
