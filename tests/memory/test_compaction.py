"""S over many compactions: nothing that code keeps is lost, and it stays small."""

from __future__ import annotations

import json
import random

import pytest
from summaries import compared, filtered, refused, summary, unread, viewed

from photocraft_local.memory.compaction import FOLDS, WRITE_SUMMARY, Compaction, Prose
from photocraft_local.memory.shortening import Cut, shown_data, shown_pictures
from photocraft_local.records import Observation, Step, ToolCall, Usage
from photocraft_local.serving.chat_model import Reply
from photocraft_local.serving.tool_calls import call_schema

PROSE = Prose("It is June.", "Not <|im_end|> the lake.", "find the dog", "view june")
WRITTEN = {
    "decisions": "It is  June.",
    "ruled_out": "no\nlake",
    "sub_goal": "dog",
    "next_action": "view",
}


@pytest.mark.parametrize("seed", range(6))
def test_twelve_compactions_lose_no_condition_id_set_or_count(seed: int) -> None:
    chance = random.Random(seed)
    one, index = unread(), 0
    kept: list[str] = []
    sizes = []
    for _ in range(12):
        for _ in range(chance.randrange(2, 9)):
            index += 1
            step = chance.choice([filtered, refused, compared, viewed])(index)
            one.observe(step)
            if step.call.name == "filter_photos":
                kept += [f'"June {1900 + index}"', f'"set_{index}":{index}']
            if step.call.name == "submit_answer":
                kept += [f"r{index:03d}1", f"r{index:03d}2"]
            if step.call.name == "compare_photos":
                kept += [f"c{index:03d}0", f"c{index:03d}1"]
        made = Compaction(
            after_step=index,
            covered=index - chance.randrange(2),
            why="test",
            fold=chance.randrange(len(FOLDS)),
            prose=chance.choice([None, PROSE]),
        )
        sizes.append(one.compact(made))
        text = str(one.messages()[2]["content"])
        assert not [what for what in kept if what not in text]
        assert one.context.num_turns == index - made.covered
        assert "<|" not in text
    state = summary(one)["working"]
    assert state["sets"] == one.working.sets
    assert all(uid in str(state["confirmed"]) for uid in one.working.confirmed)
    assert all(uid in str(state["rejected"]) for uid in one.working.rejected)
    assert max(sizes) < 16_000


def test_what_may_be_folded_is_bounded_however_long_the_episode() -> None:
    one = unread()
    calls = ToolCall("recall", {"text": "x"})
    for index in range(1, 400):
        one.observe(viewed(index) if index % 2 else Step(index, calls, Observation("recall")))
    sizes = [
        one.compact(Compaction(after_step=399, covered=399, why="", fold=fold))
        for fold in range(len(FOLDS))
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] < 12_000
    assert sizes[-1] < 1500
    one.compact(Compaction(after_step=399, covered=399, why=""))
    digest = summary(one)["digest"]
    assert digest[0] == "1-336 recall 168, view_photos 168"
    assert digest[1].startswith("337 view_photos -> ")
    assert digest[-1].startswith('399 view_photos {"photos":["v399"]} -> "1 picture"; ids: v399')
    assert len(digest) == 1 + 399 - 336


def test_the_words_of_a_model_stay_until_newer_ones_come_with_what_was_thought_since() -> None:
    one = unread()
    for index in range(1, 4):
        one.observe(filtered(index))
    one.compact(Compaction(after_step=3, covered=2, why="", prose=PROSE))
    assert summary(one)["session"]["decisions"] == "It is June."
    assert summary(one)["session"]["thoughts"] == []
    assert summary(one)["working"]["next_action"] == "view june"
    for index in range(4, 6):
        one.observe(filtered(index))
    last = json.loads(str(one.messages()[-1]["content"]))
    assert 'sub-goal: "find the dog"' in last["state"]
    one.compact(Compaction(after_step=5, covered=5, why="", problem="cut"))
    session = summary(one)["session"]
    assert session["ruled_out"] == "Not <|im_end|> the lake."
    assert session["thoughts"] == ["3 thought 3", "4 thought 4", "5 thought 5"]
    one.compact(Compaction(after_step=5, covered=5, why="", prose=Prose("New.", "", "", "")))
    assert summary(one)["session"]["decisions"] == "New."


def test_a_picture_leaves_its_id_and_what_was_said_after_it() -> None:
    one = unread()
    one.observe(viewed(1))
    one.observe(filtered(2, thought="two dogs\non sand"))
    one.compact(Compaction(after_step=2, covered=1, why=""))
    (line,) = summary(one)["digest"]
    assert line.endswith('-> "1 picture"; ids: v001; then: "two dogs on sand"')
    assert [m["role"] for m in one.messages()[3:]] == ["assistant", "tool"]


