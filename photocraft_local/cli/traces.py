"""A trace as lines for people. Escaping is the console's business, not done here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from photocraft_local.agent.attempts import Attempt
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.app.traces import Appearance, TraceSummary
from photocraft_local.cli.console import json_text
from photocraft_local.cli.rendering import count_text, evidence_line
from photocraft_local.cli.thoughts import intent_told, step_told
from photocraft_local.memory.compaction import Compaction
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.records import Answer, Json, Step, Usage

_WIDTH = 11  # of the first column


def summary_line(summary: TraceSummary) -> str:
    if summary.problem:
        return f"{summary.episode_id}  unreadable: {summary.problem}"
    steps, photos = count_text(summary.num_steps, "step"), count_text(summary.num_photos, "photo")
    known = f"{summary.episode_id}  {summary.status}  {steps}  {photos}"
    return f"{known}  {' '.join(summary.question.split())}"


def summary_json(summary: TraceSummary) -> dict[str, Json]:
    return {
        "episode_id": summary.episode_id,
        "started": summary.started,
        "status": summary.status,
        "backbone": summary.backbone,
        "question": summary.question,
        "num_steps": summary.num_steps,
        "num_photos": summary.num_photos,
        "problem": summary.problem or None,
    }


def trace_lines(
    record: Trajectory,
    thoughts: EpisodeRecord | None = None,
    runs: Sequence[Trajectory] = (),
) -> Iterator[str]:
    """The episode in the order in which it went; ``thoughts`` is what its steps came to. ``runs``:
    those that were pooled."""
    yield from _opening(record)
    for number, run in enumerate(runs, start=1):
        found = " ".join(run.answer.uids) or run.answer.reason if run.answer else run.error
        yield _line(f"run {number}", f"{run.episode_id}  {run.status}  {found}".rstrip())
    for note in record.notes:
        yield from _block("note", note)
    for name, text in intent_told(thoughts) if thoughts else ():
        yield from _block(name, text)
    summed = bool(record.config.get("working", True))
    for number, attempt in enumerate(record.attempts, start=1):
        yield _line(f"attempt {number}", "brought no answer")
        yield from _attempt(attempt, summed=summed)
    if record.attempts:
        yield _line(f"attempt {len(record.attempts) + 1}", "")
    yield from _attempt(record, thoughts, summed=summed)
    if record.error:
        yield from _block("error", record.error)
    if record.answer:
        yield from _answer(record.answer)
    if record.seconds:
        yield _line("ran", f"{record.seconds:,.1f} s")
    if total := _tokens(sum((run.total_usage() for run in runs), record.total_usage())):
        yield _line("all", total)


def _attempt(
    attempt: Attempt, thoughts: EpisodeRecord | None = None, *, summed: bool
) -> Iterator[str]:
    """``thoughts`` is what its steps came to; without ``summed`` no summary took turns' place."""
    compactions = {made.after_step: made for made in attempt.compactions}
    cuts = {cut.step: cut for cut in attempt.cuts}
    for step in attempt.steps:
        yield from _rejected(attempt, step.index)
        yield from _step(step)
        for name, text in step_told(thoughts, step.index) if thoughts else ():
            yield from _block(name, text, inner=True)
        if cut := cuts.get(step.index):
            kept = f"{count_text(cut.items, 'entry', 'entries')} of each list"
            pictures = count_text(cut.pictures, "picture")
            yield _line("shortened", f"the prompt held {kept} and {pictures}", inner=True)
        if made := compactions.get(step.index):
            yield from _compaction(made, summed=summed)
    yield from _rejected(attempt, len(attempt.steps) + 1)
    if last := attempt.last_turn:
        yield _line("limit", f"after step {last.after_step} only an answer was left: {last.why}")
    if told := attempt.post_mortem:
        yield from _block("left behind", told.text)
        if told.problem:
            yield from _block("no words", told.problem, inner=True)
        if tokens := _tokens(told.usage):
            yield _line("tokens", tokens, inner=True)


def appearance_text(seen: Appearance) -> str:
    """``steps 1, 3, answer``, a caption on a sheet."""
    word = "step" if len(seen.steps) == 1 else "steps"
    parts = [f"{word} {', '.join(map(str, seen.steps))}"] if seen.steps else []
    return ", ".join([*parts, "answer"] if seen.is_answer else parts)


