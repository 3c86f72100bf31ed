"""What every benchmark shares: interleaved CPU timing, the machine's description, the last line.

A claim is a ratio measured side by side in one process. Rounds rotate the order of the
methods, so that a busy neighbour hits all of them alike; the median over rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The folder of real photos beside the checkout, as in the tests.
SHARED = Path(os.environ.get("PHOTOCRAFT_TEST_SHARED", ROOT.parent / "shared"))
ENGINE = ROOT / ".venv-engine"  # made by scripts/test


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="end within 45 s on two cores")
    return parser.parse_args()


def in_environment_with(*modules: str) -> None:
    """Begins the program anew in the engine environment where this one lacks a module; ends it,
    with the way out, where that one does not have it either."""
    lacks = [name for name in modules if find_spec(name) is None]
    if not lacks:
        return
    python = ENGINE / "bin" / "python"
    if python.is_file() and Path(sys.prefix).resolve() != ENGINE.resolve():
        print(f"{', '.join(lacks)}: from {ENGINE.name}", file=sys.stderr, flush=True)
        os.execv(python, [str(python), *sys.argv])
    sys.exit(
        f"this needs {', '.join(lacks)}: scripts/test makes {ENGINE.name}, then\n"
        f"  {ENGINE.name}/bin/python {sys.argv[0]}"
    )


@dataclass(frozen=True)
class Timing:
    """CPU seconds of each round of one method."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """Interquartile range over the median; 0 with fewer than 4 rounds."""
        if len(self.rounds) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.rounds, n=4)
        return (high - low) / self.median if self.median else 0.0


def interleaved(
    methods: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Timing]:
    """Time each method once a round, in rotated order, after one warm-up of each."""
    names = list(methods)
    for name in names:
        methods[name]()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            start = clock()
            methods[name]()
            seconds[name].append(clock() - start)
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def ratio(timings: Mapping[str, Timing], peer: str, ours: str) -> float:
    """Median over rounds of peer's time / our time; above 1 we are faster."""
    pairs = zip(timings[peer].rounds, timings[ours].rounds, strict=True)
    return statistics.median(theirs / max(mine, 1e-9) for theirs, mine in pairs)


def machine(packages: Sequence[str] = ()) -> str:
    """One line: processor, cores, Python and the versions of the named packages."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    versions = " ".join(f"{name} {metadata.version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0))
    return f"{model}, {cores} cores, Python {platform.python_version()} {versions}".rstrip()


def table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> None:
    """Print rows as an aligned table."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for index, row in enumerate(cells):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
        if index == 0:
            print("  ".join("-" * width for width in widths))


def finish(result: Mapping[str, Any]) -> None:
    """The machine-readable last line."""
    print(json.dumps(result, sort_keys=True))
