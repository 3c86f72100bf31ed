"""Starts the keeper of a model server, and through it the server. Waits for nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from photocraft_local.errors import ModelError
from photocraft_local.serving.vllm import keeper
from photocraft_local.serving.vllm.command import ServeCommand
from photocraft_local.serving.vllm.deriving import environment_of
from photocraft_local.serving.vllm.place import ServerPlace
from photocraft_local.serving.vllm.processes import Process
from photocraft_local.serving.vllm.record import facts


def start_keeper(
    command: ServeCommand, place: ServerPlace, grace: float
) -> subprocess.Popen[bytes]:
    job = {
        "argv": command.argv,
        "env": environment_of(command, place),
        "folder": str(place.folder),
        "log": str(place.log),
        "record": str(place.record),
        "socket": str(command.endpoint.socket or ""),
        "scratch": str(place.scratch),
        "grace": grace,
        "facts": facts(
            Process.of(os.getpid()), command.checkpoint.folder, command.endpoint, command.limits
        ),
    }
    try:
        started = subprocess.Popen(  # noqa: S603  # our own program, under this Python
            [sys.executable, "-I", keeper.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the owner, which then ends it in good order
        )
    except OSError as exc:
        raise ModelError(
            f"no process can be started: {exc.strerror}", hint="end other programs and try again"
        ) from exc
    assert started.stdin is not None
    started.stdin.write(json.dumps(job).encode() + b"\n")
    started.stdin.flush()
    return started