def _opening(record: Trajectory) -> Iterator[str]:
    yield _line("trace", record.episode_id)
    yield from _block("question", record.question)
    yield _line("asked", f"{record.started}, today being {record.today}, by {record.backbone}")
    yield _line("status", record.status)
    if record.plan:
        yield from _block("plan", record.plan)
    for picture in record.pictures:
        facts = f" {json_text(picture.facts)}" if picture.facts else ""
        known = f" ({picture.uid})" if picture.uid else ""
        yield _line("picture", f"{picture.id}{known}{facts}")
    for hint in record.hints or ():
        yield from _block("hint", str(hint["text"]))
        origin = {key: value for key, value in hint.items() if key != "text"}
        told = ", ".join(f"{key} {_plain(value)}" for key, value in origin.items() if value)
        yield _line("from", told or "not known", inner=True)


def _plain(value: Json) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_plain, value))
    return value if isinstance(value, str) else json_text(value)


def _step(step: Step) -> Iterator[str]:
    seen = step.observation
    yield _line(f"step {step.index}", f"{step.call.name} {json_text(step.call.arguments)}")
    if step.thought:
        yield from _block("thought", step.thought, inner=True)
    if seen.error:
        yield from _block("error", seen.error, inner=True)
    elif seen.brief:
        yield from _block("result", seen.brief, inner=True)
    if seen.images:
        yield _line("pictures", " ".join(uid for uid, _ in seen.images), inner=True)
    if told := _tokens(step.usage):
        yield _line("tokens", told, inner=True)
    if told := _tokens(seen.usage):
        yield _line("looks", told, inner=True)


def _rejected(attempt: Attempt, before: int) -> Iterator[str]:
    for reply in attempt.rejected:
        if reply["before_step"] == before:
            call = reply["call"]
            told = f": {call['name']} {json_text(call['arguments'])}" if call else ""
            yield _line("rejected", f"{reply['reason']}{told}")
            if thought := reply.get("thought"):
                yield from _block("thought", thought, inner=True)
            if tokens := _tokens(Usage(**reply.get("usage", {}))):
                yield _line("tokens", tokens, inner=True)


def _compaction(made: Compaction, *, summed: bool) -> Iterator[str]:
    tokens = ""
    if made.tokens_before:
        tokens = f"; {made.tokens_before:,} tokens became {made.tokens_after:,}"
    became = "became a summary" if summed else "were dropped"
    yield _line("compaction", f"turns up to {made.covered} {became}{tokens} ({made.why})")
    if made.problem:
        yield _line("no words", made.problem, inner=True)
    if made.prose:
        for name in ("decisions", "ruled_out", "sub_goal", "next_action"):
            if text := getattr(made.prose, name):
                yield from _block(name.replace("_", " "), text, inner=True)
    if made.plain:
        yield _line("by", "the model alone", inner=True)
        for line in (*made.plain.digest, made.plain.session):
            yield from _block("wrote", line, inner=True)
    for line in made.repaired:
        yield from _block("repaired", line, inner=True)
    if told := _tokens(made.usage):
        yield _line("tokens", told, inner=True)


def _answer(answer: Answer) -> Iterator[str]:
    text = answer.text or count_text(len(answer.uids), "photo")
    yield from _block("answer", text)
    if answer.reason:
        yield from _block("because", answer.reason, inner=True)
    for words in answer.not_understood:
        yield from _block("not used", words, inner=True)
    for uid in answer.uids:
        yield uid
        for evidence in answer.evidence.get(uid, ()):
            yield f"    {evidence_line(evidence)}"


def _tokens(usage: Usage) -> str:
    """Empty where no model was asked."""
    if not usage.prompt:
        return ""
    told = f"{usage.prompt:,} in the prompt, {100 * usage.cached // usage.prompt} % from the cache"
    told += f", {usage.generated:,} generated"
    if usage.pictures:
        told += f"; {count_text(usage.pictures, 'picture')}, {usage.pictures_sent:,} sent"
    return told


def _block(name: str, text: str, *, inner: bool = False) -> Iterator[str]:
    """A text of several lines: the name stands before the first of them."""
    lines: Sequence[str] = text.splitlines() or [""]
    for number, line in enumerate(lines):
        yield _line("" if number else name, line, inner=inner)


def _line(name: str, text: str, *, inner: bool = False) -> str:
    return f"{'    ' * inner}{name:<{_WIDTH}} {text}"
