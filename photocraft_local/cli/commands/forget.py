"""``photocraft forget UID``: take one photo and all that was derived from it out."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("uid", metavar="UID", help="of a photo or of a crop")


def run(args: argparse.Namespace, console: Console) -> int:
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        uid = photos.forget(args.uid)
    if args.json:
        console.json({"forgotten": uid})
    else:
        console.line(f"forgotten: {uid} (its vector, crops, traces and memories; no file of yours)")
    return exit_codes.OK
