"""Sets of photos of a catalog: algebra, echo, order, histogram, look-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from photocraft_local.errors import UnknownPhoto, UsageError
from photocraft_local.search.catalog import Catalog

ROWS = [
    {"uid": "c", "photo_id": 30, "time": "2021-03-05T10:00:00"},
    {"uid": "a", "photo_id": 11, "time": "2020-12-31T23:59:59"},
    {"uid": "none", "photo_id": 12},
    {"uid": "b", "photo_id": 25, "time": "2021-03-05T08:00:00"},
    {"uid": "e", "photo_id": 7, "time": "1969-12-31T23:00:00"},
]


@pytest.fixture(scope="module")
def catalog(make_columns: Any) -> Catalog:
    return Catalog.from_columns(make_columns(ROWS))


def test_everything_is_in_order_of_time(catalog: Catalog) -> None:
    everything = catalog.everything()
    assert everything.uids() == list(everything) == ["e", "a", "b", "c", "none"]
    assert everything.photo_ids().tolist() == [7, 11, 25, 30, 12]
    assert everything.echo == "all photos"
    assert len(catalog.nothing()) == 0
    assert not catalog.nothing()


def test_algebra(catalog: Catalog) -> None:
    old, spring = catalog.filter("year < 2021"), catalog.filter('month == "march"')
    assert (old | spring).uids() == ["e", "a", "b", "c"]
    assert (old & spring).uids() == []
    assert (catalog.everything() - old).uids() == ["b", "c", "none"]
    assert (old | spring).echo == '(time < "2021-01-01") or (month == "march")'
    assert (old - spring).echo == '(time < "2021-01-01") minus (month == "march")'
    assert "a" in old
    assert "b" not in old
    assert "nobody" not in old


def test_given_photos(catalog: Catalog) -> None:
    given = catalog.selection_of(["none", "b", "b", "a"])
    assert given.uids() == ["a", "b", "none"]
    assert given.echo == "3 given photos"
    assert catalog.selection_of(["a"], name="trip").echo == "trip"
    assert catalog.photo_ids_of(["none", "e"]) == [12, 7]
    rows = catalog.rows_of_ids(np.array([30, 7]))
    assert catalog.uids_at(rows) == ["c", "e"]


def test_an_unknown_uid_names_near_ones(make_columns: Any) -> None:
    catalog = Catalog.from_columns(make_columns([{"uid": "p7k3mq"}, {"uid": "x9d2ab"}]))
    with pytest.raises(UnknownPhoto, match="p7k3mg") as error:
        catalog.rows_of(["x9d2ab", "p7k3mg"])
    assert "p7k3mq" in error.value.hint


def test_histogram(catalog: Catalog) -> None:
    everything = catalog.everything()
    assert everything.histogram() == [
        ("1969-12-31", 1), ("2020-12-31", 1), ("2021-03-05", 2), ("no date", 1),
    ]  # fmt: skip
    assert everything.histogram("month") == [
        ("1969-12", 1), ("2020-12", 1), ("2021-03", 2), ("no date", 1),
    ]  # fmt: skip
    assert catalog.filter("has_time").histogram("year") == [
        ("1969", 1), ("2020", 1), ("2021", 2),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="unknown unit"):
        everything.histogram("fortnight")


def test_sets_of_two_catalogs_do_not_mix(catalog: Catalog, make_columns: Any) -> None:
    other = Catalog.from_columns(make_columns(ROWS))
    with pytest.raises(UsageError, match="different states"):
        _ = catalog.everything() & other.everything()
