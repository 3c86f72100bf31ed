"""``photocraft eval photobench DIR``: ranked and set metrics, and whether it can say "none"."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.cli import evaluation, exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.records import Json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language", choices=("en", "cn"), default="en", help="of the questions (default: en)"
    )
    parser.add_argument(
        "--queries", metavar="FILE.json", type=Path, help="one file of questions, not all"
    )
    parser.add_argument(
        "--export", metavar="FILE.json", type=Path, help="write rows for a leaderboard"
    )
    evaluation.add_run_options(parser, on_doubt="abstain")


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.benchmarking import evaluate
    from photocraft_local.evaluation import submission
    from photocraft_local.evaluation.photobench.layout import load
    from photocraft_local.evaluation.photobench.scores import scores, submission_rows
    from photocraft_local.evaluation.several import of_runs

    if args.export:
        submission.check_target(args.export)
    queries = args.queries and args.queries.absolute()
    dataset = load(
        args.folder.absolute(), language=args.language, queries=queries, strict=args.strict
    )
    settings, out = evaluation.settings_of(args), evaluation.out_of(args, dataset.name)
    told = evaluation.listeners(console, dataset, out)
    evaluation.note_rules(settings, console)
    folder, rows = evaluate(dataset, settings, evaluation.options_of(args, "open"), out, told)
    evaluation.show_problems(dataset, console)
    if args.export:
        submission.write(args.export, submission_rows(rows, args.language))
    found = scores(rows)
    report = evaluation.report(dataset, folder, rows, {"photobench": found, "runs": of_runs(rows)})
    if args.json:
        console.json(report)
        return exit_codes.OK
    evaluation.show_scores(report, console)
    evaluation.show_runs(report["runs"], console)
    _show(found, console)
    return exit_codes.OK


def _show(found: dict[str, Json], console: Console) -> None:
    console.line("")
    for name in ("recall", "ndcg"):
        values = {key: value for key, value in found["ranked"].items() if key.startswith(name)}
        console.line("  ".join(f"{key} {_percent(value)}" for key, value in values.items()))
    sets, none = found["sets"], found["abstention"]
    console.line(
        f"sets of {sets['num']} questions with an answer: precision {_percent(sets['precision'])},"
        f" recall {_percent(sets['recall'])}"
    )
    console.line(
        f"{none['num']} questions without: {_percent(none['rejected'])} rejected;"
        f" with: {_percent(none['wrongly'])} rejected wrongly"
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
