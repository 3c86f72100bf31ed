"""``photocraft compact``: give back the space of photos that are gone."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    del parser  # the shared options are enough


def run(args: argparse.Namespace, console: Console) -> int:
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        report = photos.compact()
    if args.json:
        console.json(
            {
                "dropped_photos": report.photos,
                "dropped_vectors": report.vectors,
                "cleared_crops": report.crops,
                "cleared_bytes": report.crop_bytes,
            }
        )
    else:
        console.line(
            f"dropped {count_text(report.photos, 'photo')} that were gone from disk"
            f" and {count_text(report.vectors, 'vector')}"
        )
        console.line(
            f"cleared {count_text(report.crops, 'picture of a crop', 'pictures of crops')}"
            f" ({report.crop_bytes / 1e6:,.1f} MB), which can be cut again"
        )
    return exit_codes.OK
