"""A controller by rules that sees the rendered messages and nothing else.

It can take a question apart and can tell from the rows of a result whether they are what the words
mean; which call brings them it does not know. A way that a hint in the prompt describes is tried
first, then ways that ``recall`` tells, then all that comes to mind, until a result fits. It keeps
nothing between two calls: what was dropped from the prompt is tried again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from _reading import Made, Prompt, read
from _ways import Call, Way, Words, filled, repertoire, retold, words_of

from photocraft_local.memory.compaction import WRITE_SUMMARY
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema

_WAY = re.compile(r"Way: (.*?)\.(?: Beware:|$)")
_NOTE = re.compile(r"^\S+ (\".*?\") -> \d+ photos")
_STEP = re.compile(r"(\d+) (\w+) (?=\{)")
_WITHIN = {"day after": 1, "day before": -1}


class RuleController:
    """``run`` stands for a sampling seed: it decides the order in which ways come to mind."""

    def __init__(self, run: int = 0) -> None:
        self.run = run

    @property
    def name(self) -> str:
        return "rule controller"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        offered = {tool["name"] for tool in tools}
        prompt = read(messages)
        words = words_of(prompt.question)
        if WRITE_SUMMARY["name"] in offered:
            return summary(prompt)
        if words is None:
            return _given_up("I cannot read the question")
        if "recall" in offered and "recall" not in prompt.names and not _hinted(prompt, words):
            return Reply(
                "Is there anything like it?", ToolCall("recall", {"text": prompt.question})
            )
        seen: set[str] = set()
        for way in self._ways(prompt, words):
            told = "; ".join(call.arguments.get("save_as", "") for call in way.calls)
            call = None if told in seen else _next(way, prompt, words)
            if call and offered == {"submit_answer"}:  # only what is established
                call = way.calls[-1] if _is_found(way, prompt) else None
            if call:
                return Reply(
                    f"By {way.origin}: {call.tool}.", ToolCall(call.tool, dict(call.arguments))
                )
            seen.add(told)
        return _given_up("no way that I know fits")

    def _ways(self, prompt: Prompt, words: Words) -> Iterator[Way]:
        yield from _hinted(prompt, words)
        yield from _recalled(prompt, words)
        for sketch in repertoire(words, f"{prompt.question}\0{self.run}"):
            if way := filled(sketch, words, "trial"):
                yield way


def _given_up(why: str) -> Reply:
    return Reply(why, ToolCall("submit_answer", {"photos": [], "reason": why, "evidence": []}))


def summary(prompt: Prompt) -> Reply:
    """The model's part of S; code writes the rest, and that is what is read of it."""
    told = {
        "decisions": f"{len(prompt.names)} calls were made.",
        "ruled_out": "what was tried and not gone on with",
        "sub_goal": "a result that fits the words",
        "next_action": "the next way",
    }
    return Reply("", ToolCall(WRITE_SUMMARY["name"], told))


# -- where ways come from --------------------------------------------------------------------


def _hinted(prompt: Prompt, words: Words) -> list[Way]:
    found = [_WAY.search(hint) for hint in prompt.hints]
    ways = [filled(one[1].replace('\\"', '"'), words, "hint") for one in found if one]
    return [way for way in ways if way]


def _recalled(prompt: Prompt, words: Words) -> Iterator[Way]:
    """Ways of earlier questions that said the same of their things, as far as they are told."""
    for note in prompt.notes():
        if found := _WAY.search(note):
            way = filled(found[1], words, "recall")
        else:
            way = _of_episode(note, words)
        if way:
            yield way


def _of_episode(note: str, words: Words) -> Way | None:
    head = _NOTE.match(note)
    old = words_of(json.loads(head[1])) if head else None
    if old is None or old.cue != words.cue:
        return None
    calls = list(_calls_in(note.partition("Steps: ")[2]))
    if not calls or "save_as" not in calls[-1].arguments:
        return None
    answer = Call("submit_answer", {"set": calls[-1].arguments["save_as"]})
    sketch = retold([*calls, answer], old)
    return filled(sketch, words, "recall") if sketch else None


def _calls_in(note: str) -> Iterator[Call]:
    for found in _STEP.finditer(note):
        try:
            arguments, _ = json.JSONDecoder().raw_decode(note[found.end() :])
        except ValueError:  # the note ends here
            return
        yield Call(found[2], arguments)


# -- one way ---------------------------------------------------------------------------------


