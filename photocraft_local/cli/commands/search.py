"""``photocraft search``: photos that look like words or a picture, with exact filters."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.app import PhotoSearch, SearchAnswer
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import add_encoder_option, positive, settings_overrides
from photocraft_local.cli.rendering import count_text, photo_line
from photocraft_local.cli.sheets import check_target, write_sheet
from photocraft_local.records import Json, paths_json
from photocraft_local.settings import Settings

_FILTERS = (
    ("--after", "TIME", "not before the start of a date, month or year: 2021-06, 'May 2021'"),
    ("--before", "TIME", "before the start of a date, month or year"),
    ("--when", "WORDS", "any words for time: 'summer 2020', 'weekends', 'in the morning'"),
    ("--near", "PLACE|LAT,LON", "around a place or a position, see --km"),
    ("--in", "PLACE", "inside a city, region or country"),
    ("--camera", "TEXT", "the camera's name contains this"),
    ("--where", "EXPR", "a filter expression, e.g. 'hour >= 18 and country == \"Italy\"'"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="*", help="what the photo shows")
    parser.add_argument(
        "--like",
        metavar="FILE|UID",
        action="append",
        default=[],
        help="looks like this photo: of the library, or any picture file (repeatable)",
    )
    parser.add_argument(
        "--not",
        dest="not_text",
        metavar="TEXT",
        action="append",
        default=[],
        help="does not show this (repeatable)",
    )
    for option, metavar, text in _FILTERS:
        dest = "place" if option == "--in" else option[2:]
        parser.add_argument(option, dest=dest, metavar=metavar, help=text)
    parser.add_argument("--km", type=float, metavar="N", help="radius of --near")
    parser.add_argument(
        "-k",
        "--top",
        type=positive,
        metavar="N",
        help="the N best, matches or not (default: every match, however many)",
    )
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE.png", help="write a contact sheet of the result"
    )
    add_encoder_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.sheet:
        check_target(args.sheet)
    with PhotoSearch(Settings.load(**settings_overrides(args, "encoder"))) as photos:
        answer = photos.search(
            " ".join(args.text),
            like=args.like,
            not_text=args.not_text,
            after=args.after,
            before=args.before,
            when=args.when,
            near=args.near,
            km=args.km,
            place=args.place,
            camera=args.camera,
            where=args.where,
            top_k=args.top,
        )
    sheet = _sheet(args.sheet, answer, " ".join(args.text))
    _show(answer, sheet, args.json, console)
    return exit_codes.of_result(len(answer.matches), answer.not_understood)


def _sheet(path: Path | None, answer: SearchAnswer, title: str) -> str | None:
    if path is None or not answer.photos:
        return None
    captions = ["" if found.score is None else f"{found.score:.2f}" for found in answer.photos]
    found = [found.photo for found in answer.photos]
    return str(write_sheet(path, found, captions, title=title))


def _show(answer: SearchAnswer, sheet: str | None, as_json: bool, console: Console) -> None:
    if as_json:
        console.json(_json(answer, sheet))
        return
    for found in answer.photos:
        console.line(photo_line(found.photo, found.score, weak=not answer.is_match(found)))
    console.note(_summary(answer))
    if answer.num_unindexed:
        console.warning(
            f"{count_text(answer.num_unindexed, 'photo')} could not be found, having no vector"
            " yet: photocraft index"
        )
    if answer.not_understood:
        console.warning(f"not used, since not understood: {', '.join(answer.not_understood)}")
    if sheet:
        console.note(f"contact sheet: {sheet}")


def _summary(answer: SearchAnswer) -> str:
    text = count_text(len(answer.matches), "match", "matches")
    if answer.cutoff is not None:
        text += f" (score {answer.cutoff:.2f} or more"
        text += "; '?' marks the rest)" if len(answer.photos) > len(answer.matches) else ")"
    text += f" among {count_text(answer.num_candidates, 'photo')}"
    if answer.filter:
        text += f" that passed the filter {answer.filter}"
    if not answer.photos and answer.num_candidates and answer.cutoff is not None:
        text += "; -k 10 shows the nearest ones"
    return text


def _json(answer: SearchAnswer, sheet: str | None) -> dict[str, Json]:
    return {
        "photos": [
            {
                "uid": found.photo.uid,
                **paths_json(found.photo.paths),
                "score": None if found.score is None else round(found.score, 6),
                "match": answer.is_match(found),
            }
            for found in answer.photos
        ],
        "filter": answer.filter,
        "candidates": answer.num_candidates,
        "without_vector": answer.num_unindexed,
        "matches": len(answer.matches),
        "cutoff": answer.cutoff,
        "understood": list(answer.understood),
        "not_understood": list(answer.not_understood),
        "sheet": sheet,
    }
