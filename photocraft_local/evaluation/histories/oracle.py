"""A backbone that knows what a question means and is driven through the real loop and tools.

It is given the rule, never the answer: each id of its answer comes from a tool, and what is seen
is decided by the encoder that the tools use (``TrueEyes``). So it misses a photo only where a tool
does, or where a question can be read in another way. Knows no planner.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from photocraft_local.evaluation.histories.rules import SAME_PLACE_KM, Relation, Rule
from photocraft_local.records import Json, ToolCall
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema

_REFUSED = "you insist"


class Oracle:
    """``rules``: of each question by its words; ``counts``: the questions that ask how many."""

    name = "oracle"

    def __init__(self, rules: Mapping[str, Rule], counts: frozenset[str] = frozenset()) -> None:
        self._rules, self._counts = rules, counts
        self._calls: Iterator[ToolCall] = iter(())
        self._script: _Script | None = None

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        if not any(message["role"] == "assistant" for message in messages):
            text = _question(messages, self._rules)
            self._script = _Script(self._rules[text], counts=text in self._counts)
            self._calls = self._script.calls()
        assert self._script is not None
        self._script.heard(messages[-1])
        return Reply(call=next(self._calls))


def _question(messages: Sequence[Message], rules: Mapping[str, Rule]) -> str:
    """The longest of the known questions that stands in the prompt."""
    prompt = json.dumps([message["content"] for message in messages], ensure_ascii=False)
    known = [text for text in rules if text in prompt or json.dumps(text)[1:-1] in prompt]
    return max(known, key=len)


class _Script:
    """The calls for one rule; what came back decides only whether there is something to go on
    with."""

    def __init__(self, rule: Rule, *, counts: bool) -> None:
        self._rule, self._counts = rule, counts
        self._seen: dict[str, Any] = {}
        self._sets: dict[str, int] = {}  # by name: how many photos

    def heard(self, message: Message) -> None:
        if message["role"] != "tool":
            return
        content = message["content"]
        texts = [content] if isinstance(content, str) else [p.get("text", "") for p in content]
        for text in texts:
            try:
                data = json.loads(text)
            except ValueError:
                continue
            if isinstance(data, dict):
                self._seen = data.get("result", data)
                return

    def calls(self) -> Iterator[ToolCall]:
        found = yield from self._found(self._rule)
        for attempt in range(3):
            yield ToolCall("submit_answer", self._answer(found, attempt))

    def _answer(self, found: str, attempt: int) -> dict[str, Json]:
        told: dict[str, Json] = {"evidence": []}
        if attempt:
            told["not_used"] = [f"{_REFUSED} {attempt}"]
        if self._counts:
            told["text"] = str(self._sets.get(found, 0))
        if not found:
            return {**told, "photos": [], "reason": "no photo fulfils all conditions"}
        return {**told, "set": found, "evidence": [{"constraint": "found", "in_sets": [found]}]}

    def _found(self, rule: Rule) -> Generator[ToolCall, None, str]:
        """Calls; gives the name of the set that holds the rule's photos, "" if there are none."""
        within = ""
        if rule.relation:
            anchors = yield from self._found(rule.relation.anchor)
            if not anchors:
                return ""
            within = yield from self._kept("around", {"set": anchors, **_around(rule.relation)})
            if not within:
                return ""
        where = _where(rule)
        for look in _looks(rule):
            more: dict[str, Json] = {"exact": True, **look}
            more |= {"where": where} if where else {}
            more |= {"within": within} if within else {}
            within = yield from self._kept("search_photos", more)
            if not within:
                return ""
        if where and not (rule.looks or rule.either):
            more = {"where": where} | ({"within": within} if within else {})
            within = yield from self._kept("filter_photos", more)
        for label in rule.lacks if within else ():
            shown = yield from self._kept(
                "search_photos", {"exact": True, "text": label, "within": within}
            )
            if shown:
                less = {"op": "minus", "sets": [within, shown]}
                within = yield from self._kept("combine_sets", less)
        if rule.pick and within:
            first = {"within": within, "order": rule.pick.by, "limit": rule.pick.count}
            within = yield from self._kept("filter_photos", first)
        return within

    def _kept(self, tool: str, arguments: dict[str, Json]) -> Generator[ToolCall, None, str]:
        name = f"s{len(self._sets) + 1}"
        self._seen = {}
        yield ToolCall(tool, {**arguments, "save_as": name})
        self._sets[name] = int(self._seen.get("count", 0))
        return name if self._sets[name] else ""


def _looks(rule: Rule) -> Iterator[dict[str, Json]]:
    for label in rule.looks:
        yield {"text": label}
    if rule.either:
        yield {"any_text": list(rule.either)}


def _around(relation: Relation) -> dict[str, Json]:
    if relation.unit == "hour":
        return {"after" if relation.shift > 0 else "before": "1h"}
    if relation.unit == "place":
        return {"km": SAME_PLACE_KM, "apart": "year"}
    return {"unit": relation.unit, "shift": relation.shift}


def _where(rule: Rule) -> str:
    parts = [
        f"place({json.dumps(value)})" for value in (rule.town, rule.country, rule.spot) if value
    ]
    parts += [f"{name} == {value}" for name in ("year", "month") if (value := getattr(rule, name))]
    if rule.camera:
        parts.append(f"camera == {json.dumps(rule.camera)}")
    return " and ".join(parts)
