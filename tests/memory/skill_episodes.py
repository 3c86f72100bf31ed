"""Episodes to learn from: steps as the tools leave them, an answer, its record."""

from __future__ import annotations

from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.records import Answer, Evidence, Json, Observation, Step, ToolCall

Finished = tuple[EpisodeRecord, Answer, list[Step]]


def step(index: int, tool: str, data: dict[str, Json] | None = None, **arguments: Json) -> Step:
    return Step(index, ToolCall(tool, arguments), Observation(tool, data=data or {"count": 2}))


def finished(
    question: str,
    steps: list[Step],
    *uids: str,
    episode_id: str = "20260101-101500-abcdef",
    met: bool = True,
    not_understood: tuple[str, ...] = (),
    text: str = "",
) -> Finished:
    """An episode with this answer, each photo with one condition that is met."""
    shown = (Evidence("in June 2021", "2021-06", "2021-06-14", met),)
    evidence: dict[str, tuple[Evidence, ...]] = dict.fromkeys(uids, shown)
    answer = Answer(uids, evidence, text=text, not_understood=not_understood)
    record = EpisodeRecord(
        episode_id=episode_id, started="2026-01-01T10:15:00+00:00", question=question, backbone="x"
    )
    for one in steps:
        record = record.with_step(one)
    return record.with_answer(answer), answer, steps


def after_the_wedding(question: str = "the day after Anna's wedding in Lucca") -> Finished:
    steps = [
        step(1, "search_photos", {"count": 0}, text="Anna marries", save_as="anna_wedding"),
        step(
            2,
            "search_photos",
            text="wedding",
            where="place('Lucca') and year == 2019",
            exact=True,
            save_as="wedding_lucca",
        ),
        step(3, "view_photos", photos=["p7k3mq", "pabcde"]),
        step(4, "around", set="wedding_lucca", unit="day", shift=1, save_as="next_day"),
        step(5, "submit_answer", {"photos": ["p7k3mq"]}, set="next_day", reason="Anna told so"),
    ]
    return finished(question, steps, "p7k3mq", "pabcde")
