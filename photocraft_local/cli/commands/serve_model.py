"""``photocraft serve-model``: the backbone, kept ready for questions until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from photocraft_local.app.model_server import Serving, serve
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--weights", metavar="FOLDER", help="folder of the model (default: the setting weights)"
    )
    parser.add_argument(
        "--port",
        dest="server_port",
        metavar="N",
        type=int,
        help="listen on this port of 127.0.0.1, instead of on a socket that only you can open",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    settings = Settings.load(**settings_overrides(args, "weights", "server_port"))
    with _stopping() as (stop, is_up):

        def on_stage(stage: str) -> None:
            is_up.clear()
            console.note(f"model server: {stage}")

        def on_ready(serving: Serving) -> None:
            is_up.set()
            _tell(serving, args.json, console)

        serve(settings, stop, on_stage, on_ready)
    console.note("model server: stopped")
    return exit_codes.OK


def _tell(serving: Serving, as_json: bool, console: Console) -> None:
    if as_json:
        console.json(_json(serving))
    else:
        window = f"{serving.window:,} tokens"
        console.line(f"serving {serving.model} at {serving.endpoint}, window of {window}")
        console.note(f"model server: Ctrl-C ends it; log: {serving.log}")
    console.flush()


def _json(serving: Serving) -> dict[str, str | int]:
    return {
        "endpoint": serving.endpoint,
        "model": serving.model,
        "window": serving.window,
        "process": serving.process,
        "log": serving.log,
    }


@contextmanager
def _stopping() -> Iterator[tuple[threading.Event, threading.Event]]:
    """The first event is set by Ctrl-C and by SIGTERM. While the server is not up, which the
    second one says, or is being ended, they break off what is being done."""
    stop, is_up = threading.Event(), threading.Event()

    def on_signal(_number: int, _frame: object) -> None:
        hurried = stop.is_set() or not is_up.is_set()
        stop.set()
        if hurried:
            raise KeyboardInterrupt

    before = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop, is_up
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
