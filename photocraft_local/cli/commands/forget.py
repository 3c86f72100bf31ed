"""``photocraft forget``: take one photo and all that was derived from it, or a folder, out."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("uid", metavar="UID", nargs="?", help="of a photo or of a crop")
    parser.add_argument(
        "--folder", metavar="DIR", help="instead: stop knowing an indexed folder and its photos"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    if (args.uid is None) == (args.folder is None):
        raise UsageError(
            "forget needs one UID, or --folder DIR", hint="photocraft list prints the UIDs"
        )
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        if args.folder is not None:
            return _folder(photos, args.folder, args.json, console)
        uid = photos.forget(args.uid)
    if args.json:
        console.json({"forgotten": uid})
    else:
        console.line(f"forgotten: {uid} (its vector, crops, traces and memories; no file of yours)")
    return exit_codes.OK


def _folder(photos: PhotoSearch, folder: str, as_json: bool, console: Console) -> int:
    count = photos.remove_folder(folder)
    if as_json:
        console.json({"folder": folder, "photos": count})
    else:
        console.line(
            f"{count_text(count, 'photo')} left the library with {folder}; photocraft compact"
            " drops what is kept of them, photocraft index brings them back"
        )
    return exit_codes.OK
