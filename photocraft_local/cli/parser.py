"""The argument parser: the commands, the options that all of them share, one-line errors.

``photocraft --help`` must stay quick: only the command that is asked for is imported.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from photocraft_local import __version__
from photocraft_local.errors import UsageError

COMMANDS: dict[str, str] = {
    "index": "find the photos of folders and make them searchable",
    "search": "photos that look like words or a picture, with exact filters",
    "ask": "answer a question with an exact set of photos and the evidence",
    "resume": "go on with a question that was cut",
    "trace": "what is kept of a question, step by step; schema and list of them",
    "replay": "the calls of a question made again without a model, and compared",
    "list": "every photo with time, place and size",
    "status": "what the library holds, and every skipped file with its reason",
    "show": "all that is known of one photo",
    "places": "your own names for places, like home: list, add, remove",
    "spaces": "the vectors of each encoder side by side: list, remove",
    "knowledge": "saved pages, notes and PDF to look things up in: list, add, remove",
    "memory": "what earlier questions left behind: list, show, edit, forget, export, import, stats",
    "forget": "take one photo and all that was derived from it out of the library",
    "compact": "give back the space of photos that are gone",
    "serve-model": "keep the Qwen-VL backbone ready for questions, until Ctrl-C",
    "weights": "models that can be placed here, and whether a folder of them is whole",
    "bench": "how fast this machine decodes, embeds, searches and answers, beside its floors",
    "doctor": "what is installed, which engines will run, and why",
    "eval": "measure answers: data sets of questions with known answers, reports",
    "demo": "build a small album of real photos and ask it three questions",
}

_EPILOG = """\
photocraft COMMAND --help explains a command. Exit codes: 0 found or done, 1 nothing matched,
2 wrong arguments, 3 an extra is missing, 4 the library, 5 the encoder, 6 the agent,
7 some words were not used, 130 interrupted. Nothing ever leaves this machine.
"""


_COORDINATES = re.compile(r"-[\d.]+\s*,")


class Parser(argparse.ArgumentParser):
    """Argument errors leave as ``UsageError``, so that they look like all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"{self.prog} --help lists the options")


def module_of(command: str) -> ModuleType:
    return import_module(f"photocraft_local.cli.commands.{command.replace('-', '_')}")


def build_parser(arguments: Sequence[str]) -> Parser:
    """The parser for this command line; only commands named in ``arguments`` are filled in."""
    parser = Parser(
        prog="photocraft",
        description="Private photo search on your own machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared_options()],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"photocraft {__version__}")
    parser.set_defaults(library=None, json=False, debug=False, quiet=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            parents=[shared_options()],
            allow_abbrev=False,
        )
        if name in arguments:
            module_of(name).configure(command)
    return parser


def with_coordinates(arguments: Sequence[str]) -> list[str]:
    """``--near -33.9,18.4`` as ``--near=-33.9,18.4``: argparse takes what starts with a minus
    sign and is no plain number for an option, and half of the globe lies south or west."""
    joined: list[str] = []
    for word in arguments:
        if joined and re.fullmatch("--[a-z-]+", joined[-1]) and _COORDINATES.match(word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def shared_options() -> Parser:
    """Options that may stand before or after the command; SUPPRESS keeps one place from
    undoing the other."""
    options = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument(
        "--library", metavar="PATH", help="the library's folder (default: in your data folder)"
    )
    options.add_argument("--json", action="store_true", help="machine-readable output")
    options.add_argument("--quiet", action="store_true", help="no progress, no notes")
    options.add_argument(
        "--debug", action="store_true", help="show tracebacks, and why engines were chosen"
    )
    return options


def positive(text: str) -> int:
    """An argparse type: a whole number from 1 up."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def add_encoder_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoder",
        metavar="NAME|FOLDER",
        help="'labels' (default), 'null', or a folder: CLIP or SigLIP in ONNX form, or"
        " Qwen3-VL-Embedding",
    )


def add_backbone_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backbone",
        metavar="NAME",
        help="who works on the question: 'planner', 'vllm', 'transformers', or 'auto' (default):"
        " a model where one is set",
    )
    parser.add_argument("--weights", metavar="FOLDER", help="the Qwen-VL model's folder")
    parser.add_argument(
        "--backbone-url",
        metavar="URL",
        help="a model server of your own: http://127.0.0.1:PORT or unix:/PATH",
    )


def settings_overrides(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Keyword arguments for ``Settings.load`` from the options that were given."""
    return {name: getattr(arguments, name, None) for name in ("library", *names)}
