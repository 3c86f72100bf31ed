"""Hints: which skills a question is given, what they may cost, and how they win, lose and merge."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from skill_episodes import after_the_wedding, finished, step
from test_skills_store import DAMAGE, damaged, learned

from photocraft_local.errors import EncoderError
from photocraft_local.memory.context import Context
from photocraft_local.memory.memory import EpisodeMemory, Memory
from photocraft_local.memory.skills import NoHints, Skill, SkillStore, StoredHints, learn, seeds
from photocraft_local.memory.skills.learning import outcome
from photocraft_local.memory.skills.likeness import Vector, by_symbols, in_words
from photocraft_local.memory.skills.masking import is_masked
from photocraft_local.memory.skills.merging import MAX_LEARNED, MAX_WAYS, absorbed
from photocraft_local.memory.skills.sketch import is_sketch_line
from photocraft_local.memory.skills.skill import MAX_TOKENS
from photocraft_local.memory.skills.tokens import estimated_tokens
from photocraft_local.memory.skills.wording import KINDS
from photocraft_local.records import Answer
from photocraft_local.settings import Settings


@pytest.fixture
def store(tmp_path: Path) -> SkillStore:
    store = SkillStore(tmp_path / "memory", seeds())
    store.add(learned("s-1", "e1"))
    return store


def given(store: SkillStore, question: str) -> list[str]:
    return [hint.skill_id for hint in StoredHints(store).for_question(question)]


def skill(skill_id: str, when: str, *sketch: str) -> Skill:
    way = sketch or ("filter_photos(when) as A", "submit_answer(set=A)")
    return Skill(skill_id=skill_id, when=when, sketch=way, episodes=(skill_id,), created="2026")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("the day after Tom's birthday", "s-1"),
        ("am Tag nach der Taufe", "s-1"),
        ("how many cats in 2020?", "seed-count"),
        ("Wie viele Fotos von Hunden aus dem Juli 2019?", "seed-count"),
        ("the first photo with a red car", "seed-first-or-last"),
        ("beaches without people", "seed-without"),
        ("where did we see the lighthouse?", "seed-where-or-when"),
        ("photos at the same place in another year", "seed-same-place-again"),
        ("What does the sign say?", "seed-text-in-a-picture"),
    ],
)
def test_a_question_is_given_what_fits_its_shape(
    store: SkillStore, question: str, first: str
) -> None:
    assert given(store, question)[:1] == [first]


def test_a_question_of_another_shape_is_given_nothing(store: SkillStore) -> None:
    assert given(SkillStore(store.path.parent), "how many cats in 2020?") == []
    assert given(store, "") == []


def test_at_most_three_each_within_its_budget_and_each_way_once(tmp_path: Path) -> None:
    store = SkillStore(tmp_path)
    for number in range(8):
        store.add(
            skill(f"s-{number}", "day after [thing]", f"around(unit=day) as {'AB'[number % 2]}")
        )
    hints = StoredHints(store).for_question("the day after the wedding")
    assert [hint.skill_id for hint in hints] == ["s-0", "s-1"]
    for seed in seeds():
        assert estimated_tokens(seed.hint()) <= MAX_TOKENS


def test_a_hint_says_where_it_came_from_and_its_text_does_not(store: SkillStore) -> None:
    hint = StoredHints(store).for_question("the day after the party")[0]
    assert (hint.skill_id, hint.origin, hint.episodes, hint.score) == ("s-1", "learned", ("e1",), 1)
    assert "s-1" not in hint.text
    assert "e1" not in hint.text.split()


def test_seeds_are_of_the_closed_lists_but_for_their_advice() -> None:
    assert 5 <= len(seeds()) <= 15
    for seed in seeds():
        assert seed.origin == "seed"
        assert is_masked(seed.when)
        assert set(seed.kinds) <= set(KINDS)
        assert all(map(is_sketch_line, seed.sketch)), seed.skill_id
        assert seed.advice in seed.hint()
        assert seed.sketch[-1] in seed.hint()


def test_a_skill_that_loses_is_retired_and_one_that_wins_comes_first(store: SkillStore) -> None:
    store.add(skill("s-2", "day after [thing]"))
    assert given(store, "the day after the party")[:2] == ["s-1", "s-2"]
    for number in range(3):
        store.count(["s-2"], f"w{number}", won=True)
        store.count(["s-1"], f"l{number}", won=False)
    ranked = given(store, "the day after the party")
    assert ranked.index("s-2") < ranked.index("s-1")
    store.count(["s-1"], "l4", won=False)
    assert store.show("s-1").retired
    assert "s-1" not in given(store, "the day after the party")


def test_by_meaning_where_the_encoder_can_tell_sentences(store: SkillStore) -> None:
    """An encoder in which all sentences are fairly alike, and "day after" and "before" the same."""

    def embed(text: str) -> Vector:
        vector = np.zeros(64, np.float32)
        vector[0] = 2.0  # what all have in common
        for word in text.replace("before", "after").split():
            vector[1 + sum(word.encode()) % 63] += 1.0
        return vector / np.float32(np.linalg.norm(vector))

    hints = StoredHints(store, embed=embed).for_question("the day before the party")
    assert hints[0].skill_id == "s-1"
    assert hints[0].score == 1.0
    assert all(0.5 <= hint.score <= 1.0 for hint in hints)
    assert by_symbols("day before [thing]", "day after [thing]") < 0.5


def test_an_encoder_that_cannot_say_leaves_it_to_the_words(store: SkillStore) -> None:
    def broken(text: str) -> Vector:
        raise EncoderError("no such folder")

    by_words = StoredHints(store).for_question("the day after the party")
    for embed in (lambda text: None, broken):
        assert StoredHints(store, embed=embed).for_question("the day after the party") == by_words


def test_an_encoder_reads_plain_words() -> None:
    assert in_words("how-many [thing] [time]") == "how many something at some time"


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_store_costs_the_hints_and_nothing_else(
    store: SkillStore, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    broken = damaged(store, kind)
    with caplog.at_level(logging.WARNING):
        hints = StoredHints(broken).for_question("how many cats in 2020?")
        learn(broken, *after_the_wedding(), hints=["s-1"])
    assert [hint.origin for hint in hints[:1]] == ([] if not broken.seeds else ["seed"])
    assert "no hints of earlier questions" in caplog.text
    assert "nothing is learned" in caplog.text
    assert str(store.path) in caplog.text


def test_an_episode_that_holds_teaches_and_is_counted_for_its_hints(store: SkillStore) -> None:
    record, answer, steps = after_the_wedding("photos of the week before the concert")
    learn(store, record, answer, steps, ["s-1", "seed-count"])
    for name in ("s-1", "seed-count"):
        assert (store.show(name).wins, store.show(name).losses) == (1, 0)
    (new,) = [one for one in store.list() if one.origin == "learned" and one.skill_id != "s-1"]
    assert new.when == "week before [thing]"
    assert new.episodes == (record.episode_id,)


def test_how_an_episode_of_the_rules_ends_says_nothing_of_hints(store: SkillStore) -> None:
    record, answer, steps = after_the_wedding()
    learn(store, replace(record, backbone="planner"), answer, steps, ["s-1"])
    assert (store.show("s-1").wins, store.show("s-1").last_used) == (0, "")


def test_an_episode_won_lost_or_says_nothing() -> None:
    record, answer, steps = after_the_wedding()
    assert outcome(record, answer, steps) is True
    unmet = finished("dogs", steps, "p7k3mq", met=False)
    assert outcome(*unmet) is False
    empty = [*steps[:-1], step(5, "submit_answer", {"photos": []}, photos=[])]
    assert outcome(*finished("dogs", empty)) is None
    assert outcome(*finished("dogs", steps[:-1])) is False  # it gave up


def test_the_same_way_for_alike_questions_is_one_skill(store: SkillStore) -> None:
    for number, question in enumerate(
        ("the day after Tom's party", "am Tag nach der Hochzeit in Rom", "photos day after school")
    ):
        record, answer, steps = after_the_wedding(question)
        steps = [one for one in steps if one.call.name != "view_photos" or number]
        learn(store, replace(record, episode_id=f"n{number}"), answer, steps)
    (one,) = [one for one in store.list() if one.origin == "learned"]
    assert one.skill_id == "s-1"
    assert one.episodes == ("e1", "n0", "n1", "n2")
    assert one.when == "day after [thing]"
    assert len(one.sketch) == 3  # looking at photos makes no other way


def test_words_of_a_person_are_not_changed_by_what_is_learned() -> None:
    mine = replace(learned("s-1"), origin="written", advice="Look at faces.")
    (merged,) = absorbed([mine], replace(learned("s-2", "e9"), pitfalls=()))
    assert merged == replace(mine, episodes=("e1", "e9"))


def test_a_seed_takes_in_nothing_so_that_it_can_be_switched_off() -> None:
    seed = replace(learned("seed-x"), origin="seed")
    assert [one.skill_id for one in absorbed([seed], learned("s-2"))] == ["seed-x", "s-2"]


def test_few_ways_for_one_shape_and_the_worst_goes() -> None:
    skills: list[Skill] = []
    for number in range(MAX_WAYS + 2):
        new = skill(f"s-{number}", "day after [thing]", f"around(set=A) as {'BCDEFG'[number]}")
        skills = absorbed(skills, replace(new, losses=5 if number == 1 else 0))
    assert len(skills) == MAX_WAYS
    assert "s-1" not in [one.skill_id for one in skills]


def test_a_person_with_many_questions_has_a_bounded_store() -> None:
    shapes = ["day", "week", "trip", "first", "last", "not", "or", "near", "again", "only", "both"]
    skills: list[Skill] = []
    for number in range(500):
        when = f"{shapes[number % 11]} {shapes[number // 11 % 11]} {shapes[number // 121]}"
        skills = absorbed(skills, skill(f"s-{number}", when))
    assert len(skills) <= MAX_LEARNED


def test_a_store_takes_in_what_is_merged_in_one_go(store: SkillStore) -> None:
    store.add(skill("s-2", "first [thing]"))
    store.absorb(lambda old: [one for one in old if one.skill_id == "s-2"])
    assert [one.skill_id for one in store.list() if one.origin != "seed"] == ["s-2"]


def settings_in(folder: Path, **given: object) -> Settings:
    return Settings.load(**{"library": folder / "one", "memory_folder": folder / "mine", **given})


def test_what_one_library_taught_is_a_hint_in_another(tmp_path: Path) -> None:
    record, answer, steps = after_the_wedding()
    memory = Memory.open(settings_in(tmp_path))
    episode = EpisodeMemory(Context("system", []), replace(record, verdicts=(), tools=()))
    for one in steps:
        episode.observe(one)
    memory.finish(episode, answer)
    other = Memory.open(settings_in(tmp_path, library=tmp_path / "other"))
    hints = other.hints.for_question("the day after the match")
    assert hints[0].origin == "learned"
    assert hints[0].episodes == (record.episode_id,)
    assert "around(set=A, unit=day, shift=+) as B" in hints[0].text


def test_recall_tells_ways_behind_what_was_asked_before(tmp_path: Path) -> None:
    memory = Memory.open(settings_in(tmp_path, skill_seeds=False))
    assert memory.skills is not None
    memory.skills.add(learned("s-1"))
    way = memory.skills.show("s-1").hint()
    assert memory.recall("the day after the match") == [way]
    assert memory.recall("lighthouse") == []


def test_each_switch_switches_its_part(tmp_path: Path) -> None:
    question = "how many cats in 2020?"
    record = after_the_wedding()[0]
    for off in ({"memory": False}, {"skills": False}):
        memory = Memory.open(settings_in(tmp_path, **off))
        assert isinstance(memory.hints, NoHints)
        memory.finish(EpisodeMemory(Context("system", []), record), Answer(()))
        assert not (tmp_path / "mine").exists()
    bare = Memory.open(settings_in(tmp_path, skill_seeds=False))
    assert bare.hints.for_question(question) == ()
    assert bare.skills is not None
    assert Memory.open(settings_in(tmp_path)).hints.for_question(question)[0].origin == "seed"


def test_no_figure_is_measured_with_memory(root: Path) -> None:
    """Benchmarks that ask questions switch memory off, and with it skills and seeds."""
    asking = [
        path
        for path in sorted((root / "benchmarks").glob("*.py"))
        if re.search(r"\bphotos\.ask\(|\bsearch\.ask\(|\bAgent\(", path.read_text("utf-8"))
    ]
    assert "planner_album.py" in [path.name for path in asking]
    for path in asking:
        assert re.search(r"\bmemory=False\b", path.read_text("utf-8")), path.name
