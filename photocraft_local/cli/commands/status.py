"""``photocraft status``: what the library holds, and every skipped file with its reason."""

from __future__ import annotations

import argparse
import os
import shlex

from photocraft_local.app import LibraryStatus, PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import add_encoder_option, settings_overrides
from photocraft_local.cli.rendering import count_text, skipped_json, space_json, space_line
from photocraft_local.records import Json, path_text
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    add_encoder_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    with PhotoSearch(Settings.load(**settings_overrides(args, "encoder"))) as photos:
        status = photos.status()
    if args.json:
        console.json(_json(status))
    else:
        _show(status, console)
    return exit_codes.OK


def _show(status: LibraryStatus, console: Console) -> None:
    console.line(f"library {status.library}")
    console.line(
        f"{count_text(status.num_photos, 'photo')} ({count_text(status.num_files, 'file')}),"
        f" {status.num_with_time:,} with a time, {status.num_with_place:,} with a place,"
        f" {count_text(status.num_events, 'event')}"
    )
    for root in status.roots:
        gone = "  (offline: not there now)" if root in status.offline_roots else ""
        console.line(f"folder {path_text(root)}{gone}")
    counts = {
        "offline": status.num_offline,
        "gone from disk": status.num_missing,
        "forgotten": status.num_forgotten,
        "with companions": status.num_companions,
    }
    for what, count in counts.items():
        if count:
            console.line(f"{what}: {count:,}")
    _show_encoder(status, console)
    for space in status.vector_spaces:
        console.line(f"vectors {space_line(space)}")
    console.line(f"skipped: {count_text(len(status.skipped), 'file')}")
    for skipped in status.skipped:
        path = path_text(skipped.path)
        named = skipped.message if path in skipped.message else f"{path}: {skipped.message}"
        console.line(f"  {skipped.reason}: {named}")


def _show_encoder(status: LibraryStatus, console: Console) -> None:
    for note in status.notes:
        console.warning(note)
    if status.num_pending:
        console.line(
            f"encoder {status.encoder}: {count_text(status.num_pending, 'photo')} without a vector;"
            f" photocraft index --encoder {shlex.quote(status.encoder)} embeds them"
        )
    elif status.num_pending == 0:
        console.line(f"encoder {status.encoder}: every photo is embedded")


def _json(status: LibraryStatus) -> dict[str, Json]:
    return {
        "library": path_text(os.fsencode(status.library)),
        "photos": status.num_photos,
        "files": status.num_files,
        "companions": status.num_companions,
        "with_time": status.num_with_time,
        "with_place": status.num_with_place,
        "events": status.num_events,
        "offline": status.num_offline,
        "missing": status.num_missing,
        "forgotten": status.num_forgotten,
        "encoder": status.encoder,
        "pending": status.num_pending,
        "spaces": dict(status.spaces),
        "vector_spaces": [space_json(space) for space in status.vector_spaces],
        "roots": [path_text(root) for root in status.roots],
        "offline_roots": [path_text(root) for root in status.offline_roots],
        "skipped": [skipped_json(skipped) for skipped in status.skipped],
        "notes": list(status.notes),
    }