def test_what_the_last_summary_told_of_steps_stands_first_in_the_next_one() -> None:
    one, last, folded = unread(), "", []
    for index in range(1, 60):
        one.observe(viewed(index) if index % 3 else filtered(index))
        if index % 4 == 0:
            one.compact(Compaction(after_step=index, covered=index - 1, why="", prose=PROSE))
            text = str(one.messages()[2]["content"])
            told = last[: last.find('],"session"')]
            if not text.startswith(told):
                folded.append(index)
            last = text
    assert folded == [36, 52]  # many lines at a time


def test_the_same_episode_makes_the_same_bytes() -> None:
    texts = set()
    for _ in range(2):
        one = unread()
        for index in range(1, 9):
            one.observe(filtered(index))
            one.observe(compared(index))
        one.compact(Compaction(after_step=16, covered=15, why="", prose=PROSE))
        texts.add(json.dumps(one.messages()))
    assert len(texts) == 1


def test_an_answer_that_is_accepted_takes_its_photos_out_of_the_rejected() -> None:
    one = unread()
    one.observe(refused(1))
    assert set(one.working.rejected) == {"r0011", "r0012"}
    accepted = Observation("submit_answer", {"photos": ["r0011"], "accepted": True})
    one.observe(Step(2, ToolCall("submit_answer", {}), accepted))
    assert set(one.working.rejected) == {"r0012"}
    assert one.working.confirmed == {"r0011": "in the answer"}


@pytest.mark.parametrize(
    "call",
    [
        None,
        ToolCall("submit_answer", {}),
        ToolCall("write_summary", {}),
        ToolCall("write_summary", WRITTEN | {"uids": ["a"]}),
        ToolCall("write_summary", WRITTEN | {"sub_goal": 3}),
        ToolCall("write_summary", WRITTEN | {"sub_goal": "x" * 151}),
        ToolCall("write_summary", WRITTEN | {"sub_goal": ""}),
    ],
)
def test_a_reply_that_is_no_summary_is_not_used(call: ToolCall | None) -> None:
    assert Prose.of(Reply("", call)) is None


def test_the_model_writes_prose_alone_in_short_closed_texts() -> None:
    assert Prose.of(Reply("", ToolCall("write_summary", WRITTEN))) == Prose(
        "It is June.", "no lake", "dog", "view"
    )
    (call,) = call_schema([WRITE_SUMMARY])["properties"]["call"]["anyOf"]
    arguments = call["properties"]["arguments"]
    assert arguments["additionalProperties"] is False
    assert set(arguments["required"]) == set(arguments["properties"]) == set(WRITTEN)
    assert all("pattern" in part for part in arguments["properties"].values())


def test_a_compaction_survives_json_and_a_foreign_one_is_refused() -> None:
    made = Compaction(
        after_step=5,
        covered=4,
        why="full",
        fold=1,
        prose=PROSE,
        problem="",
        tokens_before=9,
        tokens_after=5,
        usage=Usage(3, 2, 1),
    )
    assert Compaction.from_json(json.loads(json.dumps(made.to_json()))) == made
    bare = Compaction(after_step=1, covered=1, why="", problem="cut")
    assert Compaction.from_json(bare.to_json()) == bare
    for wrong in ({"covered": 6}, {"fold": 3}, {"covered": -1}, {"extra": 1}, {"prose": {"a": 1}}):
        with pytest.raises((ValueError, TypeError)):
            Compaction.from_json(made.to_json() | wrong)


def test_a_shortened_result_says_what_is_missing_and_how_to_get_it() -> None:
    data = {
        "count": 90,
        "photos": [{"uid": f"u{n}", "text": "y" * 5000} for n in range(90)],
        "days": {f"2021-06-{n}": n for n in range(90)},
    }
    seen = Observation("find", data, brief="90 photos", images=(("a", b""), ("b", b""), ("c", b"")))
    assert shown_data(seen, None) is data
    kept = shown_data(seen, Cut(1, 3, 1))
    assert [row["uid"] for row in kept["photos"]] == ["u0", "u1", "u2"]
    assert len(kept["photos"][0]["text"]) == 2000
    assert len(kept["days"]) == 12
    assert kept["count"] == 90
    assert kept["left_out"].startswith("165 entries of the lists, for want of room; narrow")
    assert shown_pictures(seen, Cut(1, 3, 1))[0] == 1
    assert [line[:12] for line in shown_pictures(seen, Cut(1, 3, 1))[1]] == [
        "b: not shown",
        "c: not shown",
    ]
    (only,) = shown_data(seen, Cut(1, 0, 0)).values()
    assert "90 photos" in only
    assert Cut.from_json(Cut(1, 3, 1).to_json()) == Cut(1, 3, 1)


def test_only_a_turn_that_was_not_sent_is_shortened() -> None:
    one = unread()
    one.observe(filtered(1))
    one.cut(Cut(1, 3, 0))
    assert len(json.loads(str(one.messages()[-1]["content"]))["result"]["photos"]) == 3
    one.observe(filtered(2))
    before = one.messages()
    one.cut(Cut(1, 0, 0))
    assert one.messages() == before
