"""Questions → plans, with the real time language and the real gazetteer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from reading_phrases import LOOKS_TIMES_PLACES

from photocraft_local.agent.planner.conditions import PlaceCondition, TimeCondition
from photocraft_local.agent.planner.plan import Look, Plan
from photocraft_local.agent.planner.understand import understand
from photocraft_local.places.gazetteer import Gazetteer

TODAY = date(2024, 5, 15)


@pytest.fixture(scope="module")
def places(shared_cache: Path) -> Iterator[Gazetteer]:
    with Gazetteer.open(shared_cache) as gazetteer:
        yield gazetteer


def asked(question: str, places: Gazetteer) -> Plan:
    return understand(question, today=TODAY, places=places)


@pytest.mark.parametrize(("question", "look", "when", "where"), LOOKS_TIMES_PLACES)
def test_looks_times_and_places(
    question: str, look: str, when: list[str], where: list[str], places: Gazetteer
) -> None:
    wanted = asked(question, places).wanted
    looks = tuple(Look((text,)) for text in [look] if text)
    if " or " in look:
        looks = (Look(tuple(look.split(" or "))),)
    assert wanted.looks == looks
    assert [c.where for c in wanted.conditions if isinstance(c, TimeCondition)] == when
    assert [c.where for c in wanted.conditions if isinstance(c, PlaceCondition)] == where
