"""The filter that a meaning is written as, run by the real search layer over dated photos."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from time_tables import LANGUAGES, phrases

from photocraft_local.library.columns import LibraryColumns
from photocraft_local.search.catalog import Catalog
from photocraft_local.timelang import parse_when

PHRASES = [text for language in LANGUAGES for text, _ in phrases(language)]


def moments() -> list[datetime]:
    """Some of every kind: spread over years, dense around the edges that the phrases have."""
    rng = random.Random(20)
    spread = [
        datetime(1995, 1, 1) + timedelta(seconds=rng.randrange(1_000_000_000)) for _ in range(1500)
    ]
    edges = [datetime(2021, 5, 1), datetime(2021, 6, 1), datetime(2021, 5, 3, 10, 30)]
    edges += [datetime(2020, 1, 1), datetime(2021, 5, 4, 5), datetime(2026, 7, 14, 18)]
    seconds = (-1, 0, 1, 59, 60)
    return sorted({*spread, *(edge + timedelta(seconds=s) for edge in edges for s in seconds)})


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    taken = moments()
    count = len(taken)
    epoch = datetime(1970, 1, 1)
    zeros = np.zeros(count, np.int32)
    return Catalog.from_columns(
        LibraryColumns(
            photo_id=np.arange(count, dtype=np.int64),
            uid=[f"p{at:05d}" for at in range(count)],
            local_seconds=np.array([int((t - epoch).total_seconds()) for t in taken], np.int64),
            offset_minutes=zeros,
            latitude=np.full(count, np.nan),
            longitude=np.full(count, np.nan),
            width=zeros,
            height=zeros,
            event_id=zeros.astype(np.int64),
            trip_id=zeros.astype(np.int64),
            flags=zeros.astype(np.int64),
            offline=zeros.astype(bool),
            flag_names=(),
            generation=1,
            **dict.fromkeys(("camera", "city", "region", "country", "country_code"), zeros),
            **dict.fromkeys(("cameras", "cities", "regions", "countries", "country_codes"), ("",)),
        )
    )


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_filter_selects_what_is_meant(catalog: Catalog, phrase: str) -> None:
    when = parse_when(phrase, today=date(2026, 7, 15))
    meant = [f"p{at:05d}" for at, moment in enumerate(moments()) if when.contains(moment)]
    assert sorted(catalog.filter(when.to_expression()).uids()) == meant
