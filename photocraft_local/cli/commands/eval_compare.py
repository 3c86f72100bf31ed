"""``photocraft eval compare RUN_A RUN_B``: what changed between two runs, and whether by chance."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.rendering import count_text

if TYPE_CHECKING:
    from photocraft_local.evaluation.compare import Change, Key

_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="RUN_A", type=Path, help="the folder of a run")
    parser.add_argument("after", metavar="RUN_B", type=Path, help="of another over the same data")


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.evaluation.compare import compare
    from photocraft_local.evaluation.results import RunFolder

    found = compare(RunFolder.load(args.before), RunFolder.load(args.after))
    if args.json:
        console.json(found.to_json())
        return exit_codes.OK
    console.line(f"{'':16}{'n':>5}{'EM':>16}{'+/-':>10}{'p':>9}{'F1':>16}  {'change':<24}{'p':>7}")
    for name, change in {"overall": found.all, **found.by_kind, "words": found.text}.items():
        if change is not None:
            console.line(_line(name, change))
    console.line(found.unit.note)
    for name, (one, other) in found.differs.items():
        console.line(f"differs: {name}: {one} | {other}")
    _named("right in B only", found.gained, console)
    _named("right in A only", found.lost, console)
    for what, keys in (
        ("not in B", found.only_a),
        ("not in A", found.only_b),
        ("with another gold", found.other_gold),
    ):
        if keys:
            console.warning(f"left out, {count_text(len(keys), 'question')} {what}: {_text(keys)}")
    return exit_codes.OK


def _line(name: str, change: Change) -> str:
    (em_a, em_b), (f1_a, f1_b) = change.em, change.f1
    mean, low, high = (100 * value for value in change.f1_difference)
    em, f1 = f"{100 * em_a:.1f} → {100 * em_b:.1f}", f"{100 * f1_a:.1f} → {100 * f1_b:.1f}"
    moved = f"{mean:+.1f} ({low:+.1f} to {high:+.1f})" if low == low else f"{mean:+.1f}"
    return (
        f"{name:16}{change.num:>5}{em:>16}{f'+{change.gained}/-{change.lost}':>10}"
        f"{change.em_p:>9.4f}{f1:>16}  {moved:<24}{change.f1_p:>7.4f}"
    )


def _named(what: str, keys: Sequence[Key], console: Console) -> None:
    if keys:
        console.line(f"{what}: {_text(keys)}")


def _text(keys: Sequence[Key]) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(f"{library}/{question}" for library, question in keys[:_SHOWN]) + more
