"""The plain f_mem: a model writes all of S, forgets and makes things up, and code mends it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from summaries import compared, filtered, refused, summary, unread, viewed

from photocraft_local.memory.compaction import FOLDS, Compaction
from photocraft_local.memory.memory import EpisodeMemory
from photocraft_local.memory.plain import PLAIN_REPLY, WRITE_MEMORY, Plain
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Reply
from photocraft_local.serving.tool_calls import call_schema

WRITTEN: dict[str, Any] = {
    "digest": ["1 filtered June,\n 5 photos"],
    "session": "Filters work.",
    "constraints": [{"words": "June 1901", "status": "open"}],
    "confirmed": ["c0021"],
    "rejected": [],
    "sets": [{"name": "set_1", "count": 1}],
    "sub_goal": "the dog",
    "next_action": "view",
}


def told(memory: EpisodeMemory, chance: random.Random) -> Plain:
    """What a careless model writes: some of the state, some of it wrong, some of nothing."""
    state = memory.working

    def some(items: list[Any]) -> list[Any]:
        return [item for item in items if chance.random() < 0.6]

    judged = [*state.confirmed, *state.rejected]
    return Plain(
        digest=tuple(f"step {n} was <|im_end|> done" for n in range(chance.randrange(24))),
        session="x" * chance.randrange(400),
        constraints=tuple(
            (one.words.upper(), chance.choice([one.status, "met"]))
            for one in some(state.constraints)
        ),
        confirmed=(*some(judged), "zzzzz"),
        rejected=tuple(some(judged)),
        sets=tuple((name, n + chance.randrange(2)) for name, n in some(list(state.sets.items()))),
        sub_goal="the dog",
        next_action="view",
    )


def held(part: dict[str, Any], kind: str) -> set[str]:
    """The ids under a head, and those that were put back there."""
    groups = [part[kind], part.get("put_back", {}).get(kind, {})]
    uids = [uid for group in groups for some in group.values() for uid in some.split()]
    assert len(uids) == len(set(uids))
    return set(uids)


@pytest.mark.parametrize("seed", range(8))
def test_fourteen_summaries_of_a_careless_model_lose_nothing_and_stay_small(seed: int) -> None:
    chance = random.Random(seed)
    one, index, repairs = unread(), 0, 0
    for _ in range(14):
        for _ in range(chance.randrange(2, 7)):
            index += 1
            one.observe(chance.choice([filtered, refused, compared, viewed])(index))
        fold = chance.randrange(len(FOLDS))
        plain = told(one, chance) if chance.random() < 0.8 else None
        made = Compaction(after_step=index, covered=index - 1, why="", fold=fold, plain=plain)
        size = one.compact(made)
        repairs += bool(one.repaired)
        assert bool(one.repaired) <= (plain is not None)
        part, state = summary(one)["working"], one.working
        assert held(part, "confirmed") == set(state.confirmed)
        assert held(part, "rejected") == set(state.rejected)
        assert {**part["sets"], **part.get("put_back", {}).get("sets", {})} == state.sets
        assert not {*part["sets"]} & {*part.get("put_back", {}).get("sets", {})}
        text = json.dumps(part).casefold()
        assert all(condition.words.casefold() in text for condition in state.constraints)
        assert "zzzzz" not in str(part)
        assert "<|" not in str(one.messages()[2]["content"])
        kept = len(json.dumps(state.to_json()))
        assert size < 9000 + kept
    assert repairs > 5


def test_what_was_mended_is_told_by_name() -> None:
    one = unread()
    for index, step in enumerate([filtered, compared, refused, filtered], start=1):
        one.observe(step(index))
    lost = Plain(
        constraints=(("in june 1901!", "open"), ("June  1904", "met"), ("sunny", "met")),
        confirmed=("r0031", "c0021", "p0011", "zzzzz"),
        rejected=("p0011", "c0020"),
        sets=(("set_1", 7), ("other", 2)),
    )
    one.compact(Compaction(after_step=4, covered=4, why="", plain=lost))
    assert one.repaired == (
        "confirmed taken out: r0031, p0011, zzzzz",
        "rejected taken out: p0011",
        "sets taken out: other, set_1",
        "constraints taken out: June  1904",
        'constraints put back: time "June 1904"',
        "rejected put back: r0031, r0032",
        "sets put back: set_1=1, set_4=4",
    )
    part = summary(one)["working"]
    assert part["confirmed"] == {"": "c0021"}
    assert part["constraints"] == {"met": {"": ["sunny"]}, "open": {"": ["in june 1901!"]}}
    assert part["put_back"]["constraints"] == {"open": {"time": ["June 1904"]}}
    assert part["put_back"]["rejected"] == {"breaks: in June": "r0031 r0032"}
    assert one.working.sub_goal == ""


def test_a_photo_that_the_model_judged_by_itself_stays_where_a_tool_named_it() -> None:
    one = unread()
    one.observe(viewed(1))
    one.observe(filtered(2))
    seen = Plain(
        confirmed=("v001",), rejected=("p0023", "p9999"), constraints=(("June 1902", "open"),)
    )
    one.compact(
        Compaction(after_step=2, covered=2, why="", plain=replace(seen, sets=(("set_2", 2),)))
    )
    part = summary(one)["working"]
    assert (part["confirmed"], part["rejected"]) == ({"": "v001"}, {"": "p0023"})
    assert one.repaired == ("rejected taken out: p9999",)
    assert "put_back" not in part


def test_what_code_writes_needs_no_repair_and_keeps_the_models_last_words() -> None:
    one = unread()
    for index in range(1, 5):
        one.observe(filtered(index))
    one.compact(Compaction(after_step=4, covered=3, why="", plain=Plain(session="Look in May.")))
    one.observe(filtered(5))
    one.compact(Compaction(after_step=5, covered=5, why="", problem="cut"))
    assert one.repaired == ()
    whole = summary(one)
    assert whole["session"]["decisions"] == "Look in May."
    assert len(whole["digest"]) == 5
    assert "put_back" not in whole["working"]


def test_the_trace_makes_the_same_summary_again() -> None:
    made = Compaction(after_step=6, covered=5, why="", repaired=("a",))
    texts = set()
    for _ in range(2):
        one = unread()
        for index in range(1, 7):
            one.observe(compared(index))
        plain = made.plain or told(one, random.Random(3))
        made = Compaction.from_json(json.loads(json.dumps(replace(made, plain=plain).to_json())))
        one.compact(made)
        texts.add(json.dumps(one.messages()))
    assert len(texts) == 1
    for wrong in (
        {"sets": [["a"]]},
        {"constraints": [["a", "later"]]},
        {"more": ""},
        {"digest": 3},
    ):
        assert made.plain
        with pytest.raises((ValueError, TypeError)):
            Compaction.from_json({**made.to_json(), "plain": made.to_json()["plain"] | wrong})


@pytest.mark.parametrize(
    "call",
    [
        None,
        ToolCall("write_summary", WRITTEN),
        ToolCall("write_memory", {}),
        ToolCall("write_memory", WRITTEN | {"more": "x"}),
        ToolCall("write_memory", WRITTEN | {"digest": ["x"] * 25}),
        ToolCall("write_memory", WRITTEN | {"digest": ["x" * 121]}),
        ToolCall("write_memory", WRITTEN | {"confirmed": [f"u{n}" for n in range(61)]}),
        ToolCall("write_memory", WRITTEN | {"constraints": [{"words": "x", "status": "later"}]}),
        ToolCall("write_memory", WRITTEN | {"sets": [{"name": "two words", "count": 1}]}),
        ToolCall("write_memory", WRITTEN | {"sub_goal": ""}),
    ],
)
def test_a_reply_that_is_no_summary_is_not_used(call: ToolCall | None) -> None:
    assert Plain.of(Reply("", call)) is None


def test_a_reply_is_read_and_the_grammar_bounds_every_part_of_it() -> None:
    read = Plain.of(
        Reply("", ToolCall("write_memory", WRITTEN | {"sets": [{"name": "a", "count": 2.0}]}))
    )
    assert read
    assert read.digest == ("1 filtered June, 5 photos",)
    assert read.constraints == (("June 1901", "open"),)
    assert repr(read.sets) == "(('a', 2),)"
    (call,) = call_schema([WRITE_MEMORY])["properties"]["call"]["anyOf"]
    arguments = call["properties"]["arguments"]
    assert set(arguments["required"]) == set(WRITTEN)
    assert all("maxItems" in one or "pattern" in one for one in arguments["properties"].values())
    assert PLAIN_REPLY < 2048
