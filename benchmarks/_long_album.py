"""A question whose answer needs a figure from each of many turns, more than a window holds.

"How many dogs on this day, cats on that day, …": each takes a search whose result is long, and the
answer has to say each count and give all photos. A count stands nowhere but in the turn that
brought it, and in what is kept of it when the turn is gone; no call gives it again without being
made again. The controller is one, with and without memory: it goes on with the first day after
those whose counts it can read, then with those that are left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from _made_life import HOME, Shot, World, shots, thing_of
from _made_questions import Question
from _memory_rows import Outcome, Row, Stream
from _reading import Prompt, read
from _rule_controller import summary

from photocraft_local.memory.compaction import WRITE_SUMMARY
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.tools.combine_sets import CombineSets
from photocraft_local.tools.search_photos import SearchPhotos
from photocraft_local.tools.submit_answer import SubmitAnswer

WINDOW = 8192
DAYS, PHOTOS = 56, 40
MAX_TURNS = 100
TOOLS = (CombineSets, SearchPhotos, SubmitAnswer)  # the schemas of all would fill the window
_DAY = re.compile(r"(\w+)s on (\d{4}-\d{2}-\d{2})")
_ALL = "all_days"


class DayByDay:
    """Sees the rendered messages and nothing else."""

    name = "day by day"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        offered = {tool["name"] for tool in tools}
        prompt = read(messages)
        if WRITE_SUMMARY["name"] in offered:
            return summary(prompt)
        things = {day: thing for thing, day in _DAY.findall(prompt.question)}
        days = list(things)
        known = [day for day in days if _set(day) in prompt.counts]
        if offered == {SubmitAnswer.name}:
            return self._answer(prompt, known, given={"photos": []})
        if len(known) < len(days):
            day = _next(days, known)
            call = {"text": things[day], "when": day, "exact": True, "save_as": _set(day)}
            return Reply(f"{day}.", ToolCall(SearchPhotos.name, call))
        if _ALL not in prompt.counts:
            call = {"op": "or", "sets": [_set(day) for day in days], "save_as": _ALL}
            return Reply("All of them.", ToolCall(CombineSets.name, call))
        return self._answer(prompt, known, given={"set": _ALL})

    def _answer(self, prompt: Prompt, known: Sequence[str], given: dict[str, object]) -> Reply:
        told = "; ".join(f"{day}: {prompt.counts[_set(day)]}" for day in known)
        evidence = [{"constraint": "days", "in_sets": [_ALL]}] if "set" in given else []
        call = {**given, "text": told or "none", "evidence": evidence}
        return Reply("What is known.", ToolCall(SubmitAnswer.name, call))


def _set(day: str) -> str:
    return f"d{day.replace('-', '')}"


def _next(days: Sequence[str], known: Sequence[str]) -> str:
    """The first unknown day behind the last known one, or else the first unknown."""
    after = days[days.index(known[-1]) + 1 :] if known else days
    return next(day for day in [*after, *days] if day not in known)


def long_album(folder: Path, rows: Sequence[Row], days: int = DAYS) -> dict[str, dict[str, float]]:
    """Row → what came of the question: exact, days told right, compactions, turns."""
    life = shots(more_a_day=PHOTOS)
    world = World(life, mistaken=0.0)
    question, counts = _question(life, days)
    found = {}
    for row in rows:
        stream = Stream(
            world, row, folder / row.name, lambda run: DayByDay(), max_turns=MAX_TURNS, tools=TOOLS
        )
        found[row.name] = _result(stream.asked(question), counts)
    return found


def _question(life: Sequence[Shot], days: int) -> tuple[Question, dict[str, int]]:
    at_home = sorted({shot.time.date() for shot in life if shot.city == HOME})
    asked = at_home[:: max(1, len(at_home) // days)][:days]
    by_day = {
        day.isoformat(): {
            shot.uid for shot in life if shot.time.date() == day and thing_of(day) in shot.shows
        }
        for day in asked
    }
    text = "How many " + ", ".join(f"{thing_of(day)}s on {day.isoformat()}" for day in asked)
    gold = frozenset(uid for uids in by_day.values() for uid in uids)
    counts = {day: len(uids) for day, uids in by_day.items()}
    return Question(text, "long", "inter", gold), counts


def _result(outcome: Outcome, counts: dict[str, int]) -> dict[str, float]:
    told = dict(part.split(": ") for part in outcome.text.split("; ") if ": " in part)
    right = sum(told.get(day) == str(number) for day, number in counts.items())
    return {
        "exact": float(outcome.em == 1.0 and right == len(counts)),
        "days_right": right,
        "days": len(counts),
        "turns": outcome.turns,
        "window_overflows": outcome.compactions,
        "prefill_tokens": outcome.prefill,
        "drift": round(outcome.drift / outcome.turns, 3),
    }
