"""What recall tells of the steps of an earlier question: those that led to its photos."""

from __future__ import annotations

from skill_episodes import step

from photocraft_local.memory.digest import digest_line, leading_lines
from photocraft_local.records import Json

FOUND: dict[str, Json] = {"count": 2, "photos": ["p7k3mq", "pabcde"]}
STEPS = [
    step(1, "recall", {"count": 0}, text="the day after the wedding"),
    step(2, "search_photos", FOUND, text="wedding", exact=True, save_as="wedding"),
    step(3, "around", FOUND, set="wedding", after="1 day", save_as="not_it"),
    step(4, "around", FOUND, set="wedding", unit="day", shift=1, save_as="next_day"),
    step(5, "search_photos", FOUND, text="cake", within="next_day", save_as="cakes"),
    step(6, "submit_answer", FOUND, set="cakes", evidence=[]),
]


def test_only_the_steps_that_the_answer_rests_on_are_told_without_ids() -> None:
    told = leading_lines([digest_line(one) for one in STEPS])
    assert [line.split()[:2] for line in told] == [
        ["2", "search_photos"],
        ["4", "around"],
        ["5", "search_photos"],
    ]
    assert all("p7k3mq" not in line for line in told)


def test_combined_sets_bring_all_that_they_were_made_of() -> None:
    both = step(6, "combine_sets", FOUND, op="or", sets=["not_it", "next_day"], save_as="both")
    lines = [digest_line(one) for one in (*STEPS[:4], both, step(7, "submit_answer", set="both"))]
    assert [line.split()[0] for line in leading_lines(lines)] == ["2", "3", "4", "6"]


def test_an_answer_by_ids_and_lines_of_a_persons_own_hand_are_told_whole() -> None:
    by_ids = [digest_line(STEPS[1]), digest_line(step(3, "submit_answer", photos=["p7k3mq"]))]
    assert leading_lines(by_ids) == by_ids
    assert leading_lines(["I looked", "2 around {not JSON"]) == ["I looked", "2 around {not JSON"]
    assert leading_lines([]) == []
