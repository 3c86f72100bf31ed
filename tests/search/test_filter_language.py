"""What each form of the filter language selects, on a small library where everything is known."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

import pytest

from photocraft_local.errors import PlaceNotFound
from photocraft_local.places.areas import Area
from photocraft_local.search.catalog import Catalog

TODAY = date(2021, 6, 16)
LISBON = {"city": "Lisbon", "region": "Lisboa", "country": "Portugal", "code": "PT"}
PORTO = {"city": "Porto", "region": "Porto", "country": "Portugal", "code": "PT"}
ZURICH = {"city": "Zürich", "region": "Zürich", "country": "Switzerland", "code": "CH"}

PHOTOS: list[dict[str, Any]] = [
    {"uid": "lis-jun", "time": "2021-06-14T10:31:05", "gps": (38.71, -9.14), **LISBON, "event": 1,
     "trip": 1, "camera": "NIKON D750", "size": (6016, 4016)},
    {"uid": "lis-night", "time": "2021-06-14T23:59:59", "gps": (38.72, -9.13), **LISBON,
     "event": 2, "trip": 1, "camera": "iPhone 12", "size": (3024, 4032)},
    {"uid": "por-day", "time": "2021-06-15T00:00:00", "gps": (41.15, -8.61), **PORTO, "event": 3,
     "trip": 1, "camera": "iPhone 12"},
    {"uid": "zur-may", "time": "2020-05-03T07:00:00", "gps": (47.37, 8.54), **ZURICH, "event": 4,
     "camera": "Canon EOS R5"},
    {"uid": "sea-2019", "time": "2019-12-31T12:00:00", "gps": (-17.0, 179.9)},
    {"uid": "shot", "time": "2022-01-01T00:00:00", "flags": ("screenshot",), "size": (1080, 2340)},
    {"uid": "future", "time": "2031-02-03T04:05:06", "flags": ("time-in-future", "truncated")},
    {"uid": "old", "time": "1969-07-20T20:17:40"},
    {"uid": "scan", "gps": (38.69, -9.22), **LISBON},
    {"uid": "nothing"},
]  # fmt: skip
EVERYONE = {row["uid"] for row in PHOTOS}
DATED = EVERYONE - {"scan", "nothing"}
LOCATED = {"lis-jun", "lis-night", "por-day", "zur-may", "sea-2019", "scan"}


class SmallGazetteer:
    """A PlaceLookup of five areas."""

    AREAS = (
        Area("Lisbon", "city", "PT", "Lisboa", 38.7167, -9.1333, 7.5, 500_000, "Portugal"),
        Area("Lisboa", "region", "PT", "Lisboa", 38.8, -9.2, 60, 2_800_000, "Portugal"),
        Area("Portugal", "country", "PT", "", 39.5, -8.0, 300, 10_000_000),
        Area("Zürich", "city", "CH", "Zürich", 47.3667, 8.55, 6.7, 340_000, "Switzerland"),
        Area("Lisbon", "city", "US", "Ohio", 40.77, -80.77, 1.7, 2_700, "United States"),
    )
    NAMES: ClassVar = {
        "lissabon": "Lisbon",
        "zurich": "Zürich",
        "pt": "Portugal",
        "schweiz": "Switzerland",
    }

    def find(self, name: str, *, near_points: Any = None) -> list[Area]:
        wanted = self.NAMES.get(name.casefold(), name).casefold()
        return [area for area in self.AREAS if area.name.casefold() == wanted]

    def suggest(self, name: str, *, limit: int = 3) -> list[str]:
        return ["Lisbon"] if name.startswith("Lis") else []


@pytest.fixture(scope="module")
def catalog(make_columns: Any) -> Catalog:
    return Catalog.from_columns(make_columns(PHOTOS))


def found(catalog: Catalog, expression: str) -> set[str]:
    return set(catalog.filter(expression, today=TODAY, places=SmallGazetteer()).uids())


@pytest.mark.parametrize(
    ("expression", "uids"),
    [
        # dates: a literal is as long as it is precise, and ends half-open
        ('date == "2021-06"', {"lis-jun", "lis-night", "por-day"}),
        ('date == "2021-06-14"', {"lis-jun", "lis-night"}),
        ('date == "2021"', {"lis-jun", "lis-night", "por-day"}),
        ('date != "2021"', DATED - {"lis-jun", "lis-night", "por-day"}),
        ('date > "2021-06-14"', {"por-day", "shot", "future"}),
        ('date <= "2021-06-14"', {"lis-jun", "lis-night", "zur-may", "sea-2019", "old"}),
        ('date < "2021-06-14"', {"zur-may", "sea-2019", "old"}),
        ('date >= "2021-06-15" and date < "2022-01-01"', {"por-day"}),
        ('date in ("2019-12-31", "2020-05")', {"sea-2019", "zur-may"}),
        ('date not in ("2019", "2020", "2021")', {"shot", "future", "old"}),
        ('date == "2021-6-14"', {"lis-jun", "lis-night"}),
        ('date == "yesterday"', {"por-day"}),
        ('date <= "today" and year == 2021', {"lis-jun", "lis-night", "por-day"}),
        ('time == "2021-06-14T10:31"', {"lis-jun"}),
        ('time == "2021-06-14 10:31:05"', {"lis-jun"}),
        ('time == "2021-06-14T10:31:06"', set()),
        ('time == "2021-06-14T10"', {"lis-jun"}),
        ('time >= "2021-06-14T23:59:59" and time < "2021-06-15T00:00:01"',
         {"lis-night", "por-day"}),
        ('"2021-06-14T12:00" < time <= "2021-06-15"', {"lis-night", "por-day"}),
        ('"2021-06" == date', {"lis-jun", "lis-night", "por-day"}),
        ('time < "1970"', {"old"}),
        # parts of dates
        ("year == 2021", {"lis-jun", "lis-night", "por-day"}),
        ("2019 <= year < 2021", {"sea-2019", "zur-may"}),
        ("year in (1969, 2031)", {"old", "future"}),
        ('year == "2020"', {"zur-may"}),
        ("year > 2021.5", {"shot", "future"}),
        ("month == 6", {"lis-jun", "lis-night", "por-day"}),
        ('month in ("june", "Feb")', {"lis-jun", "lis-night", "por-day", "future"}),
        ("month >= 7", {"old", "sea-2019"}),
        ("day == 31", {"sea-2019"}),
        ('weekday == "monday"', {"lis-jun", "lis-night", "future"}),
        ("weekday == 0", {"lis-jun", "lis-night", "future"}),
        ('weekday in ("Sat", "sun")', {"zur-may", "shot", "old"}),
        ("hour >= 23 or hour < 5", {"lis-night", "por-day", "shot", "future"}),
        ("hour == 20", {"old"}),
        ("6 <= hour <= 12", {"lis-jun", "zur-may", "sea-2019"}),
        # facts
        ("has_time", DATED),
        ("not has_time", {"scan", "nothing"}),
        ("has_gps", LOCATED),
        ("has_gps == False", EVERYONE - LOCATED),
        ("has_place and not has_camera", {"scan"}),
        ('flag("screenshot")', {"shot"}),
        ('not flag("screenshot")', EVERYONE - {"shot"}),
        ('flag("time-in-future") and year > 2030', {"future"}),
        ('flag("animated")', set()),
        # words
        ('city == "lisbon"', {"lis-jun", "lis-night", "scan"}),
        ('city == "ZURICH"', {"zur-may"}),
        ('city == "Lissabon"', {"lis-jun", "lis-night", "scan"}),
        ('city in ("Porto", "Zürich")', {"por-day", "zur-may"}),
        ('city != "Lisbon"', {"por-day", "zur-may"}),
        ('region == "Lisboa"', {"lis-jun", "lis-night", "scan"}),
        ('country == "portugal"', {"lis-jun", "lis-night", "por-day", "scan"}),
        ('country == "PT"', {"lis-jun", "lis-night", "por-day", "scan"}),
        ('country == "Lisbon"', set()),
        ('camera == "nikon"', {"lis-jun"}),
        ('camera == "iphone 12"', {"lis-night", "por-day"}),
        ('camera != "iphone"', {"lis-jun", "zur-may"}),
        ('"eos" in camera', {"zur-may"}),
        ('match_address("portugal")', {"lis-jun", "lis-night", "por-day", "scan"}),
        ('match_address(address, "Lisbon, Portugal")', {"lis-jun", "lis-night", "scan"}),
        ('match_address("Lis")', set()),
        ('address == "zürich, switzerland"', {"zur-may"}),
        ('"Porto" in address', {"por-day"}),
        ('"Porto" not in address', {"lis-jun", "lis-night", "scan", "zur-may"}),
        ("event == 3", {"por-day"}),
        ("event in (1, 2)", {"lis-jun", "lis-night"}),
        ("trip == 1 and event > 1", {"lis-night", "por-day"}),
        ("event != 1", {"lis-night", "por-day", "zur-may"}),
        ("width >= 6000", {"lis-jun"}),
        ("height > 4015.5 and height < 4017", {"lis-jun"}),
        # places
        ('place("Lisbon")', {"lis-jun", "lis-night"}),
        ('place("Lisboa")', {"lis-jun", "lis-night", "scan"}),
        ('place("Portugal")', {"lis-jun", "lis-night", "por-day", "scan"}),
        ('not place("Portugal")', {"zur-may"}),
        ('not place("Lisbon")', LOCATED - {"lis-jun", "lis-night"}),
        ('near("Lisbon", 1.2)', {"lis-jun", "lis-night"}),
        ('near("Lisbon")', {"lis-jun", "lis-night", "scan"}),
        ('near("38.69, -9.22", 0.5)', {"scan"}),
        ("near(38.69, -9.22, 7.5)", {"scan", "lis-jun"}),
        ("near(-17, -179.9, 30)", {"sea-2019"}),
        ('not near("Lisbon", 20)', {"por-day", "zur-may", "sea-2019"}),
        ("box(38, -10, 39, -9)", {"lis-jun", "lis-night", "scan"}),
        ("box(39, -9, 38, -10)", {"lis-jun", "lis-night", "scan"}),
        ("box(39, -10, 38, -9)", {"lis-jun", "lis-night", "scan"}),
        ("box(-20, 170, -10, -170)", {"sea-2019"}),
        ("not box(-90, -180, 90, 0)", {"zur-may", "sea-2019"}),
        # logic
        ('year == 2021 and not city == "Lisbon"', {"por-day"}),
        ('city == "Porto" or year == 2020 and hour == 7', {"por-day", "zur-may"}),
        ('(city == "Porto" or year == 2020) and hour == 0', {"por-day"}),
        ("not (year == 2021 or year == 2022)", {"zur-may", "sea-2019", "future", "old"}),
        ("not not has_gps", LOCATED),
        ("year == 2021 and year == 2022", set()),
        ("has_time or not has_time", EVERYONE),
        (" year==2021\n and\tmonth<=6 ", {"lis-jun", "lis-night", "por-day"}),
    ],
)  # fmt: skip
def test_selects(catalog: Catalog, expression: str, uids: set[str]) -> None:

    assert found(catalog, expression) == uids


@pytest.mark.parametrize(
    ("condition", "known"),
    [
        ("year == 2021", DATED),
        ('weekday == "monday"', DATED),
        ("box(38, -10, 39, -9)", LOCATED),
        ('city == "Lisbon"', {"lis-jun", "lis-night", "por-day", "zur-may", "scan"}),
        ('camera == "iphone"', {"lis-jun", "lis-night", "por-day", "zur-may"}),
    ],
)
def test_a_photo_that_lacks_the_fact_is_neither_in_nor_out(
    catalog: Catalog, condition: str, known: set[str]
) -> None:
    inside, outside = found(catalog, condition), found(catalog, f"not ({condition})")
    assert inside | outside == known
    assert not inside & outside


def test_results_are_in_order_of_time_undated_last(catalog: Catalog) -> None:
    uids = catalog.everything().uids()
    assert uids[:2] == ["old", "sea-2019"]
    assert uids[-3:] == ["future", "scan", "nothing"]


@pytest.mark.parametrize(
    ("expression", "echo"),
    [
        (
            "year == 2021 and year == 2020",
            'time < "0001"  [no time meets all that is asked of it]',
        ),
        ('year==2021 and box(1,2,3,4)',
         '"2021-01-01" <= time < "2022-01-01" and box(1.0, 2.0, 3.0, 4.0)'),
        ('place("lissabon")',
         'place("lissabon")  [place("lissabon") → Lisbon, Lisboa, Portugal (radius 7.5 km)]'),
        ('not place("PT") and has_time',
         'not place("PT") and has_time  [place("PT") → Portugal (country)]'),
        ('near("Zurich", 3)',
         'near("Zurich", 3)  ["Zurich" → Zürich, Switzerland (47.3667,8.5500)]'),
        ('country == "pt" or has_gps',
         'country == "pt" or has_gps  [country "pt" → Portugal]'),
        ('hour >= 22 or hour < 6', "(hour < 6 or hour >= 22)"),
        ('not (weekday == "sat")',
         'weekday in ("monday", "tuesday", "wednesday", "thursday", "friday", "sunday")'),
    ],
)  # fmt: skip
def test_the_echo_says_what_ran(catalog: Catalog, expression: str, echo: str) -> None:
    assert catalog.filter(expression, today=TODAY, places=SmallGazetteer()).echo == echo


def test_an_unknown_place_names_near_ones(catalog: Catalog) -> None:
    with pytest.raises(PlaceNotFound, match="Lisbonne") as error:
        catalog.filter('place("Lisbonne")', places=SmallGazetteer())
    assert "Lisbon" in error.value.hint


def test_places_without_a_gazetteer_say_what_to_do(catalog: Catalog) -> None:
    with pytest.raises(PlaceNotFound, match="gazetteer") as error:
        catalog.filter('near("Lisbon", 5)')
    assert "box(" in error.value.hint
    assert len(catalog.filter('near("38.71,-9.14", 1)')) == 1


def test_an_empty_library_has_no_photo_to_find(make_columns: Any) -> None:
    empty = Catalog.from_columns(make_columns([]))
    for expression in ("has_time", 'not city == "x"', "hour == 3", "box(0, 0, 1, 1)", "day < 3"):
        assert len(empty.filter(expression)) == 0
    assert empty.filter('match_address("x") or flag("screenshot")').histogram() == []
