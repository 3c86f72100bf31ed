"""``photocraft ask``: a question in, an exact set of photos with evidence out."""

from __future__ import annotations

import argparse
from pathlib import Path

from photocraft_local.app import AskAnswer, PhotoSearch
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console, json_text
from photocraft_local.cli.parser import add_encoder_option, settings_overrides
from photocraft_local.cli.rendering import count_text, evidence_json, evidence_line, photo_line
from photocraft_local.cli.sheets import check_target, write_sheet
from photocraft_local.records import Json, Step, paths_json
from photocraft_local.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", nargs="+")
    parser.add_argument(
        "--explain", action="store_true", help="show each step: what was asked, what came back"
    )
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE.png", help="write a contact sheet of the answer"
    )
    add_encoder_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.sheet:
        check_target(args.sheet)
    with PhotoSearch(Settings.load(**settings_overrides(args, "encoder"))) as photos:
        answer = photos.ask(" ".join(args.question))
    sheet = None
    if args.sheet and answer.photos:
        found = [answered.photo for answered in answer.photos]
        sheet = str(write_sheet(args.sheet, found, title=answer.question))
    if args.json:
        console.json(answer_json(answer, sheet, steps=args.explain))
    else:
        show_answer(answer, sheet, console, steps=args.explain)
    return exit_codes.of_result(len(answer), answer.not_understood)


def show_answer(
    answer: AskAnswer, sheet: str | None, console: Console, *, steps: bool = False
) -> None:
    """Steps if wanted, then the set, one photo a line with its evidence below it."""
    if steps:
        for step in answer.steps:
            console.line(_step_line(step))
    console.line(answer.text or (count_text(len(answer), "photo") if len(answer) else "no photo"))
    if answer.reason and answer.reason != answer.text:
        console.line(f"because: {answer.reason}")
    for answered in answer.photos:
        console.line(photo_line(answered.photo))
        for evidence in answered.evidence:
            console.line(f"    {evidence_line(evidence)}")
    if answer.filter:
        console.note(f"filter: {answer.filter}")
    if answer.understood:
        console.note(f"understood: {'; '.join(answer.understood)}")
    if answer.not_understood:
        console.warning(f"not used, since not understood: {', '.join(answer.not_understood)}")
    if sheet:
        console.note(f"contact sheet: {sheet}")
    if answer.trajectory and steps:
        console.note(f"every step is kept in {answer.trajectory}")


def answer_json(answer: AskAnswer, sheet: str | None, *, steps: bool) -> dict[str, Json]:
    form: dict[str, Json] = {
        "question": answer.question,
        "photos": [
            {
                "uid": answered.photo.uid,
                **paths_json(answered.photo.paths),
                "evidence": [evidence_json(evidence) for evidence in answered.evidence],
            }
            for answered in answer.photos
        ],
        "text": answer.text,
        "reason": answer.reason,
        "filter": answer.filter,
        "understood": list(answer.understood),
        "not_understood": list(answer.not_understood),
        "sheet": sheet,
        "trajectory": str(answer.trajectory) if answer.trajectory else None,
    }
    if steps:
        form["steps"] = [
            {
                "tool": step.call.name,
                "arguments": step.call.arguments,
                "outcome": step.observation.brief,
                "error": step.observation.error,
            }
            for step in answer.steps
        ]
    return form


def _step_line(step: Step) -> str:
    outcome = step.observation.error or step.observation.brief
    return f"step {step.index}: {step.call.name} {json_text(step.call.arguments)} -> {outcome}"
