"""``photocraft trace``: the kept questions, one of them step by step, a sheet of its photos."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.agent.trajectory import Trajectory, json_schema
from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.cli.sheets import check_target, write_sheet
from photocraft_local.cli.traces import appearance_text, summary_json, summary_line, trace_lines
from photocraft_local.errors import AgentError, UsageError
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        metavar="ID",
        nargs="*",
        help="of a question, a trace file, or latest; `schema`: the JSON schema of traces;"
        " without it: the list",
    )
    parser.add_argument(
        "--sheet", metavar="FILE.png", help="a contact sheet of the photos that appear in it"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    words = args.words
    if args.sheet:
        check_target(Path(args.sheet))
    if len(words) > 1 or (args.sheet and words in ([], ["schema"])):
        raise UsageError(
            "trace shows one question at a time",
            hint="photocraft trace lists them; photocraft trace ID shows one",
        )
    if words == ["schema"]:
        console.json(json_schema())
        return exit_codes.OK
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        if not words:
            return _list(photos, args.json, console)
        return _show(photos, words[0], args, console)


def _list(photos: PhotoSearch, as_json: bool, console: Console) -> int:
    summaries = photos.traces.list()
    for summary in summaries:
        if as_json:
            console.json(summary_json(summary))
        else:
            console.line(summary_line(summary))
    if not summaries:
        console.note("no question was asked yet")
    return exit_codes.OK


def _show(photos: PhotoSearch, name: str, args: argparse.Namespace, console: Console) -> int:
    record = photos.traces.open(name)
    if args.sheet:
        _sheet(photos, record, Path(args.sheet), console)
    if args.json:
        console.json(record.to_json())
        return exit_codes.OK
    try:
        lines = list(trace_lines(record))
    except (AttributeError, KeyError, TypeError, ValueError) as exc:  # a file of another's hand
        raise AgentError(
            f"the trace {name!r} holds what no trace can hold: {exc!r}",
            hint="`photocraft trace schema` prints what one may hold",
        ) from exc
    for line in lines:
        console.line(line)
    return exit_codes.OK


def _sheet(photos: PhotoSearch, record: Trajectory, path: Path, console: Console) -> None:
    seen, gone = photos.traces.photos(record)
    if gone:
        console.warning(f"not in the library any more: {', '.join(gone)}")
    if not seen:
        raise UsageError(
            "no photo of the library appears in this trace", hint="leave --sheet out to read it"
        )
    captions = [appearance_text(one) for one in seen]
    write_sheet(path, [one.photo for one in seen], captions, title=record.question)
    console.note(f"contact sheet: {path} ({count_text(len(seen), 'photo')})")
