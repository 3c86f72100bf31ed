"""What the commands share that put questions: options of a run, progress, the table.

Knows no layout of a data set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import (
    add_backbone_options,
    add_encoder_option,
    positive,
    settings_overrides,
)
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.records import Json
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.app.benchmarking import Listeners, Options
    from photocraft_local.evaluation.dataset import Dataset
    from photocraft_local.evaluation.problems import Problems
    from photocraft_local.evaluation.results import ResultRow, RunFolder

_PRESETS = ("direct", "embedding-only", "imageseeker", "lmm-searcher", "photocraft")
_SHOWN_PROBLEMS = 20


def add_run_options(parser: argparse.ArgumentParser, *, on_doubt: str) -> None:
    """``on_doubt``: the data set's own rule; empty where there are several."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="the data set's folder")
    parser.add_argument(
        "--libraries", metavar="FOLDER", type=Path, help="where the users' libraries are kept"
    )
    parser.add_argument(
        "--skills", metavar="FOLDER", type=Path, help="a run whose skills of other users are hints"
    )
    add_how_options(parser, on_doubt=on_doubt)
    add_asking_options(parser)


def add_how_options(parser: argparse.ArgumentParser, *, on_doubt: str) -> None:
    """Of a run over a data set or a library."""
    parser.add_argument(
        "--preset",
        choices=_PRESETS,
        default="photocraft",
        help="whose tools and context rules (default: photocraft)",
    )
    parser.add_argument(
        "--on-doubt",
        choices=("guess", "abstain"),
        default=on_doubt or None,
        help="an empty answer gives way to the best that was found, or stays empty"
        f" (default: {on_doubt or 'the rule of the data set'})",
    )
    parser.add_argument("--out", metavar="FOLDER", type=Path, help="of the run; resumes it")
    parser.add_argument(
        "--top-k", metavar="K", type=positive, default=0, help="of embedding-only: the K nearest"
    )
    parser.add_argument(
        "--strict", action="store_true", help="stop at the first fault of the data set"
    )


def add_asking_options(parser: argparse.ArgumentParser) -> None:
    """Of every run of questions."""
    parser.add_argument(
        "--runs", metavar="N", type=int, help="a model answers each question N times, one is chosen"
    )
    parser.add_argument(
        "--concurrency", metavar="N", type=positive, default=1, help="questions at once"
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help="ask again what ended with an error"
    )
    add_encoder_option(parser)
    add_backbone_options(parser)


def settings_of(args: argparse.Namespace) -> Settings:
    given = settings_overrides(args, "encoder", "backbone", "weights", "backbone_url", "runs")
    return Settings.load(**given)


def options_of(args: argparse.Namespace, track: str) -> Options:
    from photocraft_local.app.benchmarking import Options

    if args.top_k and args.preset != "embedding-only":
        raise UsageError(
            f"--top-k is of the preset embedding-only, and the preset is {args.preset}",
            hint="leave it out, or add --preset embedding-only",
        )
    skills = getattr(args, "skills", None)
    return Options(
        preset=args.preset,
        track="standard" if track == "standard" else "open",
        on_doubt=args.on_doubt,
        concurrency=args.concurrency,
        libraries=getattr(args, "libraries", None),
        skills=skills and skills.absolute(),
        top_k=args.top_k,
        retry_failed=args.retry_failed,
    )


def out_of(args: argparse.Namespace, name: str) -> Path:
    """The run's folder; by default a new one here."""
    now = datetime.now(UTC)
    return (args.out or Path(f"{name}-{now:%Y%m%d-%H%M%S}")).absolute()


def listeners(console: Console, dataset: Dataset, out: Path) -> Listeners:
    from photocraft_local.app.benchmarking import Listeners

    return Listeners(
        on_album=lambda name, num: console.note(f"library of {name}: {num} photos"),
        on_row=on_row_of(console, len(dataset.questions), out),
        on_stage=lambda stage: console.note(f"model: {stage}"),
    )


def on_row_of(console: Console, total: int, out: Path) -> Callable[[ResultRow], None]:
    """A line a question, on stderr."""
    done = 0
    console.after_ctrl_c = f"the same command with --out {out} goes on"

    def on_row(row: ResultRow) -> None:
        nonlocal done
        done += 1
        end = "right" if row.right else f"F1 {row.f1:.2f}" if row.has_gold else "wrong"
        console.note(f"{done}/{total} {row.library} {row.question}: {end} ({row.status})")

    return on_row


