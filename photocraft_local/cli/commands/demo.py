"""``photocraft demo``: a small album of real photos, indexed and asked three questions."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from photocraft_local.app import PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.answers import answer_json, show_answer
from photocraft_local.cli.commands.index import stages
from photocraft_local.cli.console import Console
from photocraft_local.cli.demo_album import build_album
from photocraft_local.cli.rendering import count_text
from photocraft_local.cli.sheets import write_sheet
from photocraft_local.settings import Settings, default_library_path

QUESTIONS = (
    "a cup of coffee in Lisbon in June 2021",
    "a motorbike in Berlin in July 2022",
    "a dog in Beijing in October 2019",  # nothing answers this one
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="where album, library and contact sheets go (default: in your data folder)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    folder = (args.folder or default_library_path().with_name("demo")).absolute()
    settings = Settings.load(library=args.library or folder / "library")
    album = folder / "album"
    count = sum(1 for _ in build_album(album))
    console.note(f"album: {count_text(count, 'photo')} of installed packages in {album}")
    console.note("their capture times and places are made up, so that there is something to ask")
    with PhotoSearch(settings) as photos:
        with stages(console) as progress:
            summary = photos.index(album, progress=progress)
        console.note(f"library: {count_text(summary.num_photos, 'photo')} in {settings.library}")
        for number, question in enumerate(QUESTIONS, start=1):
            _ask(photos, question, folder / f"answer-{number}.png", args.json, console)
    library = shlex.quote(str(settings.library))
    console.note(f'ask more: {_own_name()} ask --library {library} "a cat"')
    return exit_codes.OK


def _own_name() -> str:
    """What to type to run this program again: after scripts/demo it is not on the PATH."""
    if shutil.which("photocraft"):
        return "photocraft"
    if Path(sys.argv[0]).name == "photocraft":
        return shlex.quote(sys.argv[0])
    return f"{shlex.quote(sys.executable)} -m photocraft_local"


def _ask(photos: PhotoSearch, question: str, sheet: Path, as_json: bool, console: Console) -> None:
    answer = photos.ask(question)
    written = None
    if answer.photos:
        found = [answered.photo for answered in answer.photos]
        written = str(write_sheet(sheet, found, title=question))
    else:
        sheet.unlink(missing_ok=True)  # of an earlier run
    if as_json:
        console.json(answer_json(answer, written, steps=False))
        return
    console.line()
    console.line(f"question: {question}")
    show_answer(answer, written, console)
