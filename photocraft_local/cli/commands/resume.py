"""``photocraft resume``: go on with a question that was cut."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli.commands.ask import ANSWERING, add_output_options, finish, listeners
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "trace",
        metavar="TRACE",
        nargs="?",
        help="a trace file or an episode's id (default: the last question without an answer)",
    )
    add_output_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    with PhotoSearch(Settings.load(**settings_overrides(args, *ANSWERING))) as photos:
        answer = photos.resume(args.trace, **listeners(console, as_json=args.json))
    return finish(answer, args, console)
