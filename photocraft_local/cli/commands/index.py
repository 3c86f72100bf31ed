"""``photocraft index``: find the photos of folders and make them searchable."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

from photocraft_local.app import IndexSummary, PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import add_encoder_option, positive, settings_overrides
from photocraft_local.cli.progress import Progress, duration
from photocraft_local.cli.rendering import count_text, skipped_json
from photocraft_local.records import path_text
from photocraft_local.settings import Settings

_STAGES = {
    "load": "loading the encoder, whose files are built once",
    "prepare": "building the gazetteer, once",
    "scan": "scanning",
    "read": "reading",
    "embed": "embedding",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders",
        metavar="DIR",
        nargs="*",
        help="folders with photos; none = those of the earlier runs. They are only read",
    )
    add_encoder_option(parser)
    parser.add_argument("--workers", type=int, metavar="N", help="decode threads; 0 = all cores")
    parser.add_argument(
        "--batch-size", type=positive, metavar="N", help="photos embedded and stored together"
    )
    parser.add_argument("--max-pixels", type=positive, metavar="N", help="pixel limit of one photo")


def run(args: argparse.Namespace, console: Console) -> int:
    overrides = settings_overrides(args, "encoder", "workers", "batch_size", "max_pixels")
    folders = [os.fsencode(folder) for folder in args.folders]
    with PhotoSearch(Settings.load(**overrides)) as photos, stages(console) as shown:
        summary = photos.index(*folders, progress=shown)
    _show(summary, args.json, console)
    return exit_codes.OK


class Stages:
    """One progress line a stage, in the order in which the stages come."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stage = ""
        self._line: Progress | None = None

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if stage != self._stage or self._line is None:
            self.close()
            self._stage = stage
            self._line = self._console.progress(_STAGES.get(stage, stage))
        self._line.update(done, total)

    def close(self) -> None:
        if self._line is not None:
            self._line.finish()
        self._line = None


@contextmanager
def stages(console: Console) -> Iterator[Stages]:
    """Progress lines that are taken away again at the end, whatever ends it."""
    shown = Stages(console)
    try:
        yield shown
    finally:
        shown.close()


def _show(summary: IndexSummary, as_json: bool, console: Console) -> None:
    for note in summary.notes:
        console.warning(note)
    for problem in summary.problems:
        console.warning(f"{path_text(problem.path)}: {problem.message}; the next run tries again")
    for root in summary.offline_roots:
        console.warning(f"{path_text(root)} is not there now; its photos are kept as offline")
    if as_json:
        console.json(_json(summary))
        return
    counts = ("added", "changed", "moved", "restored", "missing", "duplicates")
    parts = [f"{getattr(summary, name):,} {name}" for name in counts if getattr(summary, name)]
    if summary.unchanged:  # files, those that were refused included; the others are photos
        parts.append(f"{count_text(summary.unchanged, 'file')} unchanged")
    console.line(
        f"{count_text(summary.num_photos, 'photo')} in the library"
        f" ({', '.join(parts) or 'nothing new'})"
    )
    console.line(f"{summary.embedded:,} embedded in {duration(summary.seconds)}")
    if summary.skipped:
        console.line(
            f"{count_text(len(summary.skipped), 'file')} skipped;"
            " each with its reason: photocraft status"
        )


def _json(summary: IndexSummary) -> dict[str, object]:
    return {
        "photos": summary.num_photos,
        "added": summary.added,
        "changed": summary.changed,
        "moved": summary.moved,
        "restored": summary.restored,
        "missing": summary.missing,
        "duplicates": summary.duplicates,
        "unchanged": summary.unchanged,
        "embedded": summary.embedded,
        "seconds": round(summary.seconds, 3),
        "skipped": [skipped_json(skipped) for skipped in summary.skipped],
        "problems": [skipped_json(problem) for problem in summary.problems],
        "offline_roots": [path_text(root) for root in summary.offline_roots],
        "notes": list(summary.notes),
    }
