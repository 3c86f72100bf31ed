"""``photocraft eval report RUN``: a run of questions as one page that can be mailed."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.evaluation import show_figures
from photocraft_local.cli.parser import positive
from photocraft_local.errors import UsageError

_FAILURES = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="RUN", type=Path, help="the folder of a run")
    parser.add_argument(
        "--out", metavar="FILE.html", type=Path, help="the page (default: report.html in RUN)"
    )
    parser.add_argument(
        "--photos",
        metavar="FOLDER",
        type=Path,
        help="the data set's folder, or the library of own questions, for thumbnails",
    )
    parser.add_argument(
        "--failures",
        metavar="N",
        type=_number,
        default=_FAILURES,
        help=f"how many of the worst answers are shown (default: {_FAILURES})",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """With ``--json`` a page is written only where ``--out`` names it."""
    from photocraft_local.app.own_questions import pictures_of_library
    from photocraft_local.evaluation.reports.report import check_target, report, write_html
    from photocraft_local.evaluation.results import RunFolder

    RunFolder.load(args.folder)  # what is no run is refused for that, not for its page
    if args.photos and not args.photos.is_dir():
        raise UsageError(
            f"there is no folder {str(args.photos)!r} with photos", hint="check --photos"
        )
    target = args.out or (None if args.json else args.folder / "report.html")
    if target is not None:
        check_target(target)
    found = report(args.folder, failures=args.failures)
    if target is not None:
        write_html(target, found.html(args.photos, pictures_of_library(args.photos)))
    if args.json:
        console.json(found.to_json())
        return exit_codes.OK
    show_figures(found.figures, console)
    console.line(f"report: {target}")
    return exit_codes.OK


def _number(text: str) -> int:
    """An argparse type: 0 shows none of the worst answers."""
    return 0 if text == "0" else positive(text)
