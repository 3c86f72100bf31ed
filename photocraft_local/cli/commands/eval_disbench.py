"""``photocraft eval disbench DIR``: the published benchmark, rerun by anyone who has its data."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.cli import evaluation, exit_codes
from photocraft_local.cli.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--track",
        choices=("standard", "open"),
        default="standard",
        help="standard: only an embedding index is prepared (default); open: events, too",
    )
    parser.add_argument("--split", choices=("intra", "inter"), help="only these questions")
    parser.add_argument(
        "--export", metavar="FILE.json", type=Path, help="write a submission; see evaluation.md"
    )
    evaluation.add_run_options(parser, on_doubt="guess")


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.benchmarking import evaluate
    from photocraft_local.evaluation import submission
    from photocraft_local.evaluation.disbench.layout import load
    from photocraft_local.evaluation.several import of_runs

    if args.export:
        submission.check_target(args.export)
    dataset = load(args.folder.absolute(), split=args.split or "", strict=args.strict)
    settings, out = evaluation.settings_of(args), evaluation.out_of(args, dataset.name)
    told = evaluation.listeners(console, dataset, out)
    evaluation.note_rules(settings, console)
    folder, rows = evaluate(dataset, settings, evaluation.options_of(args, args.track), out, told)
    evaluation.show_problems(dataset, console)
    if args.export:
        identity = folder.head["identity"]
        meta = {
            "method_name": f"photocraft_local {args.preset}",
            "organization": "",
            "track": args.track,
            "agent_framework": args.preset,
            "backbone_model": identity["backbone"],
            "retriever_model": identity["settings"]["encoder"],
        }
        submission.write(args.export, submission.submission(rows, meta))
    report = evaluation.report(dataset, folder, rows, {"runs": of_runs(rows)})
    if args.json:
        console.json(report)
        return exit_codes.OK
    evaluation.show_scores(report, console)
    evaluation.show_runs(report["runs"], console)
    return exit_codes.OK
