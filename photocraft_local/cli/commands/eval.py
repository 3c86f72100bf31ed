"""``photocraft eval …``: data sets put to this package or to published systems, and reports.

One module a subcommand (``eval_NAME.py``), listed here; each has ``configure`` and ``run``.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from types import ModuleType

from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import shared_options

SUBCOMMANDS: dict[str, str] = {
    "disbench": "questions of a DISBench folder: exact match and F1 of the sets",
    "photobench": "questions of a PhotoBench folder: ranks, sets, and questions without an answer",
    "retrieval": "how well an encoder finds captioned photos by words, and where to cut",
    "metadata": "what is read in real files, against a table of the truth",
    "report": "a run as one HTML page: figures, plots, the worst answers",
    "compare": "two runs over the same questions, by paired tests",
    "ablation": "the same questions without one tool or memory at a time",
    "histories": "made-up lives of labelled photos, and how many questions get their photos",
    "own": "your own questions with known answers, put to your own library",
    "synthesize": "questions about your own photos, proposed for you to review",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="evaluation", metavar="WHAT", required=True)
    for name, summary in SUBCOMMANDS.items():
        part = parts.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            parents=[shared_options()],
            allow_abbrev=False,
        )
        module_of(name).configure(part)


def run(args: argparse.Namespace, console: Console) -> int:
    code: int = module_of(args.evaluation).run(args, console)
    return code


def module_of(name: str) -> ModuleType:
    return import_module(f"photocraft_local.cli.commands.eval_{name}")
