"""The command line of ``scripts/gpu_check_vllm.sh``; what it does stands in whole.py."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)


def main() -> int:
    from server_check.findings import Report
    from server_check.machine import facts, make_tiny
    from server_check.whole import Options, run

    parser = argparse.ArgumentParser(prog="gpu_check_vllm.sh", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--weights", type=Path, help="a model's folder; else a tiny one is made")
    parser.add_argument("--family", default="qwen3-vl", help="of the tiny one (default: qwen3-vl)")
    parser.add_argument("--thinking", action="store_true", help="the tiny one thinks first")
    parser.add_argument("--photos", type=Path, help="folder of photos; default: drawn ones")
    parser.add_argument("--work", type=Path, help="folder for all that is made; default: removed")
    parser.add_argument("--keep-caches", type=Path, help="folder of compiled kernels to go on with")
    parser.add_argument("--alone", action="store_true", help="fail if a network is there")
    given = parser.parse_args()
    report = Report("gpu_check_vllm", facts=facts())
    with tempfile.TemporaryDirectory(prefix="pc-") as temporary:
        work = (given.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        weights = given.weights.resolve() if given.weights else work / "weights"
        if not given.weights:
            make_tiny(weights, given.family, given.thinking)
        kept = given.keep_caches
        options = Options(given.device, work, weights, given.photos, kept, alone=given.alone)
        try:
            run(options, report)
        except Exception as error:  # noqa: BLE001  # what was found until then is worth sending
            report.broke(error)
        return report.end()


if __name__ == "__main__":
    sys.exit(main())
