"""``photocraft memory list|show|forget``: what earlier questions left behind."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.settings import Settings

ACTIONS = ("list", "show", "forget")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", metavar="ACTION", help="list, show or forget")
    parser.add_argument("episode", metavar="ID", nargs="?", help="as `memory list` prints it")
    parser.add_argument("--all", action="store_true", help="with forget: every episode")


def run(args: argparse.Namespace, console: Console) -> int:
    _check(args)
    with PhotoSearch(Settings.load(**settings_overrides(args))) as photos:
        if args.action == "list":
            return _list(photos, args.json, console)
        if args.action == "show":
            return _show(photos, args.episode, args.json, console)
        return _forget(photos, args.episode, args.json, console)


def _check(args: argparse.Namespace) -> None:
    if args.action not in ACTIONS:
        said = f"there is no action {args.action!r}" if args.action else "what to do is not said"
        raise UsageError(
            f"memory: {said}",
            hint="memory list, memory show ID, memory forget ID or memory forget --all",
        )
    if args.action == "list" and args.episode is None:
        return
    if args.action == "list" or (args.all and args.action != "forget"):
        raise UsageError(
            f"memory {args.action} does not go with the other words given",
            hint="list stands alone, show takes one ID, forget takes one ID or --all",
        )
    if (args.episode is None) != bool(args.all):
        raise UsageError(
            f"memory {args.action} needs one ID" + (" or --all" * (args.action == "forget")),
            hint="`photocraft memory list` shows the ids",
        )


def _list(photos: PhotoSearch, as_json: bool, console: Console) -> int:
    episodes = photos.memory.list()
    for episode in episodes:
        if as_json:
            console.json(episode.to_json())
        else:
            found = count_text(len(episode.uids), "photo")
            console.line(f"{episode.episode_id}  {episode.started}  {found}  {episode.question}")
    if not episodes:
        console.note("no question was asked yet")
    return exit_codes.OK


def _show(photos: PhotoSearch, episode_id: str, as_json: bool, console: Console) -> int:
    episode = photos.memory.show(episode_id)
    if as_json:
        console.json(episode.to_json())
        return exit_codes.OK
    console.line(f"question   {episode.question}")
    console.line(f"asked      {episode.started}, answered by {episode.backbone}")
    console.line(f"answer     {' '.join(episode.uids) or 'no photo'}")
    for name, text in (("text", episode.text), ("because", episode.reason)):
        if text:
            console.line(f"{name:<11}{text}")
    for line in episode.digest:
        console.line(f"step       {line}")
    return exit_codes.OK


def _forget(photos: PhotoSearch, episode_id: str | None, as_json: bool, console: Console) -> int:
    if episode_id is None:
        count = photos.memory.forget_all()
    else:
        photos.memory.forget(episode_id)
        count = 1
    if as_json:
        console.json({"forgotten": count})
    else:
        console.line(f"forgotten: {count_text(count, 'episode')}")
    return exit_codes.OK
