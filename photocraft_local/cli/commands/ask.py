"""``photocraft ask``: a question in, an exact set of photos with evidence out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from photocraft_local.app import AskAnswer, Candidates, PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.answers import answer_json, show_answer, show_plan
from photocraft_local.cli.console import Console
from photocraft_local.cli.editing import edited, read_text
from photocraft_local.cli.parser import (
    add_backbone_options,
    add_encoder_option,
    settings_overrides,
)
from photocraft_local.cli.rendering import count_text, photo_line
from photocraft_local.cli.sheets import check_target, write_sheet
from photocraft_local.errors import UsageError
from photocraft_local.settings import Settings

# Settings that ``add_output_options`` has options for.
ANSWERING = ("encoder", "backbone", "weights", "backbone_url")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", nargs="*")
    parser.add_argument(
        "--image",
        metavar="FILE",
        action="append",
        default=[],
        help="a picture that the question speaks of: 'where was this' (repeatable)",
    )
    parser.add_argument(
        "--plan", metavar="FILE", help="run this plan, - for stdin; see --show-plan"
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=int,
        help="let a model answer N times, and keep the photos that the evidence is for",
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--show-plan",
        action="store_true",
        help="print what was understood, as text that can be changed, and search nothing",
    )
    ways.add_argument(
        "--edit-plan",
        action="store_true",
        help="correct what was understood in $VISUAL or $EDITOR, then search",
    )
    add_output_options(parser)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Those of every command that gives an answer."""
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show the plan, and each step: what was asked, what came back",
    )
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE.png", help="write a contact sheet of the answer"
    )
    add_encoder_option(parser)
    add_backbone_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.sheet:
        check_target(args.sheet)
    question = " ".join(args.question)
    plan = "" if args.plan is None else _plan_in(args.plan)
    settings = Settings.load(**settings_overrides(args, *ANSWERING, "runs"))
    with _offering_resume(settings.library / "traces", console), PhotoSearch(settings) as photos:
        if args.show_plan:
            shown = photos.plan(question, pictures=args.image, plan=plan)
            show_plan(shown, console, as_json=args.json)
            return exit_codes.OK
        if args.edit_plan:
            plan = _edited(photos, question, args.image, plan, console)
        answer = photos.ask(
            question, pictures=args.image, plan=plan, **listeners(console, as_json=args.json)
        )
    return finish(answer, args, console)


@contextmanager
def _offering_resume(traces: Path, console: Console) -> Iterator[None]:
    """After Ctrl-C, where the trace of this question was begun; before that, as while the model
    starts, ``resume`` would go on with an older question."""
    console.after_ctrl_c = "run the same command again"
    before = set(traces.glob("*.json"))
    try:
        yield
    except KeyboardInterrupt:
        if set(traces.glob("*.json")) - before:
            console.after_ctrl_c = "photocraft resume goes on where it stopped"
        raise


def _plan_in(name: str) -> str:
    text = read_text(name)
    if not text.strip():
        raise UsageError(
            "the plan is empty", hint="photocraft ask QUESTION --show-plan > FILE writes one"
        )
    return text


def _edited(
    photos: PhotoSearch, question: str, pictures: list[str], plan: str, console: Console
) -> str:
    start = photos.plan(question, pictures=pictures, plan=plan).text

    def check(text: str) -> None:
        photos.plan(question, pictures=pictures, plan=text)

    return edited(start, check, console)


class Early:
    """Tells the person at once what was understood and what is in hand; on stderr, since the
    result is still to come."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._first = True

    def candidates(self, found: Candidates) -> None:
        self._console.note(f"  {found.step} {count_text(found.count, 'photo')}")
        if not self._first:
            return
        self._first = False
        for photo in found.photos:
            self._console.note(f"    candidate {photo_line(photo)}")


def listeners(console: Console, *, as_json: bool) -> dict[str, Any]:
    """For ``PhotoSearch.ask``; none with ``--json``, whose one object comes at the end."""
    if as_json:
        return {}
    early = Early(console)
    return {
        "on_plan": lambda plan: console.note(f"looking for: {plan.words}"),
        "on_candidates": early.candidates,
        "on_stage": lambda stage: console.note(f"model: {stage}"),
    }


def finish(answer: AskAnswer, args: argparse.Namespace, console: Console) -> int:
    """Sheet, output and exit code of an answer."""
    sheet = None
    if args.sheet and answer.photos:
        found = [answered.photo for answered in answer.photos]
        sheet = str(write_sheet(args.sheet, found, title=answer.question))
    if args.json:
        console.json(answer_json(answer, sheet, steps=args.explain))
    else:
        show_answer(answer, sheet, console, steps=args.explain)
    return exit_codes.of_result(int(answer.is_answered), answer.not_understood)
