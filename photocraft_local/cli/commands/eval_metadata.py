"""``photocraft eval metadata FOLDER``: what is read in real files, against a table of the truth.

With ``--ask`` or ``--questions`` the files are asked about, too, and answers in words scored.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.evaluation import (
    add_asking_options,
    note_rules,
    on_row_of,
    out_of,
    settings_of,
    show_faults,
    show_table,
)
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.records import Json

_ASKING: dict[str, Callable[[argparse.Namespace], object]] = {  # of questions: option → given?
    "--out": lambda args: args.out,
    "--runs": lambda args: args.runs,
    "--concurrency": lambda args: args.concurrency != 1,
    "--retry-failed": lambda args: args.retry_failed,
}
_RULES = ("num", "text_exact", "text_normalised", "text_contained", "em")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="with expected.csv or manifest.csv"
    )
    parser.add_argument(
        "--table", metavar="FILE.csv", type=Path, help="another table of the folder's files"
    )
    parser.add_argument(
        "--ask", action="store_true", help="ask questions made from the table, in five languages"
    )
    parser.add_argument(
        "--questions", metavar="FILE.csv", type=Path, help="ask these: columns question, answer"
    )
    parser.add_argument("--out", metavar="FOLDER", type=Path, help="of the run of questions")
    parser.add_argument(
        "--strict", action="store_true", help="stop at the first fault of the data set"
    )
    add_asking_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Exit code 1: a field is wrong or missing."""
    from photocraft_local.evaluation.metadata_truth import VERDICTS, check_metadata

    asks = args.ask or args.questions
    if not asks and (idle := [name for name, value in _ASKING.items() if value(args)]):
        raise UsageError(
            f"{idle[0]} goes with --ask or --questions", hint="add one of them, or leave it out"
        )
    if args.ask and args.questions:
        raise UsageError(
            "--ask makes questions and --questions gives others", hint="give one of them"
        )
    found = check_metadata(args.folder, args.table, strict=args.strict)
    show_faults(found.problems, console, "--json")
    wrong = found.of("wrong", "missing")
    told = found.to_json()
    if not args.json:
        console.line(count_text(found.num_files, "file"))
        show_table("field", VERDICTS, found.counts(), console)
        for check in wrong:
            console.line(f"{check.verdict}: {check}")
        if more := found.of("more"):
            values = count_text(len(more), "value")
            console.note(f"{values} from sources that the table does not name: --json")
    if asks:
        told["questions"] = _asked(args, console)
    if args.json:
        console.json(told)
    return exit_codes.FAULT_FOUND if wrong else exit_codes.OK


def _asked(args: argparse.Namespace, console: Console) -> Json:
    from photocraft_local.app.benchmarking import Listeners
    from photocraft_local.app.measuring import FILES, ask_files
    from photocraft_local.evaluation.metadata_truth import read_truth
    from photocraft_local.evaluation.problems import Problems
    from photocraft_local.evaluation.reports.figures import figures
    from photocraft_local.evaluation.text_questions import (
        made_questions,
        read_questions,
        usable,
    )

    truth = read_truth(args.folder, args.table).files
    problems = Problems(args.strict)
    if args.questions:
        there = [name for name, told in truth.items() if told["outcome"] != "skip"]
        chosen, questions = truth, read_questions(args.questions, problems, there)
    else:
        chosen = usable(truth)
        questions = made_questions(chosen)
    show_faults(problems, console, "--json")
    settings, out = settings_of(args), out_of(args, "metadata")
    note_rules(settings, console)
    files = {name: args.folder / name for name in chosen}
    options = replace(FILES, concurrency=args.concurrency, retry_failed=args.retry_failed)
    heard = Listeners(on_row=on_row_of(console, len(questions), out))
    run_folder = ask_files(settings, files, questions, out, heard, options)
    told = figures(run_folder.sorted_rows())
    if not args.json:
        rows = {"answers": {**told["text"], "em": told["all"]["em"][0]}}
        show_table("questions", _RULES, rows, console)
        console.line(f"run: {run_folder.path}")
    return {"out": str(run_folder.path), "figures": told, "problems": problems.to_json()}
