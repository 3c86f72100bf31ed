"""How far a server's start has come, and why one failed, read from its log.

The log is text of another program: it is only matched and shown, never obeyed. An unknown line
changes nothing.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from photocraft_local.errors import ModelError
from photocraft_local.serving.vllm.program import TESTED

_LONGEST_READ = 1 << 20  # bytes of a log's end that are searched for a cause
_STAGES: tuple[tuple[str, str], ...] = (  # later ones of a line win
    (r"non-default args|version \d+\.\d+", "vLLM is loaded"),
    (r"Resolved architecture", "the model is known"),
    (r"Initializing a V\d LLM engine", "starting the engine"),
    (r"Starting to load model", "reading the weights"),
    (r"checkpoint shards: .*\| *(\d+)/(\d+) ", "reading the weights ({0} of {1} files)"),
    (r"Loading weights took", "the weights are read"),
    (r"Compiling a graph|Dynamo bytecode|torch\.compile takes", "compiling kernels, once"),
    (r"KV cache size: ([\d,]+) tokens", "a cache for {0} tokens"),
    (r"Capturing CUDA graphs", "recording CUDA graphs"),
    (r"init engine", "the engine is ready"),
    (r"Application startup complete", "the server listens"),
)
_SMALLER = "end what else holds that memory, or take a smaller row of weights.md"
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"unrecognized arguments?: (.+)|no such option: (.+)",
        "this vLLM does not know the option {0}",
        f"install the version that is tested: pip install vllm=={TESTED}",
    ),
    (
        r"Free memory on device .*?\(([\d./ ]+ ?GiB)\).*less than",
        "another program took GPU memory during the start ({0} are free)",
        _SMALLER,
    ),
    (r"CUDA out of memory|OutOfMemoryError", "the GPU's memory ran out", _SMALLER),
    (
        r"No available memory for the cache blocks|larger than the available KV cache memory",
        "the GPU's memory leaves no room for the cache",
        _SMALLER,
    ),
    (
        r"[Aa]ddress already in use",
        "its address is in use by another program",
        "set server_port to another number, or to 0 for a socket",
    ),
    (
        r"driver (?:version is insufficient|on your system is too old)",
        "the NVIDIA driver is too old for this vLLM",
        "install a driver that supports CUDA 13 (580 or newer)",
    ),
    (r"No CUDA GPUs are available", "CUDA finds no GPU", "run nvidia-smi; a reboot may mend it"),
    (r"No space left on device", "the disk is full", "free some space and try again"),
    (
        r"No module named '([\w.]+)'",
        "the Python module {0!r} is missing beside vLLM",
        "install vLLM again: pip install 'photocraft-local[gpu]'",
    ),
)
_ERROR = re.compile(r"\b((?:\w+\.)*\w*(?:Error|Exception)): (.+)")
_EMPTY_WORDS = ("See root cause above", "Engine core proc")


@dataclass(slots=True)
class LogFollower:
    """Reads on from where it stopped; ``stage`` is the last one that was seen."""

    path: Path
    stage: str = "starting vLLM"
    _offset: int = 0
    _rest: bytes = field(default=b"", repr=False)

    def read(self) -> list[str]:
        """The stages that are new since the last look."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                new = file.read(_LONGEST_READ)
        except OSError:
            return []
        self._offset += len(new)
        *lines, self._rest = re.split(rb"[\r\n]", self._rest + new)
        told = []
        for line in lines:
            stage = stage_of(line.decode("utf-8", "replace"))
            if stage and stage != self.stage:
                self.stage = stage
                told.append(stage)
        return told


def stage_of(line: str) -> str:
    """ "" for a line that tells none."""
    found = ""
    for pattern, words in _STAGES:
        if match := re.search(pattern, line):
            found = words.format(*match.groups())
    return found


def failure(log: Path, code: int | None, doing: str) -> ModelError:
    """Why the server ended while ``doing``: one line, with the way out.

    ``code``: its exit code, over 128 for a signal.
    """
    said = _end_of(log)
    message, hint = _cause(said, code, is_full=_is_full(log.parent))
    return ModelError(
        f"the model server ended while {doing}: {message}", hint=f"{hint}; log: {log}"
    )


def _cause(said: str, code: int | None, *, is_full: bool) -> tuple[str, str]:
    for pattern, message, hint in _CAUSES:
        if match := re.search(pattern, said):
            words = [group.strip()[:120] for group in match.groups() if group]
            return message.format(*words), hint
    errors = [m for m in _ERROR.finditer(said) if not any(w in m[2] for w in _EMPTY_WORDS)]
    if errors:
        return f"{errors[-1][1].rpartition('.')[2]}: {errors[-1][2].strip()[:300]}", "see the log"
    if code == 128 + 9:
        return "it was killed", "the system's memory may have run out: " + _SMALLER
    if is_full:
        return "the disk of its log is full", "free some space there and try again"
    lines = [line for line in said.splitlines() if line.strip()]
    last = f": {lines[-1].strip()[:200]}" if lines else ""
    return f"it stopped with code {code}{last}", "see the log"


def _is_full(folder: Path) -> bool:
    """No program can write there, so a log has no cause of its own."""
    try:
        return not os.statvfs(folder).f_bavail
    except OSError:
        return False


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _LONGEST_READ))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
