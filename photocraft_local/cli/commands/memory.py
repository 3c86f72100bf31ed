"""``photocraft memory``: what earlier questions left behind, to be read, corrected, taken out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from photocraft_local.app import PhotoSearch
from photocraft_local.app.remembered import KINDS, Item, id_of, text_of
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.editing import Subject, edited
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.records import Json
from photocraft_local.settings import Settings

_WANTS = {  # what stands behind each action
    "list": "",
    "show": "ID",
    "edit": "ID",
    "forget": "ID (or --all)",
    "export": "FOLDER",
    "import": "FILE (or FOLDER)",
    "stats": "",
}
_EDITED = Subject(
    name="memory",
    undone="nothing is changed",
    editorless="or export it, edit the file, forget it here and import the file",
    ending=".md",
    again="run photocraft memory edit again with its text",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", metavar="ACTION", help=", ".join(_WANTS))
    parser.add_argument(
        "item",
        metavar="ID|FOLDER",
        nargs="?",
        help="as `memory list` prints it; files to write or read, for export and import",
    )
    parser.add_argument("--all", action="store_true", help="with forget: everything")
    parser.add_argument("--only", choices=KINDS, help="with list, export, forget --all")


def run(args: argparse.Namespace, console: Console) -> int:
    _check(args)
    actions: dict[str, Callable[[PhotoSearch, argparse.Namespace, Console], None]] = {
        "list": _list,
        "show": _show,
        "edit": _edit,
        "forget": _forget,
        "export": _export,
        "import": _import,
        "stats": _stats,
    }
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        actions[args.action](photos, args, console)
    return exit_codes.OK


def _check(args: argparse.Namespace) -> None:
    wants = _WANTS.get(args.action or "")
    if wants is None:
        said = f"there is no action {args.action!r}" if args.action else "what to do is not said"
        raise UsageError(
            f"memory: {said}",
            hint="; ".join(f"memory {name} {what}".rstrip() for name, what in _WANTS.items()),
        )
    takes_only = args.all or args.action in ("list", "export")
    if (args.all and args.action != "forget") or (args.only and not takes_only):
        raise UsageError(
            f"memory {args.action} does not go with the options given",
            hint="--all goes with forget, --only with list, export and forget --all",
        )
    if (args.item is not None) == (not wants or args.all):
        raise UsageError(
            f"memory {args.action} needs {wants or 'nothing more'}",
            hint="`photocraft memory list` shows the ids",
        )


def _list(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    items = photos.memory.list(args.only or "")
    for item in items:
        if args.json:
            console.json(_json(item))
        else:
            console.line(_line(item))
    if not items:
        console.note("nothing is remembered yet")


def _json(item: Item) -> dict[str, Json]:
    kind = "episode" if isinstance(item, EpisodeRecord) else "skill"
    return {"kind": kind, **item.to_json()}


def _line(item: Item) -> str:
    if isinstance(item, EpisodeRecord):
        found = count_text(len(item.uids), "photo")
        return f"{item.episode_id}  {item.started}  {found}  {' '.join(item.question.split())}"
    kept = f"{item.origin}{', retired' * item.retired}"
    return f"{item.skill_id}  {kept}  {item.wins} won, {item.losses} lost  {item.when}"


def _show(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    item = photos.memory.show(args.item)
    if args.json:
        console.json(_json(item))
        return
    for line in text_of(item).splitlines():
        console.line(line)


def _edit(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    memory = photos.memory
    before = text_of(memory.show(args.item))
    after = edited(before, lambda text: memory.check(args.item, text), console, _EDITED)
    item = memory.edit(args.item, after)
    changed = text_of(item) != before
    if args.json:
        console.json({"edited": id_of(item), "changed": changed})
    else:
        console.line(f"{'changed' if changed else 'left as it was'}: {id_of(item)}")


def _forget(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    if args.all:
        count = photos.memory.forget_all(args.only or "")
    else:
        photos.memory.forget(args.item)
        count = 1
    if args.json:
        console.json({"forgotten": count})
    else:
        console.line(f"forgotten: {count_text(count, 'memory', 'memories')}")


def _export(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    files = photos.memory.export(Path(args.item).expanduser(), args.only or "")
    if args.json:
        console.json({"files": [str(path) for path in files]})
    else:
        console.line(f"written: {count_text(len(files), 'file')} in {args.item}")


def _import(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    report = photos.memory.import_from(Path(args.item).expanduser())
    if args.json:
        console.json({"added": list(report.added), "unchanged": list(report.unchanged)})
        return
    known = f", {len(report.unchanged)} known already" if report.unchanged else ""
    console.line(f"added: {count_text(len(report.added), 'memory', 'memories')}{known}")


def _stats(photos: PhotoSearch, args: argparse.Namespace, console: Console) -> None:
    stats = photos.memory.stats()
    if args.json:
        console.json(stats)
        return
    for name, numbers in stats.items():
        for key, value in numbers.items():
            if not isinstance(value, dict):
                console.line(f"{name:<10}{key:<10}{value:,}")
            for inner, number in value.items() if isinstance(value, dict) else ():
                console.line(f"{name:<10}{key:<10}{number:,} {inner}")
