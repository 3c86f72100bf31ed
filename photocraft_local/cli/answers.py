"""Answers and plans as text for people and as JSON for scripts (docs/cli.md has the keys)."""

from __future__ import annotations

from dataclasses import asdict

from photocraft_local.app import AskAnswer, AskedPlan, AskedRun
from photocraft_local.cli.console import Console, json_text
from photocraft_local.cli.rendering import count_text, evidence_json, evidence_line, photo_line
from photocraft_local.records import Json, Step, Usage, paths_json

_LIMITS = {
    "turns": "it took as many turns as it may (setting max_turns)",
    "tokens": "it took as many tokens as it may (setting max_tokens)",
    "seconds": "it took as long as it may (setting max_seconds)",
    "replies": "the model's replies could not be used",
    "window": "the model's window is full",
}


def show_plan(plan: AskedPlan, console: Console, *, as_json: bool) -> None:
    """The text alone, so that it can be kept in a file."""
    if as_json:
        console.json({"question": plan.question, "plan": plan_json(plan)})
        return
    for line in plan.text.splitlines():
        console.line(line)


def show_answer(
    answer: AskAnswer, sheet: str | None, console: Console, *, steps: bool = False
) -> None:
    """Plan and steps if wanted, then the set, one photo a line with its evidence below it."""
    if steps:
        _explain(answer, console)
    console.line(answer.text or (count_text(len(answer), "photo") if len(answer) else "no photo"))
    if answer.reason and answer.reason != answer.text:
        console.line(answer.reason if answer.photos else f"because: {answer.reason}")
    if answer.is_answered and not answer.photos:
        console.note("the answer is in words alone: no photo of the library is given to prove it")
    for answered in answer.photos:
        console.line(photo_line(answered.photo))
        for evidence in answered.evidence:
            console.line(f"    {evidence_line(evidence)}")
    for run in answer.runs:
        console.note(_run_line(run))
    for note in answer.notes:
        console.note(note)
    if answer.filter:
        console.note(f"filter: {answer.filter}")
    if answer.understood:
        console.note(f"understood: {'; '.join(answer.understood)}")
    if answer.not_understood:
        console.warning(f"not used, since not understood: {', '.join(answer.not_understood)}")
    if answer.limit:
        console.note(f"the answer was due at once: {_LIMITS[answer.limit]}")
    if sheet:
        console.note(f"contact sheet: {sheet}")
    if answer.usage and steps:
        console.note(_usage_line(answer.usage))
    if answer.trajectory and steps:
        console.note(f"every step is kept in {answer.trajectory}")


def _explain(answer: AskAnswer, console: Console) -> None:
    if answer.plan:
        console.line(f"plan: {answer.plan.words}")
        for line in answer.plan.text.splitlines():
            if not line.startswith("# "):
                console.line(f"    {line}")
    for run in answer.runs:
        console.line(_run_line(run))
        for step in run.steps:
            console.line(f"    {_step_line(step)}")
    for step in () if answer.runs else answer.steps:
        console.line(_step_line(step))


def _run_line(run: AskedRun) -> str:
    """E.g. ``run 2: p7k3mq, in the answer``."""
    gave = ", ".join(run.photos) or run.problem or run.text or run.reason or "nothing"
    kept = ", in the answer" if run.is_kept and run.photos else ""
    limit = f"; due at once: {_LIMITS[run.limit]}" if run.limit else ""
    return f"run {run.number}: {gave}{kept}{limit}"


def answer_json(answer: AskAnswer, sheet: str | None, *, steps: bool) -> dict[str, Json]:
    form: dict[str, Json] = {
        "question": answer.question,
        "plan": plan_json(answer.plan) if answer.plan else None,
        "photos": [
            {
                "uid": answered.photo.uid,
                **paths_json(answered.photo.paths),
                "evidence": [evidence_json(evidence) for evidence in answered.evidence],
            }
            for answered in answer.photos
        ],
        "text": answer.text,
        "value": answer.value or None,
        "reason": answer.reason,
        "filter": answer.filter,
        "understood": list(answer.understood),
        "not_understood": list(answer.not_understood),
        "sheet": sheet,
        "trajectory": str(answer.trajectory) if answer.trajectory else None,
        "usage": asdict(answer.usage) if answer.usage else None,
        "limit": answer.limit or None,
        "attempts": answer.attempts,
        "runs": [_run_json(run, steps=steps) for run in answer.runs],
        "notes": list(answer.notes),
    }
    if steps:
        form["steps"] = [_step_json(step) for step in answer.steps]
    return form


def _run_json(run: AskedRun, *, steps: bool) -> dict[str, Json]:
    form: dict[str, Json] = {
        "run": run.number,
        "uids": list(run.photos),
        "text": run.text,
        "reason": run.reason,
        "problem": run.problem or None,
        "kept": run.is_kept,
        "limit": run.limit or None,
        "trajectory": str(run.trajectory) if run.trajectory else None,
        "usage": asdict(run.usage) if run.usage else None,
    }
    return form | ({"steps": [_step_json(step) for step in run.steps]} if steps else {})


def _step_json(step: Step) -> dict[str, Json]:
    return {
        "tool": step.call.name,
        "arguments": step.call.arguments,
        "outcome": step.observation.brief,
        "error": step.observation.error,
    }


def plan_json(plan: AskedPlan) -> dict[str, Json]:
    return {
        "words": plan.words,
        "text": plan.text,
        "pictures": [
            {
                "id": picture.id,
                **paths_json((picture.path,)),
                "taken_at": picture.time.isoformat() if picture.time else None,
                "lat": picture.latitude,
                "lon": picture.longitude,
            }
            for picture in plan.pictures
        ],
    }


def _usage_line(usage: Usage) -> str:
    """E.g. ``12,400 prompt tokens (9,100 from the cache), 310 generated; pictures: 9 in prompts,
    3 of them sent, the others named``."""
    told = f"{usage.prompt:,} prompt tokens ({usage.cached:,} from the cache)"
    told += f", {usage.generated:,} generated"
    if usage.pictures:
        told += f"; pictures: {usage.pictures:,} in prompts, {usage.pictures_sent:,} of them sent,"
        told += " the others named"
    return told


def _step_line(step: Step) -> str:
    outcome = step.observation.error or step.observation.brief
    return f"step {step.index}: {step.call.name} {json_text(step.call.arguments)} -> {outcome}"
