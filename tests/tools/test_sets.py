"""Named sets: what is saved is found again, what is not is answered with what is there."""

from __future__ import annotations

import pytest

from photocraft_local.errors import UnknownSet, UsageError
from photocraft_local.tools.sets import MAX_SETS, PhotoSets


def test_a_set_keeps_order_and_drops_repeats() -> None:
    sets = PhotoSets()
    saved = sets.save("beach", ["p2", "p1", "p2"], "search_photos text='beach'")
    assert saved.uids == ("p2", "p1")
    assert len(saved) == 2
    assert sets.get("beach") is saved
    assert "beach" in sets


def test_saving_again_replaces() -> None:
    sets = PhotoSets()
    sets.save("a", ["p1"])
    sets.save("a", [])
    assert sets.get("a").uids == ()
    assert len(sets) == 1


def test_an_unknown_set_lists_the_known_ones_and_guesses() -> None:
    sets = PhotoSets()
    with pytest.raises(UnknownSet) as caught:
        sets.get("beach")
    assert "no set was saved yet" in caught.value.hint
    sets.save("beach_days", ["p1", "p2"])
    sets.save("anchor", [])
    with pytest.raises(UnknownSet) as caught:
        sets.get("beach_day")
    assert "did you mean 'beach_days'?" in caught.value.hint
    assert "anchor (0), beach_days (2)" in caught.value.hint


@pytest.mark.parametrize("name", ["", "1a", "a b", "x" * 33, "a\n", "ä", "a;drop"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no name for a set"):
        PhotoSets().save(name, [])


def test_there_is_a_limit_and_old_names_can_be_used_again() -> None:
    sets = PhotoSets()
    for index in range(MAX_SETS):
        sets.save(f"s{index}", [])
    with pytest.raises(UsageError, match="already 64 sets"):
        sets.save("one_more", [])
    sets.save("s0", ["p1"])
    assert len(sets.get("s0")) == 1
