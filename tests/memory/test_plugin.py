"""The memory inside a loop that is not ours: messages in and out, always inside the window."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.errors import ModelError, PromptTooLong, UsageError
from photocraft_local.memory.foreign import Like, estimated_tokens
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.plugin import LongMemory
from photocraft_local.records import Evidence
from photocraft_local.serving.chat_model import Message
from photocraft_local.settings import Settings

WINDOW, REPLY = 8192, 1200
LIKE = {
    "find": Like(
        "search_photos", {"query": "text", "year": "when", "name": "save_as", "n": "count"}
    ),
    "judge": Like("compare_photos", {"files": "photos", "file": "uid", "ok": "passes"}),
    "done": Like("submit_answer", {"files": "photos"}),
}
WORDS = {
    "decisions": "by  year",
    "ruled_out": "<|im_end|>",
    "sub_goal": "x",
    "next_action": "y",
}
OPENING: list[Message] = [
    {"role": "system", "content": "You find files."},
    {"role": "user", "content": "dogs on the beach the day after the wedding"},
]


def called(*calls: tuple[str, dict[str, Any]], text: str = "", at: int = 0) -> Message:
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {
                "id": f"c{at}_{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for n, (name, arguments) in enumerate(calls)
        ],
    }


def result(data: Any, at: int = 0, n: int = 0) -> Message:
    text = data if isinstance(data, str) else json.dumps(data)
    return {"role": "tool", "tool_call_id": f"c{at}_{n}", "content": text}


def plugged(**options: Any) -> LongMemory:
    return LongMemory(OPENING, **{"window": WINDOW, "reply": REPLY, "like": LIKE, **options})


def summary_in(messages: Sequence[Message]) -> dict[str, Any]:
    (text,) = [m["content"] for m in messages if str(m["content"]).startswith("Summary of the")]
    summary: dict[str, Any] = json.loads(text.split("\n", 1)[1])
    return summary


def played(memory: LongMemory, history: list[Message], turns: int) -> list[list[Message]]:
    """So many turns of a loop; ``history`` is what it would send without a memory."""
    prompts = []
    for at in range(turns):
        prompts.append(memory.messages())
        if at % 5 == 0:
            call = ("find", {"query": f"dog {at}", "year": str(1900 + at), "name": f"set_{at}"})
            data: Any = {
                "hits": [{"file": f"IMG {at}_{n}.jpg", "path": "x" * 60} for n in range(30)]
            }
            data["n"] = 30 + at
        else:
            call = ("judge", {"question": "a dog?"})
            rows = [{"file": f"IMG {at} {n}.jpg", "ok": n == 0, "why": "y" * 200} for n in range(3)]
            data = {"files": rows}
        new = [called(call, text=f"I think {at}", at=at), result(data, at)]
        if at == 7:
            new.append({"role": "user", "content": "and not the brown one, please"})
        for message in new:
            memory.add(message)
        history += new
    return [*prompts, memory.messages()]


def test_a_hundred_turns_stay_in_8k_and_conditions_sets_and_ids_survive() -> None:
    memory, history = plugged(), list(OPENING)
    prompts = played(memory, history, 100)
    sizes = [estimated_tokens(prompt) for prompt in prompts]
    assert max(sizes) <= 0.8 * WINDOW
    assert estimated_tokens(history) > 4 * WINDOW
    assert memory.num_turns == 100
    assert len(memory.compactions) >= 10
    whole = summary_in(prompts[-1])
    finds = [at for at in range(100) if at % 5 == 0]
    covered = memory.compactions[-1].after_step
    seen = json.dumps(prompts[-1], ensure_ascii=False)
    for at in finds:
        assert f"dog {at}" in seen
        assert f"{1900 + at}" in seen
    state = whole["working"]
    assert state["sets"] == {f"set_{at}": 30 + at for at in finds if at < covered}
    judged = [at for at in range(covered) if at % 5]
    confirmed = [uid for some in state["confirmed"].values() for uid in some]
    rejected = [uid for some in state["rejected"].values() for uid in some]
    assert confirmed == [f"IMG {at} 0.jpg" for at in judged]
    assert sorted(rejected) == sorted(f"IMG {at} {n}.jpg" for at in judged for n in (1, 2))
    assert state["constraints"]["open"]["said"] == ["and not the brown one, please"]
    assert not any(made.repaired for made in memory.compactions)


def test_between_compactions_the_prompt_only_grows() -> None:
    memory = plugged()
    prompts = played(memory, [], 60)
    new = {made.after_step for made in memory.compactions}
    assert new
    for at, (before, after) in enumerate(pairwise(prompts), start=1):
        assert (after[: len(before)] == before) == (at not in new)
        assert after[:2] == OPENING


def test_several_calls_of_one_message_keep_their_results() -> None:
    memory = plugged()
    both = ("judge", {"question": "a dog?"}), ("find", {"query": "sea", "name": "sea"})
    memory.add(called(*both, text="both"))
    memory.add(result({"n": 4, "hits": []}, n=1))
    memory.add(result({"files": [{"file": "a.jpg", "ok": True}]}, n=0))
    turns = memory.messages()[2:]
    assert [message["role"] for message in turns] == ["assistant", "tool"] * 2
    for call, told in (turns[:2], turns[2:]):
        assert call["tool_calls"][0]["id"] == told["tool_call_id"]
    assert [turn["content"] for turn in turns[::2]] == ["both", ""]
    assert memory.working.confirmed == {"a.jpg": "yes to: a dog?"}
    assert memory.working.sets == {"sea": 4}
    assert json.loads(turns[1]["content"])["result"] == {"n": 4, "hits": []}


def test_the_words_of_the_loops_model_are_asked_for_and_code_goes_on_without_them() -> None:
    said: list[Any] = [
        f"Here: {json.dumps(WORDS)}",
        "I would rather not.",
        OSError("gone"),
        ModelError("answers 500"),
        '{"decisions": 3}',
    ]
    asked = []

    def write(messages: list[Message]) -> str:
        asked.append(messages)
        answer = said[len(asked) - 1]
        if isinstance(answer, BaseException):
            raise answer
        return str(answer)

    memory = plugged(write=write)
    for at in range(len(said)):
        memory.add(called(("find", {"query": f"dog {at}"}), at=at))
        memory.add(result({"n": 1}, at))
        before = memory.messages()
        memory.compact()
        assert asked[-1][:-1] == before
        assert "JSON object" in asked[-1][-1]["content"]
    problems = [made.problem for made in memory.compactions]
    assert problems[:2] == ["", "the reply is no summary"]
    assert problems[2:] == ["OSError: gone", "ModelError: answers 500", "the reply is no summary"]
    whole = summary_in(memory.messages())
    assert whole["session"]["decisions"] == "by year"
    assert whole["working"]["next_action"] == "y"
    assert "<|" not in str(memory.messages())


@pytest.mark.parametrize("said", [None, {"role": "assistant", "content": "{}"}, 3, b"{}"])
def test_words_that_are_no_text_are_none(said: Any) -> None:
    """A message of a model that calls a tool has no content."""
    memory = plugged(write=lambda _: said)
    memory.add(called(("find", {"query": "dog", "name": "dogs"}), at=0))
    memory.add(result({"n": 3}, 0))
    memory.compact()
    assert [made.problem for made in memory.compactions] == ["the reply is no summary"]
    assert summary_in(memory.messages())["working"]["sets"] == {"dogs": 3}


def test_a_result_that_alone_is_too_large_is_shortened_and_says_so() -> None:
    memory = plugged()
    memory.add(called(("find", {"query": "dog", "name": "dogs"}), at=0))
    memory.add(result({"n": 5000, "hits": [f"{n:08d}.jpg" for n in range(5000)]}, 0))
    told = json.loads(memory.messages()[-1]["content"])
    assert len(told["result"]["hits"]) == 50
    assert "for want of room" in told["result"]["left_out"]
    memory.add(called(("page", {}), at=1))
    memory.add(result("z" * 100_000, 1))
    assert estimated_tokens(memory.messages()) <= WINDOW - REPLY
    assert memory.working.sets == {"dogs": 5000}


def test_an_opening_without_room_and_messages_that_are_none_are_refused() -> None:
    memory = LongMemory([{"role": "user", "content": "q" * 50_000}], window=WINDOW)
    with pytest.raises(PromptTooLong, match="question and a summary"):
        memory.messages()
    for wrong in (
        {"role": "robot", "content": ""},
        {"content": "x"},
        result({}, 3),
        {"role": "assistant", "tool_calls": [{"id": "a"}]},
        {"role": "assistant", "tool_calls": "x"},
    ):
        with pytest.raises(UsageError):
            plugged().add(wrong)
    for options in ({"window": 500}, {"compact_at": 0.99}):
        with pytest.raises(UsageError, match="window"):
            plugged(**options)


def anything(chance: random.Random, depth: int = 0) -> Any:
    keys = ["files", "photos", "file", "uid", "ok", "passes", "unmet", "n", "count", "error", "x"]
    make: list[Callable[[], Any]] = [
        lambda: None,
        lambda: chance.choice([True, 3, -1.5, "", "<|im_end|>", "\ud800", "a b"]),
        lambda: [anything(chance, depth + 1) for _ in range(chance.randrange(4))],
        lambda: {chance.choice(keys): anything(chance, depth + 1) for _ in range(5)},
    ]
    return chance.choice(make if depth < 4 else make[:2])()


@pytest.mark.parametrize("seed", range(20))
def test_whatever_foreign_tools_return_nothing_raises_and_no_mark_gets_through(seed: int) -> None:
    chance, memory = random.Random(seed), plugged(window=3000, reply=500)
    for at in range(40):
        name = chance.choice([*LIKE, "compare_photos", "submit_answer", "plan", "other"])
        given = anything(chance)
        memory.add(called((name, given if isinstance(given, dict) else {}), at=at))
        memory.add(result(anything(chance), at))
        if chance.random() < 0.1:
            memory.add({"role": "assistant", "content": "hm"})
        assert estimated_tokens(memory.messages()) <= 2500
        if chance.random() < 0.1:
            memory.compact()
    turns = memory.messages()[2:]
    assert "<|" not in json.dumps(turns)
    assert memory.num_turns == 40


def test_hints_come_with_the_loops_own_names_and_an_episode_is_remembered(tmp_path: Path) -> None:
    settings = Settings(library=tmp_path / "l", cache=tmp_path / "c", memory_folder=tmp_path / "m")
    kept = Memory.open(settings)
    memory = plugged(memory=kept)
    opening = memory.messages()
    assert opening[:2] == OPENING
    assert "find(" in opening[2]["content"]
    assert "search_photos" not in opening[2]["content"]
    memory.add(called(("find", {"query": "dog", "name": "dogs"}), at=0))
    memory.add(result({"n": 2, "files": ["a.jpg"]}, 0))
    memory.add(called(("done", {"files": ["a.jpg"]}), at=1))
    memory.add(result({"files": ["a.jpg"]}, 1))
    memory.finish(["a.jpg"], evidence={"a.jpg": [Evidence("dog", "seen", "a dog", True)]})
    (note, *_) = Memory.open(settings).recall("dogs and the wedding")
    assert "1 photos" in note
    assert "search_photos" in note
    assert memory.recall("dogs at the wedding")[0] == note
    assert memory.working.confirmed == {"a.jpg": "in the answer"}
    assert plugged().recall("dogs") == []
