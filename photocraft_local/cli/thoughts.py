"""What an episode wanted and how it judged its steps, as pairs of a name and a text for people.

Escaping is the console's business, not done here.
"""

from __future__ import annotations

from collections.abc import Iterator

from photocraft_local.memory.episode import EpisodeRecord

Told = Iterator[tuple[str, str]]


def intent_told(record: EpisodeRecord) -> Told:
    """Context, steps with what became of them, target."""
    if record.intent.episode:
        yield "context", record.intent.episode
    for number, one in enumerate(record.plan, start=1):
        expected = f", {one.expect} expected" if one.expect else ""
        because = f": {one.why}" if one.why else ""
        yield f"goal {number}", f"{one.goal}{expected} ({one.status}{because})"
    if record.intent.target not in ("", record.question):
        yield "target", record.intent.target


def step_told(record: EpisodeRecord, step: int) -> Told:
    """What a step was to bring, where that was stated or did not come, and what was said of it."""
    for one in record.verdicts:
        if one.step == step and (one.outcome != "as expected" or ":" in one.expectation):
            yield "verdict", f"{one.outcome} ({one.expectation})"
    for told in record.reflections:
        if told.step == step:
            yield "reflection", f"{told.trigger}: {told.words}"
