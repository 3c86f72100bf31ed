"""``photocraft spaces list|remove``: the vectors of each encoder, side by side in one library."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import space_json, space_line
from photocraft_local.errors import UsageError
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "remove"))
    parser.add_argument("name", metavar="SPACE", nargs="?", help="with remove: a name of the list")


def run(args: argparse.Namespace, console: Console) -> int:
    if (args.name is None) != (args.action == "list"):
        raise UsageError(
            "spaces list stands alone" if args.name else "spaces remove needs a SPACE",
            hint="photocraft spaces list shows their names",
        )
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        if args.action == "list":
            return _list(photos, args.json, console)
        removed = photos.spaces.remove(args.name)
    if args.json:
        console.json({"removed": removed})
    else:
        console.line(f"removed: {removed}")
    return exit_codes.OK


def _list(photos: PhotoSearch, as_json: bool, console: Console) -> int:
    found = photos.spaces.list()
    for space in found:
        if as_json:
            console.json(space_json(space))
        else:
            console.line(space_line(space))
    if not found:
        console.note("no photo is embedded yet; photocraft index does it")
    return exit_codes.OK
