"""Plans made by hand, carried out by the real tools over a small made life."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest
from made_library import Made, Told, World
from plan_oracle import Known

from photocraft_local.agent.planner.draft import Unused
from photocraft_local.agent.planner.execute import Result, moves
from photocraft_local.agent.planner.plan import Ask, Look, Pick, Plan, Relation, Wanted
from photocraft_local.records import Hit
from photocraft_local.search.searcher import Query, SearchResult

LISBON = ((38.71, -9.14), ("Lisbon", "Lisbon", "Portugal"))
PORTO = ((41.15, -8.61), ("Porto", "Porto", "Portugal"))
TOKYO = ((35.68, 139.75), ("Tokyo", "Tokyo", "Japan"))
R6, PHONE = "Canon EOS R6", "Apple iPhone 12"


def made(
    time: str, where: tuple[tuple[float, float], tuple[str, str, str]] | None, camera: str
) -> Made:
    spot, address = where or (None, None)
    return Made(datetime.fromisoformat(time) if time else None, spot, address, camera)


LIFE = {
    "cake": made("2021-05-01T15:00:00", LISBON, R6),
    "party": made("2021-05-01T16:30:00", LISBON, R6),
    "morning after": made("2021-05-02T09:00:00", LISBON, PHONE),
    "bridge": made("2021-06-12T10:00:00", PORTO, PHONE),
    "tram": made("2021-06-12T11:00:00", PORTO, PHONE),
    "temple": made("2022-04-02T17:33:00", TOKYO, R6),
    "noodles": made("2022-04-03T20:04:00", TOKYO, R6),
    "second cake": made("2022-05-01T15:00:00", LISBON, R6),
    "nowhere": made("2022-05-03T08:00:00", None, ""),
    "no time": made("", LISBON, R6),
}


class Eyes:
    """A searcher that sees the given things; of ``blind`` words it knows none."""

    def __init__(self, things: Mapping[str, set[str]], blind: set[str]) -> None:
        self._things, self._blind = things, blind

    def search(self, query: Query) -> SearchResult:
        uids = UIDS.values() if query.selection is None else query.selection.uids()
        words = [query.text] if query.text else list(query.not_text)
        scores = {
            uid: 3.0 if (uid in self._things.get(words[0], ())) is bool(query.text) else 1.0
            for uid in uids
        }
        known = tuple(word for word in words if word not in self._blind)
        hits = [Hit(uid, score) for uid, score in scores.items() if known]
        if query.top_k is None:
            hits = [hit for hit in hits if hit.score >= 2.0]
        return SearchResult(
            hits=tuple(sorted(hits, key=lambda hit: -hit.score)),
            cutoff=2.0,
            num_candidates=len(scores),
            num_unindexed=0,
            filter_echo="",
            understood=known,
            not_understood=tuple(self._blind & set(words)),
        )


WORLD = World(list(LIFE.values()))
UIDS = {name: photo.uid for name, photo in zip(LIFE, WORLD.photos, strict=True)}
EYES = Eyes(
    {
        "cake": {UIDS["cake"], UIDS["second cake"]},
        "tram": {UIDS["tram"]},
        "noodles": {UIDS["noodles"]},
    },
    {"xyzzy"},
)


def told(plan: Plan | Wanted) -> Told:
    return WORLD.carry_out(
        plan if isinstance(plan, Plan) else Plan(plan), make_searcher=lambda: EYES
    )


def names(told: Told) -> list[str]:
    by_uid = {uid: name for name, uid in UIDS.items()}
    return [by_uid[uid] for uid in told.answer.uids]


def where(expression: str, words: str = "") -> Wanted:
    return Wanted(conditions=(Known(words or expression, expression, lambda photo: True),))


CITY = {name: where(f'city == "{name}"', f"in {name}") for name in ("Lisbon", "Porto", "Tokyo")}
JAPAN = where('country == "Japan"', "in Japan")
PORTUGAL = where('country == "Portugal"', "in Portugal")
DATED = where("has_time")
TRAM = Wanted(looks=(Look(("tram",)),))
CAKE = Wanted(looks=(Look(("cake",)),))


ASKS = [
    (PORTUGAL, Ask("count"), "7 photos: in Portugal."),
    (PORTUGAL, Ask("count", "cities"), "2 cities: Lisbon and Porto, Portugal (7 photos: "),
    (Wanted(), Ask("count", "countries"), "2 countries: Portugal and Japan (10 photos: all of"),
    (PORTUGAL, Ask("count", "days"), "4 days: from 1 to 2 May 2021, on 12 June 2021 and "),
    (CITY["Porto"], Ask("count", "events"), "1 event: on 12 June 2021 (2 photos: "),
    (JAPAN, Ask("count", "cameras"), "1 camera: Canon EOS R6 (2 photos: "),
    (JAPAN, Ask("count", "trips"), "1 trip: Tokyo, Japan (from 2 to 3 April 2022) (2 photos: "),
    (CITY["Porto"], Ask("exists"), "Yes, 2 photos: in Porto."),
    (JAPAN, Ask("when"), "from 2 to 3 April 2022 (2 photos: in Japan)."),
    (CITY["Porto"], Ask("when"), "on 12 June 2021 between 10:00 and 11:00 (2 photos: "),
    (CITY["Porto"], Ask("when", "time"), "between 10:00 and 11:00 on 12 June 2021 (2 photos: "),
    (CITY["Lisbon"], Ask("when"), "from 1 to 2 May 2021 and on 1 May 2022 (5 photos: "),
    (PORTUGAL, Ask("when", "month"), "in May 2021, June 2021 and May 2022 (7 photos: "),
    (PORTUGAL, Ask("when", "year"), "in 2021 and 2022 (7 photos: "),
    (where("not has_time"), Ask("when"), "the time is not known (1 photo: "),
    (DATED, Ask("where"), "Lisbon and Porto, Portugal; Tokyo, Japan; 1 photo without a place ("),
    (DATED, Ask("where", "country"), "Portugal and Japan; 1 photo without a place ("),
    (where("not has_gps"), Ask("where"), "the place is not known (1 photo: "),
    (where("year == 2021"), Ask("camera"), "Apple iPhone 12 (3 photos) and Canon EOS R6 (2) (5"),
    (PORTUGAL, Ask("span"), "from 1 May 2021 to 1 May 2022, 366 days (7 photos: "),
    (CITY["Porto"], Ask("span"), "on 12 June 2021 between 10:00 and 11:00 (2 photos: "),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "ask", "start"), ASKS)
def test_the_answer_says_what_is_asked(wanted: Wanted, ask: Ask, start: str) -> None:
    seen = told(Plan(wanted, ask))
    assert seen.answer.text.startswith(start)
    assert seen.answer.uids == told(wanted).answer.uids


def test_how_far_two_sets_are_apart_has_the_photos_of_both() -> None:
    seen = told(Plan(CITY["Porto"], Ask("distance"), other=CITY["Lisbon"]))
    assert seen.answer.text.startswith("275 km apart (7 photos: in Porto / in Lisbon)")
    assert set(names(seen)) == {"bridge", "tram", "cake", "party", "morning after", "second cake",
                                "no time"}  # fmt: skip
    constraints = [piece.constraint for piece in seen.answer.evidence[UIDS["bridge"]]]
    assert constraints == ["in Porto", "(in Porto) or (in Lisbon)"]
    nothing = told(Plan(CITY["Porto"], Ask("distance"), other=where("year == 1999", "in 1999")))
    assert nothing.answer.text == "No photo: of 'in 1999': none is known to be 'in 1999'."
    unknown = told(Plan(CITY["Porto"], Ask("distance"), other=where("not has_gps")))
    assert unknown.answer.text.startswith("how far apart is not known")


def lean(kind: str, anchor: Wanted, **more: object) -> Wanted:
    return Wanted(relations=(Relation(kind, anchor, words=f"the {kind}", **more),))  # type: ignore[arg-type]


RELATIONS = [
    (lean("day", CAKE), ["cake", "party", "second cake"]),
    (lean("day", CAKE, which="first"), ["cake", "party"]),
    (lean("day", CAKE, which="first", shift=1), ["morning after"]),
    (lean("after", CAKE, which="first", within=timedelta(hours=2)), ["party"]),
    (lean("before", TRAM), ["cake", "party", "morning after", "bridge"]),
    (lean("around", CAKE, which="last"), ["second cake"]),
    (lean("event", CAKE, which="first"), ["cake", "party"]),
    (lean("event", CAKE, which="first", shift=1), ["morning after"]),
    (lean("trip", JAPAN), ["temple", "noodles"]),
    (lean("trip", Wanted(), which="last"), ["nowhere"]),
    (lean("trip", Wanted(), which="first"), ["cake", "party", "morning after"]),
    (lean("place", CAKE, which="first", apart="year"), ["second cake"]),
    (lean("place", lean("after", Wanted(looks=(Look(("noodles",)),))), apart="day"),
     ["cake", "party", "morning after"]),
    (lean("month", CAKE, negated=True), ["bridge", "tram", "temple", "noodles"]),
    (lean("day", lean("day", lean("day", CAKE, which="first"), shift=1)), ["morning after"]),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "right"), RELATIONS)
def test_relations_and_chains_of_them(wanted: Wanted, right: list[str]) -> None:
    seen = told(wanted)
    assert sorted(names(seen)) == sorted(right)
    for uid in seen.answer.uids:
        (piece,) = seen.answer.evidence[uid]
        assert piece.met
        assert piece.rule
        assert piece.value
        assert piece.anchors


def test_a_photo_taken_at_home_is_of_no_trip_but_there_is_one_after_it() -> None:
    """Home is Lisbon here: five days, spread over three years."""
    days = ["2020-01-05", "2020-05-01", "2020-09-09", "2021-02-02", "2021-12-24", "2022-03-03"]
    at_home = [made(f"{day}T12:00:00", LISBON, R6) for day in days]
    away = [made(f"2021-0{month}-11T12:00:00", TOKYO, R6) for month in (5, 6)]
    world = World([*at_home, *away])
    spring = where("year == 2021 and month == 2", "in February 2021")
    none = world.carry_out(Plan(lean("trip", spring)))
    assert "a photo that was taken at home is of no trip" in none.answer.text
    uids = [photo.uid for photo in world.photos]
    next_one = world.carry_out(Plan(lean("trip", spring, shift=1)))
    assert list(next_one.answer.uids) == [uids[6]]
    second = world.carry_out(Plan(lean("trip", spring, shift=2)))
    assert list(second.answer.uids) == [uids[7]]
    before = world.carry_out(Plan(lean("trip", where("year == 2022", "in 2022"), shift=-1)))
    assert list(before.answer.uids) == [uids[7]]


def test_which_of_several_occasions_was_taken_is_said() -> None:
    text = told(lean("day", CAKE, which="first")).answer.text
    assert "is known of 2 occasions; the first is meant, the one of 1 May 2021." in text
    assert "occasions" not in told(lean("day", CAKE)).answer.text


def test_the_role_of_each_set_on_the_way_is_told() -> None:
    """A person who sees the sets as they come must not take an anchor for an answer."""
    plan = Plan(Wanted(relations=lean("day", CAKE).relations, but_not=(TRAM,)))
    going, thoughts = moves(plan), []
    registry = WORLD.registry(make_searcher=lambda: EYES)
    move = next(going)
    while move.call.name != "submit_answer":
        thoughts.append(move.thought)
        seen = registry.call(move.call)
        move = going.send(Result(seen.data, seen.error))
    assert thoughts == [
        "What it leans on: All that look like 'cake'.",
        "The photos that stand so to these: the day (looks like 'cake').",
        "What to leave out: Among them, all that look like 'tram'.",
    ]


def test_how_far_the_same_place_reaches_is_said_and_a_town_reaches_further() -> None:
    assert "The same place reaches 0.5 km." in told(lean("place", CAKE)).answer.text
    assert "reaches" not in told(lean("place", CAKE, km=2.0)).answer.text


def test_looks_of_which_any_may_be_seen_are_one_search_and_one_condition() -> None:
    seen = told(Wanted(looks=(Look(("tram", "noodles")),)))
    assert names(seen) == ["tram", "noodles"]
    assert [call.name for call in seen.calls] == ["search_photos", "submit_answer"]
    (piece,) = seen.answer.evidence[UIDS["tram"]]
    assert piece.rule == "looks like 'tram' (of 'tram' or 'noodles'): score 2.0 or more"
    assert (piece.score, piece.threshold) == (3.0, 2.0)


def test_a_union_keeps_the_evidence_of_its_parts_apart() -> None:
    both = Wanted(
        either=(CITY["Porto"], Wanted(conditions=JAPAN.conditions, looks=(Look(("noodles",)),)))
    )
    seen = told(both)
    assert names(seen) == ["bridge", "tram", "noodles"]
    constraints = {
        name: [piece.constraint for piece in seen.answer.evidence[UIDS[name]]]
        for name in ("bridge", "noodles")
    }
    words = "(in Porto) or (looks like 'noodles'; in Japan)"
    assert constraints == {
        "bridge": ["in Porto", words],
        "noodles": ["in Japan", "looks like 'noodles'", words],
    }


def test_an_empty_part_of_a_union_is_said() -> None:
    seen = told(Wanted(either=(CITY["Porto"], where("year == 1999", "in 1999"))))
    assert names(seen) == ["bridge", "tram"]
    assert "Nothing for in 1999: none is known to be 'in 1999'" in seen.answer.text


def test_why_two_parts_are_empty_is_counted_once() -> None:
    conditions = (*where("year == 1999", "in 1999").conditions, *JAPAN.conditions)
    part = Wanted(conditions=conditions)
    seen = told(Wanted(either=(part, Wanted(conditions=conditions, looks=CAKE.looks))))
    assert seen.answer.text.count("'in 1999' (0 alone), 'in Japan' (2 alone)") == 2


def test_exceptions_are_left_out_and_if_there_is_none_that_is_said() -> None:
    seen = told(Wanted(conditions=PORTUGAL.conditions, but_not=(CAKE, CITY["Porto"])))
    assert set(names(seen)) == {"party", "morning after", "no time"}
    pieces = seen.answer.evidence[UIDS["party"]]
    assert [piece.constraint for piece in pieces[1:]] == ["not looks like 'cake'", "not in Porto"]
    spared = told(Wanted(conditions=CITY["Porto"].conditions, but_not=(CAKE,)))
    assert "None had to be left out as 'looks like 'cake''." in spared.answer.text
    wedding = lean("day", Wanted(looks=(Look(("wedding",)),)))
    unknown = told(Wanted(conditions=PORTUGAL.conditions, but_not=(wedding,)))
    assert unknown.answer.uids == ()
    assert "nothing looks enough like 'wedding'; 'the day' leans on it" in unknown.answer.text
    alone = told(Wanted(but_not=(PORTUGAL,)))
    assert set(names(alone)) == {"temple", "noodles", "nowhere"}


def test_picks_are_by_an_order_and_the_evidence_tells_the_rank() -> None:
    seen = told(Wanted(conditions=PORTUGAL.conditions, pick=Pick("last", 2, "the last two")))
    assert names(seen) == ["second cake", "tram"]
    assert seen.answer.evidence[UIDS["tram"]][-1].value == "number 2: 2021-06-12T11:00:00"
    assert names(told(Wanted(pick=Pick("east")))) == ["temple"]
    near = Pick("nearest", 2, "the two nearest", "41.0,-8.5")
    assert names(told(Wanted(pick=near))) == ["bridge", "tram"]
    assert (
        "only 2 of the 5 that"
        in told(Wanted(conditions=JAPAN.conditions, pick=Pick("first", 5))).answer.text.lower()
    )


def test_a_bare_number_is_by_score_or_in_time() -> None:
    """ "three photos": the best fitting ones, all if there are no more."""
    best = Pick("best", 1, "one")
    assert names(told(Wanted(looks=(Look(("tram",)),), pick=best))) == ["tram"]
    either = told(Wanted(looks=(Look(("tram", "noodles")),), pick=best))
    assert names(either) in (["tram"], ["noodles"])
    early = told(Wanted(conditions=PORTUGAL.conditions, pick=Pick("best", 2, "two")))
    assert names(early) == ["cake", "party"]
    assert "Which 2 is not said; the first in time are given." in early.answer.text
    few = told(Wanted(conditions=JAPAN.conditions, pick=Pick("best", 3, "three")))
    assert set(names(few)) == {"temple", "noodles"}
    assert "Only 2 of the 3 that were asked for." in few.answer.text


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (Plan(where("year == 1999", "in 1999"), Ask("count")), "0 photos: none is known to be"),
        (Plan(where("year == 1999", "in 1999"), Ask("count", "days")), "0 days: none is known"),
        (Plan(where("year == 1999", "in 1999"), Ask("exists")), "No: none is known to be"),
        (Plan(Wanted(looks=(Look(("xyzzy",)),)), Ask("count")), "The number is not known: the enc"),
        (Plan(Wanted(looks=(Look(("xyzzy",)),)), Ask("exists")), "That is not known: the encoder"),
        (Plan(lean("day", Wanted(looks=(Look(("wedding",)),)))),
         "No photo: nothing looks enough like 'wedding'; 'the day' leans on it."),
        (Plan(lean("day", Wanted(looks=(Look(("wedding",)),))), Ask("count")),
         "The number is not known: nothing looks enough like 'wedding'; "),
        (Plan(lean("day", where("not has_time", "without a time"))),
         "No photo: none of the 1 given photos has the time that is needed"),
        (Plan(lean("day", JAPAN, shift=40)), "No photo: no photo is known to be 'the day (in Jap"),
        (Plan(Wanted(but_not=(Wanted(looks=(Look(("xyzzy",)),)),))), "No photo: the encoder knows"),
        (Plan(Wanted(pick=Pick("first")), blocked=(Unused("my aunt", "unknown"),)),
         "No photo: 'my aunt': unknown."),
    ],
)  # fmt: skip
def test_nothing_is_told_with_its_reason(plan: Plan, text: str) -> None:
    seen = told(plan)
    assert seen.answer.uids == ()
    assert seen.answer.text.startswith(text)


def test_what_is_not_used_is_named_in_any_answer() -> None:
    seen = told(Plan(JAPAN, unused=(Unused("with love", "not seen"),)))
    assert seen.answer.not_understood == ("with love (not seen)",)
    assert names(seen) == ["temple", "noodles"]


def test_notes_of_the_plan_stand_in_the_answer() -> None:
    assert told(Plan(JAPAN, notes=("spring is March to May",))).answer.text.endswith(
        " Spring is March to May."
    )


def test_no_message_lists_a_large_set() -> None:
    big = World(
        [made(f"2021-05-{1 + at % 28:02d}T{at % 24:02d}:00:00", LISBON, R6) for at in range(3000)]
    )
    seen = big.carry_out(Plan(lean("day", where("hour == 5", "at 5")), Ask("count")))
    assert seen.answer.text.startswith("750 photos: ")
    assert len(seen.answer.uids) == 750
    for observation in seen.seen[:-1]:
        assert len(observation.data.get("photos", ())) <= 100
        assert len(str(observation.data)) < 12_000
    for call in seen.calls:
        assert len(str(call.arguments)) < 2_000


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(not_looks=("x" * 900,)),
        Wanted(looks=(Look(tuple(f"thing {at}" for at in range(30))),)),
        Wanted(either=tuple(where(f"day == {1 + at % 28}", f"{at}") for at in range(20))),
        where(" or ".join(f"day == {1 + at % 28}" for at in range(300))),
        lean("day", CAKE, shift=10**9),
        lean("after", CAKE, within=timedelta(days=10**6)),
        lean("before", CAKE, within=timedelta(milliseconds=1)),
        lean("place", CAKE, km=10**7),
        Wanted(pick=Pick("last", 10**6)),
    ],
    ids=range(9),
)
def test_no_plan_breaks_the_schema_of_a_tool(wanted: Wanted) -> None:
    seen = told(wanted)  # a malformed call would raise
    assert seen.answer.text
