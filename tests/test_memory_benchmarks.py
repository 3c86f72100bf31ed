"""The relations that benchmarks/memory_ablation.py and skill_stream.py report, on few questions.

The life, the controller and the order of everything are made, so nothing here is left to chance.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.memory.state_line import state_line
from photocraft_local.memory.working import Change, Constraint, WorkingState


@pytest.fixture(scope="module")
def module(root: Path) -> Iterator[Any]:
    """By name, out of benchmarks/."""
    folder = str(root / "benchmarks")
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield import_module
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
                del sys.modules[name]


@pytest.fixture(scope="module")
def ablation(module: Any) -> dict[str, Any]:
    found: dict[str, Any] = module("memory_ablation").measured(20, unseen=10, days=24)
    return found


def test_each_memory_helps_a_controller_that_reads_only_messages(ablation: dict[str, Any]) -> None:
    none, working, episodic, semantic, selection = (
        ablation[name] for name in ("none", "working", "episodic", "semantic", "selection")
    )
    assert none["em"] < working["em"] <= selection["em"]
    assert none["em"] < semantic["em"] <= selection["em"]
    assert none["f1"] < working["f1"] <= selection["f1"]
    assert working["drift"] < 0.1 < none["drift"]
    assert none["turns"] > working["turns"] > semantic["turns"]
    assert episodic["turns"] <= working["turns"]
    assert working["prefill_tokens"] < none["prefill_tokens"]
    for kind in ("intra", "inter"):
        assert {"em", "f1", "turns", "prefill_tokens", "drift"} <= set(none[kind])


def test_hints_do_the_work_and_not_the_test(ablation: dict[str, Any]) -> None:
    none, learned, shuffled, wrong = (
        ablation["hints"][name]
        for name in ("no hints", "learned hints", "shuffled hints", "wrong hints")
    )
    assert learned["em"] > none["em"] >= max(shuffled["em"], wrong["em"])
    assert 2 * learned["turns"] < min(none["turns"], shuffled["turns"], wrong["turns"])


def test_a_long_episode_fails_without_working_memory_and_not_for_want_of_anything_else(
    ablation: dict[str, Any],
) -> None:
    without, with_it, wide = (
        ablation["long_album"][name] for name in ("without", "with", "without, wide window")
    )
    assert with_it["window_overflows"] >= 8
    assert (without["exact"], with_it["exact"], wide["exact"]) == (0, 1, 1)
    assert without["days_right"] < without["days"] / 2
    assert wide["window_overflows"] == 0


def test_skills_that_a_stream_taught_save_turns_and_cost_no_answer(module: Any) -> None:
    found = module("skill_stream").measured(60, orders=1, peers=1)
    (ours,) = found["orders"]
    assert 2 * ours["turns_last_20"] < ours["turns_first_20"]
    assert ours["em_last_20"] >= ours["em_first_20"]
    assert 2 * ours["turns_last_20"] < ours["no_skills"]["turns_last_20"]
    assert ours["all"]["em"] > ours["no_skills"]["all"]["em"]


def test_memory_changes_no_answer_of_the_planner(module: Any, shared_cache: Path) -> None:
    none, semantic = module("memory_ablation").planner(10, shared_cache).values()
    assert none["em"] == semantic["em"] >= 80
    assert none["turns"] == semantic["turns"]


def test_the_controller_keeps_nothing_between_two_calls(module: Any, tmp_path: Path) -> None:
    """What it replies comes from the messages: a new one says the same to each prompt."""
    life, asking, rows = (
        module(f"_{name}") for name in ("made_life", "made_questions", "memory_rows")
    )
    controller: ModuleType = module("_rule_controller")
    said: list[tuple[Any, Any, Any]] = []

    class Watched(controller.RuleController):  # type: ignore[misc]
        def complete(self, messages: Any, tools: Any) -> Any:
            reply = super().complete(messages, tools)
            said.append((messages, tools, reply))
            return reply

    shots = life.shots()
    stream = rows.Stream(life.World(shots), rows.Row("working", {}), tmp_path, Watched)
    assert not stream.settings.skill_seeds
    stream.ask(asking.questions(shots, 3, seed=5))
    assert len(said) > 10
    for messages, tools, reply in reversed(said):
        assert controller.RuleController().complete(messages, tools) == reply


def test_questions_have_photos_that_are_right_and_can_be_read(module: Any) -> None:
    life, asking, ways = (module(f"_{name}") for name in ("made_life", "made_questions", "ways"))
    found = asking.questions(life.shots(), 40, seed=3)
    assert {one.kind for one in found} == {"intra", "inter"}
    for one in found:
        words = ways.words_of(one.text)
        assert one.gold, one.text
        assert words is not None, one.text
        drafts = [ways.filled(way, words, "") for way in ways.repertoire(words, "")]
        assert sum(draft is not None for draft in drafts) >= 4, one.text


@given(
    counts=st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), st.integers(0, 99)
    ),
    said=st.sampled_from(["sets: june=3 | x", 'a "june=4"', "june=5, | sets: june=6", "plain"]),
    new=st.booleans(),
)
def test_the_sets_of_a_state_line_are_read_as_the_product_writes_them(
    module: Any, counts: dict[str, int], said: str, new: bool
) -> None:
    """Whatever a condition says beside them; of many the newest."""
    state = WorkingState([Constraint("look", said)], sets=counts)
    change = Change(sets=tuple(counts) if new else ())
    told = dict(module("_reading")._sets(state_line(state, change, [said])))
    kept = list(counts)[-(4 if new else 2) :]
    assert {name: told[name] for name in kept} == {name: counts[name] for name in kept}
    assert set(told) == set(kept)