def _next(way: Way, prompt: Prompt, words: Words) -> Call | None:
    """The first call of the way that was not made yet; None if the way has failed."""
    *searches, answer = way.calls
    for at, call in enumerate(searches):
        name = call.arguments["save_as"]
        made = prompt.call(name)
        if made is None and name not in prompt.counts:
            return call
        if (made is not None and made.error) or not prompt.counts.get(name, 1):
            return None
        if made is None or made.result is None:
            if _was_left(call, [one.arguments["save_as"] for one in searches[at + 1 :]], prompt):
                return None
        elif not _fits(call, made.result, words, prompt):
            return None
    return _answer(answer, prompt)


def _is_found(way: Way, prompt: Prompt) -> bool:
    """Whether nothing but the answer is left of a way that did not fail. Photos that were doubted
    leave an answer in the last turn by themselves."""
    return way.calls[-2].arguments["save_as"] in prompt.names


def _was_left(call: Call, later: Sequence[str], prompt: Prompt) -> bool:
    """Whether a result that cannot be read any more was not gone on with: it did not fit then. With
    a search in the whole library several ways begin."""
    begins = not {"within", "set", "sets"} & set(call.arguments)
    return not any(name in prompt.names for name in later) and not (begins and later)


def _answer(answer: Call, prompt: Prompt) -> Call | None:
    """The answer; after a refusal for looks that were doubted, without those."""
    refused = prompt.call(f"answer {answer.arguments['set']}")
    if refused is None:
        return answer
    doubted = (refused.result or {}).get("doubtful_photos")
    if not doubted:
        return None
    name = f"{answer.arguments['set'][:27]}_sure"
    if name not in prompt.names:
        given = {"op": "minus", "sets": [answer.arguments["set"]], "photos": doubted}
        return Call("combine_sets", {**given, "save_as": name})
    if not prompt.counts.get(name):
        return None
    return _answer(Call(answer.tool, {**answer.arguments, "set": name}), prompt)


# -- whether rows are what the words mean ----------------------------------------------------


def _fits(call: Call, result: Mapping[str, Any], words: Words, prompt: Prompt) -> bool:
    rows = [row for row in result.get("photos", ()) if isinstance(row, dict)]
    if call.tool == "around":
        given = result.get("given", {}).get("photos", ())  # none where the room was too small
        return bool(given) and _stands(rows, given[0]["time"], words.cue)
    if call.tool == "search_photos" and not all(_is_look(row, result, words) for row in rows):
        return False
    if call.tool == "combine_sets":
        return _combined(rows, call, words, prompt)
    if "order" in call.arguments:
        return _foremost(rows, call, words, prompt)
    return True


def _is_look(row: Mapping[str, Any], result: Mapping[str, Any], words: Words) -> bool:
    if row["score"] < row.get("from", result["cutoff"]):
        return False
    return not (words.cue == "without" and row.get("fits") == words.slots["other"])


def _stands(rows: Sequence[Mapping[str, Any]], given: str, cue: str) -> bool:
    days = {datetime.fromisoformat(row["time"]).date() for row in rows}
    first = datetime.fromisoformat(given).date()
    if cue in _WITHIN:
        return days == {first + timedelta(days=_WITHIN[cue])}
    if cue == "hour after":
        return all(0 < row.get("minutes_after", 0) <= 60 for row in rows)
    if cue == "week after":
        return {_monday(day) for day in days} == {_monday(first) + timedelta(days=7)}
    if cue == "same trip":
        near = all(abs((day - first).days) <= 7 for day in days)
        return near and len(days) > 1 and len({row["place"] for row in rows}) == 1
    if cue == "same place another year":
        here = all(row.get("km", 9.0) <= 1.0 for row in rows)
        return here and all(day.year != first.year for day in days)
    return False


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _combined(rows: Sequence[Mapping[str, Any]], call: Call, words: Words, prompt: Prompt) -> bool:
    """By the rows of the sets, where they can be read, and by their counts."""
    first, second = (_rows_of(prompt.call(name)) for name in call.arguments["sets"])
    found = {row["uid"] for row in rows}
    counts = [prompt.counts.get(name, 0) for name in call.arguments["sets"]]
    if words.cue == "without":
        return not found & second and prompt.counts.get(call.arguments["save_as"], 0) <= counts[0]
    return prompt.counts.get(call.arguments["save_as"], 0) >= max(counts) and (
        not first or bool(found & first)
    )


def _foremost(rows: Sequence[Mapping[str, Any]], call: Call, words: Words, prompt: Prompt) -> bool:
    among = prompt.call(call.arguments["within"])
    times = sorted(row["time"] for row in (among.result or {}).get("photos", ())) if among else []
    return not times or sorted(row["time"] for row in rows) == times[: len(rows)]


def _rows_of(made: Made | None) -> set[str]:
    found = (made.result or {}).get("photos", ()) if made else ()
    return {row["uid"] for row in found if isinstance(row, dict)}
