"""``photocraft trace``: the kept questions, one of them step by step, a sheet of its photos; rows
for fine-tuning of some or all of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from photocraft_local.agent.export.formats import FORMATS
from photocraft_local.agent.trajectory import Trajectory, json_schema
from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console, json_text
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
        help="of a question, a trace file, or latest; without it: the list; `schema`: the JSON"
        " schema of traces; `export ID…`: rows for fine-tuning",
    )
    parser.add_argument(
        "--sheet", metavar="FILE.png", help="a contact sheet of the photos that appear in it"
    )

    parser.add_argument("--format", choices=FORMATS, help="with export (default: chatml)")
    parser.add_argument(
        "--pictures", choices=("uid", "path"), help="with export: how pictures are named (uid)"
    )
    parser.add_argument(
        "--redact", action="store_true", help="with export: without names, places, files, times"
    )
    parser.add_argument("--all", action="store_true", help="with export: every question")
    parser.add_argument(
        "--accepted", action="store_true", help="with export: only answers that hold on re-check"
    )
    parser.add_argument("--out", metavar="FILE", help="with export: a new file, not stdout")


def run(args: argparse.Namespace, console: Console) -> int:
    words = args.words
    if words[:1] == ["export"]:
        return _export(words[1:], args, console)
    if any((args.format, args.pictures, args.redact, args.all, args.accepted, args.out)):
        raise UsageError(
            "these options go with trace export", hint="photocraft trace export ID … or --all"
        )
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


def _export(names: list[str], args: argparse.Namespace, console: Console) -> int:
    if args.sheet or bool(names) == args.all:
        raise UsageError(
            "trace export needs IDs, or --all", hint="`photocraft trace` lists the questions"
        )
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        rows = photos.traces.export(
            names,
            args.format or "chatml",
            args.pictures or "uid",
            redact=args.redact,
            accepted=args.accepted,
        )
        if args.out is None:
            count = 0
            for count, row in enumerate(rows, start=1):  # noqa: B007
                console.json(row)
        else:
            count = _written(Path(args.out).expanduser(), map(json_text, rows))
    console.note(f"{count_text(count, 'row')} exported")
    return exit_codes.OK if count else exit_codes.NOTHING_FOUND


def _written(path: Path, lines: Iterable[str]) -> int:
    """A new file for its owner alone; nothing is left of one that could not be finished."""
    text = "".join(f"{line}\n" for line in lines)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as exc:
        raise UsageError(
            f"the file {str(path)!r} cannot be made: {exc.strerror}",
            hint="name a new file; nothing is ever written over",
        ) from exc
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return text.count("\n")


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
        runs = photos.traces.runs(record)
        lines = list(trace_lines(record, photos.traces.thoughts(record), runs))
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