def note_rules(settings: Settings, console: Console) -> None:
    from photocraft_local.app.asking import RULES_ARE_ONE
    from photocraft_local.app.backbones import chosen

    if settings.runs > 1 and chosen(settings) == "planner":
        console.note(RULES_ARE_ONE)


def show_runs(runs: dict[str, Json], console: Console) -> None:
    """What choosing among several runs of a question is worth; nothing without them."""
    if runs:
        console.line(
            f"runs: {runs['runs']}; one alone F1 {100 * runs['one']:.1f}, majority"
            f" {100 * runs['majority']:.1f}, chosen {100 * runs['chosen']:.1f},"
            f" best of all {100 * runs['best']:.1f}"
        )


def show_problems(dataset: Dataset, console: Console) -> None:
    show_faults(dataset.problems, console, "run.json")


def show_faults(problems: Problems, console: Console, where: str) -> None:
    """``where`` all of them are named; what was left out for no fault is said as well."""
    for what, num in sorted(problems.left_out.items()):
        console.note(f"left out: {num} {what}")
    for problem in problems.named[:_SHOWN_PROBLEMS]:
        console.warning(str(problem))
    if total := problems.counts.total():
        counts = ", ".join(f"{kind} {num}" for kind, num in sorted(problems.counts.items()))
        told = count_text(total, "fault")
        console.warning(f"{told} of the data set, named in {where}: {counts}")


def report(
    dataset: Dataset, folder: RunFolder, rows: Sequence[ResultRow], extra: dict[str, Json]
) -> dict[str, Json]:
    """The object that ``--json`` prints."""
    from photocraft_local.evaluation.reports.figures import figures

    return {
        "dataset": dataset.name,
        "out": str(folder.path),
        "identity": folder.head["identity"],
        "problems": dict(sorted(dataset.problems.counts.items())),
        "left_out": dict(sorted(dataset.problems.left_out.items())),
        "figures": figures(rows),
        **extra,
    }


def show_scores(told: dict[str, Json], console: Console) -> None:
    show_figures(told["figures"], console)
    console.line(f"run: {told['out']}")


def show_figures(figures: dict[str, Json], console: Console) -> None:
    console.line(f"{'':16}{'n':>5}  {'EM':>18}  {'F1':>18}")
    for name, scores in {"overall": figures["all"], **figures["by_kind"]}.items():
        em, f1 = (_with_interval(scores[part]) for part in ("em", "f1"))
        console.line(f"{name:16}{scores['num']:>5}  {em:>18}  {f1:>18}")
    console.line(figures["unit"]["note"])
    cost = figures["cost"]
    share = "none" if cost["cached_share"] is None else f"{100 * cost['cached_share']:.1f} %"
    console.line(
        f"tokens: {cost['prompt_tokens']} of prompts, {share} from the cache,"
        f" {cost['generated_tokens']} generated; {cost['seconds']:.1f} s"
    )
    status = ", ".join(f"{num} {name}" for name, num in figures["status"].items())
    console.line(f"ended: {status}")
    if words := figures["text"]:
        shares = ", ".join(
            f"{100 * words[f'text_{rule}']:.1f} {rule}"
            for rule in ("exact", "normalised", "contained")
        )
        console.line(f"answers in words ({words['num']}): {shares}")
    if classes := figures["failure_classes"]:
        console.line("wrong: " + ", ".join(f"{num} {name}" for name, num in classes.items()))


def show_table(
    title: str, names: Sequence[str], rows: Mapping[str, Mapping[str, Json]], console: Console
) -> None:
    """A line a row, a column a name; a number that is not there is a dash."""
    width = max(14, *[len(name) for name in rows]) if rows else 14
    console.line(f"{title:<{width}}  " + "  ".join(f"{name:>8}" for name in names))
    for label, row in rows.items():
        cells = [_cell(row.get(name)) for name in names]
        padded = [f"{cell:>{max(8, len(n))}}" for cell, n in zip(cells, names, strict=True)]
        console.line(f"{label:<{width}}  " + "  ".join(padded))


def _cell(value: Json) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _with_interval(values: Sequence[float | None]) -> str:
    mean, low, high = ("-" if value is None else f"{100 * value:.1f}" for value in values)
    return mean if low == high == "-" else f"{mean} ({low}–{high})"
