"""``photocraft knowledge list|add|remove``: saved pages, notes and PDF to look things up in."""

from __future__ import annotations

import argparse
import os

from photocraft_local.app import PhotoSearch
from photocraft_local.app.knowledge import KnowledgeReport, KnowledgeSource
from photocraft_local.cli import exit_codes
from photocraft_local.cli.commands.index import stages
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text, skipped_json
from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Skipped, path_text
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "add", "remove"))
    parser.add_argument(
        "files",
        metavar="FILE|DIR",
        nargs="*",
        help="with add: pages or folders of pages, without any: look again at those known;"
        " with remove: what was added",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    if args.action == "list" and args.files:
        raise UsageError("knowledge list stands alone", hint="photocraft knowledge list")
    if args.action == "remove" and not args.files:
        raise UsageError(
            "knowledge remove needs what was added", hint="photocraft knowledge list shows it"
        )
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        if args.action == "list":
            return _list(photos, args.json, console)
        if args.action == "remove":
            for file in map(os.fsencode, args.files):
                _tell_removed(file, photos.knowledge.remove(file), args.json, console)
            return exit_codes.OK
        with stages(console) as shown:
            report = photos.knowledge.add(*map(os.fsencode, args.files), progress=shown)
    if args.json:
        console.json(report_json(report))
    else:
        _tell_report(report, console)
    return exit_codes.OK


def report_json(report: KnowledgeReport) -> dict[str, Json]:
    """The object of ``knowledge add --json``."""
    return {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "dropped": report.dropped,
        "pages": report.pages,
        "passages": report.passages,
        "pictures": report.pictures,
        "skipped": [skipped_json(skipped) for skipped in report.skipped],
        "offline": [path_text(path) for path in report.offline],
        "notes": list(report.notes),
    }


def source_json(source: KnowledgeSource) -> dict[str, Json]:
    """One line of ``knowledge list --json``."""
    used = [page for page in source.pages if not page.reason]
    return {
        "source": path_text(source.path),
        "pages": [
            {
                "path": path_text(page.path),
                "kind": page.kind,
                "title": page.title,
                "passages": page.num_passages,
                "pictures": page.num_pictures,
                "left_out": dict(page.left_out),
            }
            for page in used
        ],
        "skipped": [
            skipped_json(Skipped(page.path, page.reason, page.message))
            for page in source.pages
            if page.reason
        ],
    }


def _tell_report(report: KnowledgeReport, console: Console) -> None:
    console.line(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged,"
        f" {report.dropped} dropped; the store holds {count_text(report.pages, 'page')}:"
        f" {count_text(report.passages, 'passage')}, {count_text(report.pictures, 'picture')}"
    )
    for skipped in report.skipped:
        console.line(f"skipped: {path_text(skipped.path)}: {skipped.message} ({skipped.reason})")
    for path in report.offline:
        console.note(f"not there now, so kept as it was: {path_text(path)}")
    for note in report.notes:
        console.note(note)


def _list(photos: PhotoSearch, as_json: bool, console: Console) -> int:
    sources = photos.knowledge.list()
    for source in sources:
        if as_json:
            console.json(source_json(source))
        else:
            _tell_source(source, console)
    if not sources:
        console.note("nothing was added yet; photocraft knowledge add FILE adds a page")
    return exit_codes.OK


def _tell_source(source: KnowledgeSource, console: Console) -> None:
    console.line(path_text(source.path))
    for page in source.pages:
        name = path_text(page.path)
        if page.reason:
            console.line(f"  skipped  {name}: {page.message} ({page.reason})")
            continue
        counts = f"{count_text(page.num_passages, 'passage')}, "
        counts += count_text(page.num_pictures, "picture")
        console.line(f"  {page.kind:<8} {name}  {page.title or '-'}  {counts}")
        for what, number in sorted(page.left_out.items()):
            console.line(f"           left out: {number} {what}")


def _tell_removed(file: bytes, pages: int, as_json: bool, console: Console) -> None:
    if as_json:
        console.json({"removed": path_text(file), "pages": pages})
    else:
        console.line(f"removed: {path_text(file)}, {count_text(pages, 'page')}")
