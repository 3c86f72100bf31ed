"""A life of a history has what its dials say, looks like its sources, and states what it must; its
questions' photos are right by a second reading of what is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.history import compose
from photocraft_local.evaluation.histories.life import shots
from photocraft_local.evaluation.histories.likeness import alike, look_of
from photocraft_local.evaluation.histories.members import Members
from photocraft_local.evaluation.histories.rules import Rule
from photocraft_local.evaluation.histories.scenes import Frame, shared_labels, sights_of
from photocraft_local.evaluation.histories.seeing import as_it_was, as_stated
from photocraft_local.evaluation.histories.sources import Sources, read_sources
from photocraft_local.evaluation.histories.stating import statements


@pytest.fixture(scope="module")
def sources(shared: Path) -> Sources:
    return read_sources(shared / "data" / "captioned")


# The life


@pytest.mark.parametrize("size", [200, 3000])
def test_without_defects_files_state_the_life_as_it_was(sources: Sources, size: int) -> None:
    dials = Dials(size=size, missing=0, wrong=0)
    life = shots(sources, dials)
    assert len(life) == size
    assert as_stated(life, statements(life, dials)) == as_it_was(life)


def test_a_life_has_bursts_variants_screenshots_trips_and_every_defect(sources: Sources) -> None:
    dials = Dials(size=3000, wrong=0.1)
    life = shots(sources, dials)
    assert sum(bool(shot.frame.close) for shot in life) > 100
    assert {shot.frame.variant for shot in life} == {0, 1, 2, 3}
    assert sum(shot.frame.is_screenshot for shot in life) > 20
    assert len({shot.offset_minutes for shot in life}) > 4
    assert len({shot.town.name for shot in life}) > 5
    defects = Counter(one.defect for one in statements(life, dials))
    assert set(defects) == {
        "", "no position", "no time", "neither time nor position", "clock of 2001",
        "clock of home", "position of another town", "position 0/0",
    }  # fmt: skip
    assert 0.05 < 1 - defects[""] / len(life) < 0.35


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_the_dial_of_missing_metadata_is_the_share(sources: Sources, missing: float) -> None:
    dials = Dials(size=3000, missing=missing, wrong=0)
    stated = statements(shots(sources, dials), dials)
    assert abs(sum(bool(one.defect) for one in stated) / len(stated) - missing) < 0.04


@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_the_dial_of_wrong_metadata_is_the_share(sources: Sources, wrong: float) -> None:
    dials = Dials(size=3000, missing=0, wrong=wrong)
    stated = statements(shots(sources, dials), dials)
    assert abs(sum(bool(one.defect) for one in stated) / len(stated) - wrong) < 0.04


def test_a_sight_stands_beside_the_photo_most_like_it_by_the_dial(sources: Sources) -> None:
    none, some, all_of_them = (share_with_lookalike(sources, dial) for dial in (0.0, 0.5, 1.0))
    assert none < 0.15  # by chance
    assert none < some < all_of_them == 1.0


def share_with_lookalike(sources: Sources, dial: float) -> float:
    """Of the events with a sight, by a second reckoning of likeness."""
    known = {one.name: one for one in sources.photos}
    sights = {one.name for group in sights_of(sources).values() for one in group}
    common = [one for one in sources.photos if one.name not in sights]
    rows = {one.name: row for row, one in enumerate(sources.photos)}
    likeness = alike(np.stack([one.look for one in sources.photos]))

    def most_like(name: str) -> str:
        ranked = {
            one.name: likeness[rows[name], rows[one.name]] + shared_labels(known[name], one)
            for one in common
        }
        return max(ranked, key=lambda other: (ranked[other], other))

    events: dict[int, set[str]] = {}
    for shot in shots(sources, Dials(size=1600, lookalikes=dial)):
        events.setdefault(shot.event, set()).add(shot.frame.source)
    shown = [names for names in events.values() if names & sights]
    assert len(shown) > 40
    return sum(any(most_like(one) in names for one in names & sights) for names in shown) / len(
        shown
    )


def test_a_variant_looks_more_like_its_source_than_any_other_source(
    sources: Sources, tmp_path: Path
) -> None:
    members = Members(sources)
    for source in sources.photos[::12]:
        looks = [one.look for one in sources.photos]
        for variant in (1, 2, 3):
            path = tmp_path / f"{variant}.jpg"
            path.write_bytes(members.plain(Frame(source.name, source.labels, variant)))
            looks.append(look_of(path))
        likeness = alike(np.stack(looks))
        for row in likeness[-3:, :-3]:
            assert sources.photos[int(np.argmax(row))] == source


@pytest.mark.parametrize(
    ("dials", "hops", "empty"), [({"hops": 2, "unanswerable": 0.0}, 2, 0), ({"hops": 1}, 1, 3),
                                ({"hops": 3, "unanswerable": 1.0}, 3, 20)],
)  # fmt: skip
def test_the_dials_of_hops_and_of_questions_without_an_answer(
    sources: Sources, dials: dict[str, float], hops: int, empty: int
) -> None:
    counts = compose(sources, Dials(size=400, questions=20, **dials)).counts()  # type: ignore[arg-type]
    assert sorted(counts["by_hops"]) == [str(number + 1) for number in range(hops)]
    assert counts["unanswerable"] == empty


# The questions


def test_gold_of_facts_and_looks_agrees_with_the_truth_file(
    sources: Sources, tmp_path: Path
) -> None:
    """By a second reading of the written files, for questions that lean on nothing."""
    history = compose(sources, Dials(size=200, questions=20, hops=1))
    history.write(tmp_path / "h")
    lines = (tmp_path / "h" / "truth.jsonl").read_text("utf-8").splitlines()
    truth = [json.loads(line) for line in lines]
    checked = 0
    for line in (tmp_path / "h" / "questions.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        rule = question["rule"]
        assert json.loads(json.dumps(Rule.from_json(rule).to_json())) == rule
        if set(rule) <= {"looks", "lacks", "either", "town", "year", "month", "spot"}:
            checked += 1
            assert sorted(one["photo"] for one in truth if holds(rule, one)) == question["gold"]
    assert checked >= 10


def holds(rule: dict[str, object], one: dict[str, object]) -> bool:
    labels = set(one["labels"])  # type: ignore[call-overload]
    moment = datetime.fromisoformat(str(one["time"]))
    return (
        set(rule.get("looks", ())) <= labels  # type: ignore[call-overload]
        and not set(rule.get("lacks", ())) & labels  # type: ignore[call-overload]
        and (not rule.get("either") or bool(set(rule["either"]) & labels))  # type: ignore[call-overload]
        and rule.get("town", one["town"]) == one["town"]
        and rule.get("spot", one["spot"]) == one["spot"]
        and rule.get("year", moment.year) == moment.year
        and rule.get("month", moment.month) == moment.month
        and bool(one["source"])
    )


def test_another_process_gives_the_same_history(sources: Sources, shared: Path) -> None:
    """Whose sets are in another order."""
    code = (
        "import pathlib, sys\n"
        "from photocraft_local.evaluation.histories import dials, history, sources\n"
        "photos = sources.read_sources(pathlib.Path(sys.argv[1]))\n"
        "print(history.compose(photos, dials.Dials(size=200, questions=30)).fingerprint())"
    )
    command = [sys.executable, "-c", code, str(shared / "data" / "captioned")]
    env = {**os.environ, "PYTHONHASHSEED": "1"}
    told = subprocess.run(command, env=env, capture_output=True, check=True).stdout.decode()
    assert told == compose(sources, Dials(size=200, questions=30)).fingerprint() + "\n"
