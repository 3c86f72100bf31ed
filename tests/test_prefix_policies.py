"""The policies and the counting of benchmarks/prefix_cache.py, without an engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

MESSAGE, RESULT, PAD = 1, 2, 3  # token ids
NUM = 12
HIGH = 20  # messages


@pytest.fixture(scope="module")
def policies(root: Path) -> Iterator[ModuleType]:
    yield from _module(root, "_policies")


@pytest.fixture(scope="module")
def counting(root: Path) -> Iterator[ModuleType]:
    yield from _module(root, "_prefix_counting")


def _module(root: Path, name: str) -> Iterator[ModuleType]:
    from importlib import import_module

    sys.path.insert(0, str(root / "benchmarks"))
    try:
        yield import_module(name)
    finally:
        sys.path.remove(str(root / "benchmarks"))


def turn(index: int) -> tuple[dict[str, Any], ...]:
    return (
        {"role": "assistant", "content": f"call {index}"},
        {"role": "tool", "content": f"result {index}"},
        {"role": "user", "content": [{"type": "text", "text": f"picture {index}"}]},
    )


def full(messages: Sequence[Any]) -> bool:
    return len(messages) > HIGH


@pytest.fixture
def material(policies: ModuleType) -> Any:
    return policies.Material(
        stable=({"role": "system", "content": "S"}, {"role": "user", "content": "q"}),
        turns=tuple(map(turn, range(NUM))),
        summary=lambda end: f"S of {end}",
        rewritten=lambda end: f"{end}: rewritten",
    )


def played(policies: ModuleType, material: Any, name: str) -> list[Any]:
    if name == "sliding_in_batches":
        return list(policies.sliding_in_batches(material, full, lambda _: lambda m: len(m) > 8))
    return list(getattr(policies, name)(material, full))


NAMES = (
    "none",
    "sliding",
    "sliding_in_batches",
    "blank_old_results",
    "compact_rewrite",
    "compact_rewrite_aligned",
    "compact_rewrite_without_tools",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_sends_each_turn_once_below_the_high_mark(
    policies: ModuleType, material: Any, name: str
) -> None:
    prompts = played(policies, material, name)
    turns = [prompt for prompt in prompts if prompt.kind == "turn"]
    assert [prompt.turn for prompt in turns] == list(range(NUM))
    assert not [prompt.turn for prompt in turns if full(prompt.messages)]
    stable = [prompt.messages[:2] == list(material.stable) for prompt in turns]
    assert all(stable) == (name != "none")
    # Whoever asks for no summary always shows the newest result.
    if name.startswith(("sliding", "blank")):
        assert all(p.messages[-3:] == list(turn(p.turn - 1)) for p in turns[1:])
        assert len(turns) == len(prompts)


def test_sliding_drops_no_turn_too_many(policies: ModuleType, material: Any) -> None:
    lengths = [len(prompt.messages) for prompt in played(policies, material, "sliding")]
    assert lengths == [2, 5, 8, 11, 14, 17] + [20] * 6
    batched = [len(one.messages) for one in played(policies, material, "sliding_in_batches")]
    assert batched == [2, 5, 8, 11, 14, 17, 20, 8, 11, 14, 17, 20]


def test_only_the_last_five_results_are_not_blank(policies: ModuleType, material: Any) -> None:
    messages = list(policies.blank_old_results(material, lambda _: False))[-1].messages
    results = [one["content"] for one in messages if one["role"] == "tool"]
    assert results[:6] == [policies.BLANK] * 6
    assert results[6:] == [f"result {n}" for n in range(6, 11)]
    calls = [one["content"] for one in messages if one["role"] == "assistant"]
    assert calls == [f"call {n}" for n in range(11)]
    assert sum(isinstance(one["content"], list) for one in messages) == 5


@pytest.mark.parametrize("way", ["", "_aligned", "_without_tools"])
def test_a_compaction_asks_for_a_summary_that_takes_the_place_of_all_turns(
    policies: ModuleType, material: Any, way: str
) -> None:
    name = "compact_rewrite" + way
    prompts = played(policies, material, name)
    at = next(n for n, prompt in enumerate(prompts) if prompt.kind == "summary")
    before, asked, after = prompts[at - 1 : at + 2]
    history = [*before.messages, *turn(before.turn)]
    assert asked.turn == after.turn == before.turn + 1
    assert asked.messages[1:-1] == history[1:]
    assert (asked.messages[0] == history[0]) == (way == "_aligned")
    assert asked.with_tools == (way != "_without_tools")
    summary = {"role": "user", "content": f"{after.turn}: rewritten"}
    assert after.messages == [*material.stable, summary]


def test_without_a_stable_front_the_first_message_changes_each_turn(
    policies: ModuleType, material: Any
) -> None:
    fronts = {str(one.messages[0]) for one in played(policies, material, "none")}
    assert len(fronts) == NUM


def ids(*parts: Any) -> Any:
    return np.concatenate([np.atleast_1d(np.asarray(part, dtype=np.int64)) for part in parts])


def words(start: int, num: int = 100) -> Any:
    return np.arange(start, start + num)


def test_pictures_are_told_apart_by_their_names(counting: ModuleType) -> None:
    names: dict[str, int] = {}
    prompt = [9, PAD, PAD, 8, PAD, PAD, 7]
    first = counting.told_apart(prompt, PAD, ["a", "b"], names)
    again = counting.told_apart(prompt, PAD, ["b", "b"], names)
    assert list(first[[0, 3, 6]]) == [9, 8, 7]
    assert list(first[4:6]) == list(again[4:6]) == list(again[1:3])
    assert not set(first[1:3]) & set(first[4:6])
    with pytest.raises(ValueError, match="zip"):
        counting.told_apart(prompt, PAD, ["a"], names)


def test_moved_text_is_not_new_and_a_result_is_new_once(counting: ModuleType) -> None:
    texts = counting.Texts(counting.Marks(MESSAGE, (MESSAGE, RESULT)))
    system, result = ids(MESSAGE, words(100)), ids(MESSAGE, RESULT, words(300))
    texts.add(ids(system, result))
    assert texts.held(ids(result, system)) == len(system) + len(result)
    # The same words behind another front: text is held, but for a run's length that differs.
    assert texts.held(ids(MESSAGE, 5, words(100))) == 100
    assert texts.held(ids(MESSAGE, words(300, 31))) == 0
    # A new result that repeats an old one is new all the same.
    assert texts.held(ids(MESSAGE, RESULT, 5, words(300))) == 0
    assert texts.held(ids(MESSAGE, 1 << 32, words(300))) == 0


def test_the_tally_of_a_growing_prompt_and_of_one_that_starts_anew(counting: ModuleType) -> None:
    tally = counting.Tally(32, counting.Texts(counting.Marks(MESSAGE, (MESSAGE, RESULT))))
    first = ids(MESSAGE, words(100))  # 101 tokens
    reply = ids(words(400, 40))
    second = ids(first, reply, MESSAGE, RESULT, words(600, 60))  # 203
    tally.add(first, 0, reply, 1.0)
    tally.add(second, 128, ids(7), 2.0)  # the reply's blocks, too
    assert (tally.prompt_tokens, tally.cached_tokens, tally.prefill_tokens) == (304, 128, 176)
    assert tally.new_tokens == 101 + 62
    assert (tally.held_before, tally.held_cached) == (101, 101)
    assert (tally.blocks_before, tally.blocks_cached) == (96, 96)
    assert (tally.longest, tally.wall_s, tally.requests) == (204, 3.0, 2)
    tally.add(ids(MESSAGE, words(2000), first), 0, ids(7), 0.0)
    assert tally.new_tokens == 101 + 62 + 101
    assert (tally.held_before, tally.held_cached) == (202, 101)
    assert tally.share == 0.5
