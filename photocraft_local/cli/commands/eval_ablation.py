"""``photocraft eval ablation DIR``: the same questions without one tool or memory at a time."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.cli import evaluation, exit_codes
from photocraft_local.cli.console import Console

if TYPE_CHECKING:
    from photocraft_local.evaluation.ablation import Variant
    from photocraft_local.evaluation.dataset import Dataset
    from photocraft_local.evaluation.results import RunFolder


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--track",
        choices=("standard", "open"),
        help="standard: only an embedding index is prepared (default of DISBench); open: events and"
        " named places, too (default of the others)",
    )
    parser.add_argument(
        "--only",
        metavar="NAMES",
        default="",
        help="variants, joined by commas: no-working, no-tool:zoom_in, runs-4, … (default: all)",
    )
    evaluation.add_run_options(parser, on_doubt="")


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.benchmarking import evaluate
    from photocraft_local.evaluation.ablation import ablate, table, variants
    from photocraft_local.evaluation.disbench.presets import PRESETS

    tools = [tool.name for tool in PRESETS[args.preset].tools(True, True)]
    chosen = variants(tools, [name.strip() for name in args.only.split(",") if name.strip()])
    dataset, is_disbench = _loaded(args)
    track = args.track or ("standard" if is_disbench else "open")
    args.on_doubt = args.on_doubt or ("guess" if is_disbench else "abstain")
    settings, out = evaluation.settings_of(args), evaluation.out_of(args, "ablation")
    changes = {one.name: replace(settings, **one.settings) for one in chosen}  # refused at once

    def run_one(variant: Variant, folder: Path) -> RunFolder:
        console.note(f"{variant.name}: {len(dataset.questions)} questions")
        told = evaluation.listeners(console, dataset, out)
        how = replace(evaluation.options_of(args, track), without=variant.without)
        made, _ = evaluate(dataset, changes[variant.name], how, folder, told)
        return made

    lines = ablate(chosen, out, run_one)
    rows = table(lines)
    evaluation.show_problems(dataset, console)
    if args.json:
        console.json({"out": str(out), "rows": rows})
        return exit_codes.OK
    names = list(dict.fromkeys(name for row in rows for name in row if name != "variant"))
    evaluation.show_table("without", names, {row["variant"]: row for row in rows}, console)
    console.line(f"runs: {out}")
    return exit_codes.OK


def _loaded(args: argparse.Namespace) -> tuple[Dataset, bool]:
    """By its layout, told by the file of questions; and whether it is DISBench's."""
    from photocraft_local.evaluation import plain_layout
    from photocraft_local.evaluation.disbench import layout as disbench
    from photocraft_local.evaluation.photobench import layout as photobench

    folder = args.folder.absolute()
    if (folder / disbench.QUERIES).is_file():
        return disbench.load(folder, strict=args.strict), True
    if (folder / plain_layout.QUESTIONS).is_file():
        return plain_layout.load(folder, strict=args.strict), False
    return photobench.load(folder, strict=args.strict), False
