"""``photocraft places list|add|remove``: names of the person's own, like "home"."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.places.named import NamedPlace
from photocraft_local.records import Json
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "add", "remove"))
    parser.add_argument("name", metavar="NAME", nargs="?", help='what you call it: "home"')
    parser.add_argument("--at", metavar="LAT,LON", help="with add: signed degrees")
    parser.add_argument("--photo", metavar="UID", help="with add: where this photo was taken")
    parser.add_argument("--place", metavar="PLACE", help="with add: a town or monument")
    parser.add_argument(
        "--radius",
        metavar="KM",
        type=float,
        help="with add: how far the name reaches (default: 0.5, or the town's own radius)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    _check(args)
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        if args.action == "list":
            return _list(photos, args.json, console)
        if args.action == "remove":
            return _remove(photos, args.name, args.json, console)
        named = photos.places.add(
            args.name, at=args.at, photo=args.photo, place=args.place, radius_km=args.radius
        )
        _tell(photos, named, args.json, console)
    return exit_codes.OK


def _check(args: argparse.Namespace) -> None:
    if (args.name is None) != (args.action == "list"):
        raise UsageError(
            "places list stands alone" if args.name else f"places {args.action} needs a NAME",
            hint='photocraft places add "grandma\'s" --at 38.7139,-9.1394',
        )
    given = [option for option in ("at", "photo", "place", "radius") if vars(args)[option]]
    if given and args.action != "add":
        raise UsageError(
            f"--{given[0]} goes with places add", hint="photocraft places add NAME --at LAT,LON"
        )


def _list(photos: PhotoSearch, as_json: bool, console: Console) -> int:
    named = photos.places.list()
    for place in named:
        _tell(photos, place, as_json, console)
    if not named:
        console.note('no place is named yet; photocraft places add "home" --at LAT,LON names one')
    return exit_codes.OK


def _tell(photos: PhotoSearch, place: NamedPlace, as_json: bool, console: Console) -> None:
    number = photos.places.count(place)
    if as_json:
        console.json(_json(place) | {"photos": number})
        return
    point = f"{place.latitude:.5f},{place.longitude:.5f}"
    found = count_text(number, "photo")
    console.line(f"{place.name}  {point}  {place.radius_km:g} km  {found}")


def _json(place: NamedPlace) -> dict[str, Json]:
    return {
        "name": place.name,
        "lat": place.latitude,
        "lon": place.longitude,
        "radius_km": place.radius_km,
    }


def _remove(photos: PhotoSearch, name: str, as_json: bool, console: Console) -> int:
    removed = photos.places.remove(name)
    if as_json:
        console.json({"removed": removed})
    else:
        console.line(f"removed: {removed}")
    return exit_codes.OK
