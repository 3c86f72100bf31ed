"""``photocraft eval retrieval FOLDER``: how well an encoder finds captioned photos by words."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.evaluation import show_faults, show_table
from photocraft_local.cli.parser import add_encoder_option, positive, settings_overrides
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.evaluation.cutoffs import Calibrated
    from photocraft_local.evaluation.retrieval_report import RetrievalReport

_KS = (1, 5, 10)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        help="with captions.csv, COCO's captions*.json or NAME.txt beside NAME.jpg",
    )
    parser.add_argument(
        "--k", metavar="K,K…", type=_ranks, default=_KS, help="of recall@k (default: 1,5,10)"
    )
    parser.add_argument(
        "--negatives",
        metavar="FILE",
        type=Path,
        help="one query a line that no photo answers; queries.csv may hold some, too",
    )
    parser.add_argument(
        "--strict", action="store_true", help="stop at the first fault of the data set"
    )
    add_encoder_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.measuring import measure_encoder

    settings = Settings.load(**settings_overrides(args, "encoder"))
    shown = console.progress("embedding photos")
    found = measure_encoder(
        settings,
        args.folder,
        args.negatives,
        strict=args.strict,
        ks=args.k,
        progress=lambda stage, done, total: shown.update(done, total),
    )
    shown.finish()
    show_faults(found.problems, console, "--json")
    if args.json:
        console.json(found.to_json())
        return exit_codes.OK
    _show(found, console)
    return exit_codes.OK


def _ranks(text: str) -> tuple[int, ...]:
    """An argparse type: whole numbers from 1 up, joined by commas."""
    return tuple(sorted({positive(part) for part in text.split(",")}))


def _show(found: RetrievalReport, console: Console) -> None:
    console.line(f"{found.encoder}: {found.num_photos} photos")
    ranks = [f"{name}_at_{k}" for k in found.ks for name in ("hit", "recall")]
    show_table("ranks", ("queries", *ranks, "mrr", "map"), found.ranking, console)
    show_table("returned sets", _names(found.sets), found.sets, console)
    if found.absent:
        empty, more = found.absent["absent_empty"], found.absent["absent_returned"]
        console.line(
            f"queries that no photo answers: {100 * empty:.1f} % return nothing,"
            f" {more:.2f} photos on average"
        )
        for _, text, number in found.returned:
            console.line(f"  returned all the same: {number} for {text}")
    else:
        console.note("no query without a right photo is there; --negatives FILE gives some")
    names = ("absent_empty", "absent_returned")
    show_table("without their photos", names, found.left_out, console)
    _show_cutoff(found.cutoff, console)


def _show_cutoff(cutoff: Calibrated, console: Console) -> None:
    if cutoff.shipped is None or cutoff.recommended is None:
        console.line(
            f"cut-off: {cutoff.cutoff:g}; too few queries to recommend one ({cutoff.too_few})"
        )
        return
    best = cutoff.recommended.shift
    console.line(
        f"cut-off: {cutoff.cutoff:g}; recommended: {cutoff.cutoff + best:g}"
        f" (cutoff_shift = {cutoff.cutoff_shift:+g}), by {cutoff.chosen_by} of one half;"
        " on the other:"
    )
    rows: dict[str, Mapping[str, float]] = {
        "as it is": cutoff.shipped.figures,
        "recommended": cutoff.recommended.figures,
    }
    show_table("", [name for name in _names(rows) if name != "absent_returned"], rows, console)


def _names(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Of the figures that each row has."""
    return list(next(iter(rows.values()), ()))
