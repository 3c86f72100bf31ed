"""``photocraft show UID``: all that is known of one photo."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoDetails, PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text, details_json, photo_line, place_text
from photocraft_local.records import path_text
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("uid", metavar="UID", help="as list and search print it")


def run(args: argparse.Namespace, console: Console) -> int:
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        details = photos.show(args.uid)
    if args.json:
        console.json(details_json(details))
    else:
        for name, value in _rows(details):
            console.line(f"{name:<12}{value}")
    return exit_codes.OK


def _rows(details: PhotoDetails) -> list[tuple[str, str]]:
    photo = details.photo
    rows = [("uid", photo.uid)]
    rows += [("path", path_text(path)) for path in photo.paths]
    rows += [("companion", path_text(path)) for path in photo.companions]
    rows.append(("size", f"{photo.width} x {photo.height}, {photo.format}"))
    if photo.taken:
        rows.append(("taken", f"{photo.taken.isoformat()} ({photo.taken.source})"))
    if photo.location:
        rows.append(("position", f"{photo.location.latitude:.6f}, {photo.location.longitude:.6f}"))
        rows.append(("place", place_text(photo)))
    if photo.camera:
        rows.append(("camera", photo.camera))
    if photo.flags:
        rows.append(("flags", ", ".join(photo.flags)))
    if photo.offline:
        rows.append(("offline", "its folder is not there now"))
    rows.append(("sha256", photo.digest))
    if details.event:
        event = details.event
        facts = f"{count_text(event.count, 'photo')}, {event.start} to {event.end}"
        rows.append(("event", f"{facts}, {event.place}" if event.place else facts))
    return rows + [("nearby", photo_line(other)) for other in details.neighbours]
