"""What the benchmarks of Triton kernels share: is there a device, its clock, its floors.

``TRITON_INTERPRET=1`` runs the same lines on a CPU, where times mean nothing.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "kernels"), str(_ROOT)]  # a lent machine has nothing installed
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
WHERE = "cpu" if INTERPRETED else "cuda"


def need_gpu() -> str:
    """The device's name; ends the program, with the reason, where there is none."""
    if find_spec("torch") is None or find_spec("triton") is None:
        sys.exit("not run: torch and triton are not installed (CONTRIBUTING.md)")
    import torch

    if INTERPRETED:
        return "no GPU: Triton's interpreter, times mean nothing"
    if not torch.cuda.is_available():
        sys.exit("not run: there is no CUDA device here")
    return str(torch.cuda.get_device_name())


def seconds(run: Callable[[], object], rounds: int) -> float:
    """Median of the rounds, after one to warm up."""
    import torch

    taken = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        if not INTERPRETED:
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])


def empty_launch(rounds: int) -> float:
    """Seconds that a kernel takes which does nothing."""
    import torch

    one = torch.empty(1, device=WHERE)
    return seconds(lambda: one.fill_(0), rounds)


def copy_bandwidth(rounds: int) -> float:
    """Bytes a second, read and written, of a copy within the device's memory."""
    import torch

    block = torch.empty(1 << (12 if INTERPRETED else 30), dtype=torch.uint8, device=WHERE)
    other = torch.empty_like(block)
    return 2 * block.numel() / seconds(lambda: other.copy_(block), rounds)
