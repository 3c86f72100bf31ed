"""The real vLLM on the CPU for benchmarks: tiny checkpoints, one engine in this process.

Runs in the engine environment that scripts/test makes; the engine's own options are those of the
engine tests.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _common import ROOT, in_environment_with

FAMILIES = ("qwen2.5-vl", "qwen3-vl")


def require_engine() -> None:
    """Goes on where vLLM is installed: ``in_environment_with``."""
    in_environment_with("vllm")
    sys.path += [str(ROOT / "scripts"), str(ROOT / "tests" / "engine")]
    import engine_environment

    engine_environment.prepare()


@contextmanager
def checkpoints() -> Iterator[dict[str, Path]]:
    """Family → folder of its tiny checkpoint, for as long as the block runs."""
    from tiny_checkpoint.families import FAMILIES as MADE
    from tiny_checkpoint.folder import write

    with tempfile.TemporaryDirectory(prefix="photocraft-tiny-") as home:
        folders = {name: Path(home, name) for name in FAMILIES}
        for name, folder in folders.items():
            write(folder, MADE[name])
        yield folders


def start_engine(folder: Path, **options: Any) -> Any:
    """``vllm.LLM`` on the folder. Engines stay until the program ends."""
    from tiny_engine import start

    return start(folder, **options)


def engine_chat(folder: Path, **options: Any) -> Any:
    """The same behind the ``Chat`` protocol."""
    from engine_chat import EngineChat

    return EngineChat(start_engine(folder, **options))


def engine_counters(llm: Any) -> dict[str, int]:
    """The engine's own counters by name; only the engine that was started last keeps them."""
    from tiny_engine import counters

    return counters(llm)
