"""``photocraft eval own FILE``: your own questions with known answers, put to your own library."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.cli import evaluation, exit_codes
from photocraft_local.cli.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="FILE|FOLDER",
        type=Path,
        help="the folder of eval synthesize, or a file with id, question, gold a line",
    )
    evaluation.add_how_options(parser, on_doubt="abstain")
    evaluation.add_asking_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.own_questions import ask_own, own_questions
    from photocraft_local.evaluation.several import of_runs

    settings, out = evaluation.settings_of(args), evaluation.out_of(args, "own")
    dataset = own_questions(settings, args.source.absolute(), strict=args.strict)
    told = evaluation.listeners(console, dataset, out)
    evaluation.note_rules(settings, console)
    options = evaluation.options_of(args, "open")
    folder, rows = ask_own(dataset, settings, options, out, told)
    evaluation.show_problems(dataset, console)
    report = evaluation.report(dataset, folder, rows, {"runs": of_runs(rows)})
    if args.json:
        console.json(report)
        return exit_codes.OK
    evaluation.show_scores(report, console)
    evaluation.show_runs(report["runs"], console)
    return exit_codes.OK
