"""``photocraft list``: every photo, one a line."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import photo_json, photo_line
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    del parser  # the shared options are enough


def run(args: argparse.Namespace, console: Console) -> int:
    count = 0
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        for photo in photos.list():
            count += 1
            if args.json:
                console.json(photo_json(photo))
            else:
                console.line(photo_line(photo))
    if not count:
        console.note("the library holds no photo; photocraft index FOLDER adds some")
    return exit_codes.OK if count else exit_codes.NOTHING_FOUND
