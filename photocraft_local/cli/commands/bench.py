"""``photocraft bench``: how fast this machine decodes, cuts, embeds, searches and answers."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from photocraft_local.app.bench.figures import STAGES, Figure
from photocraft_local.app.bench.plot import amount, plot
from photocraft_local.app.bench.running import Machine, machine, measure
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import (
    add_backbone_options,
    add_encoder_option,
    settings_overrides,
)
from photocraft_local.cli.sheets import check_target, write_png
from photocraft_local.records import Json
from photocraft_local.settings import Settings

_NAME, _RATE = 44, 18  # columns
_CHOSEN = ("encoder", "backbone", "weights", "backbone_url")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "stage", nargs="*", metavar="STAGE", help=f"some of {', '.join(STAGES)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="fewer photos, rounds and questions")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="write a bar chart")
    add_encoder_option(parser)
    add_backbone_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.plot:
        check_target(args.plot)
    settings = Settings.load(**settings_overrides(args, *_CHOSEN))
    console.after_ctrl_c = "what was measured until then stands above"
    found: list[Figure] = []
    here, is_cut = machine(), True
    try:
        if not args.json:
            _show_machine(here, console)
        with closing(measure(settings, args.stage, console.note, quick=args.quick)) as figures:
            for figure in figures:
                if not args.json:
                    _show(figure, found, console)
                found.append(figure)
        is_cut = False
    finally:  # Ctrl-C: what there is, is told
        if found:
            _finish(found, here, args, is_cut, console)
    return exit_codes.OK


def _finish(
    found: list[Figure], here: Machine, args: argparse.Namespace, is_cut: bool, console: Console
) -> None:
    written = None
    if args.plot:
        cut = ", stopped before its end" * is_cut
        title = f"photocraft bench on {here.processor}, {here.cores} cores{cut}"
        written = str(write_png(args.plot, plot(found, title)))
    if args.json:
        console.json(_json(found, here, args.quick, is_cut, written))
    elif written:
        console.note(f"plot: {written}")


def _show_machine(here: Machine, console: Console) -> None:
    gpus = ", ".join(here.gpus) or "no GPU"
    console.line(f"{here.processor}, {here.cores} cores, {here.memory_gib:.0f} GiB, {gpus}")
    console.line(", ".join(f"{name} {version}" for name, version in here.versions.items()))


def _show(figure: Figure, before: list[Figure], console: Console) -> None:
    """One row of the table, at once."""
    if not before or before[-1].stage != figure.stage:
        console.line()
        console.line(f"{figure.stage:<{_NAME}}  {'measured':>{_RATE}}  {'at most':>{_RATE}}  share")
    if figure.value is None:
        console.line(f"{figure.name:<{_NAME}}  not measured: {figure.why}")
        return
    measured = f"{amount(figure.value)} {figure.unit}"
    row = f"{figure.name:<{_NAME}}  {measured:>{_RATE}}"
    told = figure.note
    if figure.share is not None and figure.ceiling:
        row += f"  {amount(figure.ceiling):>{_RATE}}  {figure.share:>5.0%}"
        told = f"at most: {figure.bound}" + f"; {told}" * bool(told)
    else:
        row += " " * (_RATE + 9)
    console.line(f"{row}  {told}".rstrip())


def _json(
    found: list[Figure], here: Machine, quick: bool, is_cut: bool, written: str | None
) -> dict[str, Json]:
    return {
        "machine": {
            "processor": here.processor,
            "cores": here.cores,
            "memory_gib": round(here.memory_gib, 1),
            "gpus": list(here.gpus),
            "gpu_reason": here.gpu_reason,
            "versions": dict(here.versions),
        },
        "quick": quick,
        "complete": not is_cut,
        "figures": [_figure_json(figure) for figure in found],
        "plot": written,
    }


def _figure_json(figure: Figure) -> dict[str, Json]:
    return {
        "stage": figure.stage,
        "name": figure.name,
        "value": figure.value,
        "unit": figure.unit,
        "ceiling": figure.ceiling,
        "bound": figure.bound,
        "share": figure.share,
        "note": figure.note,
        "why": figure.why,
    }
