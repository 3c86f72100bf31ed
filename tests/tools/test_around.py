"""Photos near others in time and place, and events: the Nikon's walk through Arezzo."""

from __future__ import annotations

from tool_album import Album, Call

from photocraft_local.tools.context import ToolContext

ITALY = "place('Italy') and year == 2008"
FIRST, SECOND, THIRD = "ia_DSCN0010.jpg", "ia_DSCN0021.jpg", "ia_DSCN0042.jpg"  # 16:28 :38 17:00


def found(album: Album, call: Call, **arguments: object) -> list[str]:
    seen = call("around", **arguments)
    assert seen.ok, seen.error
    by_uid = {uid: name for name, uid in album.uids.items()}
    return [by_uid[row["uid"]] for row in seen.data["photos"]]


def test_after_and_before_reach_as_far_as_asked(call: Call, album: Album) -> None:
    first, third = album.uid(FIRST), album.uid(THIRD)
    assert found(album, call, photos=[first], after="15m") == [SECOND]
    assert found(album, call, photos=[first], after="1h") == [SECOND, THIRD]
    assert found(album, call, photos=[first], before="1h") == []
    assert found(album, call, photos=[third], before="22m") == [SECOND]
    assert found(album, call, photos=[third], before="same day") == [FIRST, SECOND]
    assert found(album, call, photos=[third], after="next day") == []
    assert found(album, call, photos=[third], before="any time", where=ITALY) == [
        FIRST,
        SECOND,
    ]


def test_units_shift_and_the_first_or_last_counts(call: Call, album: Album) -> None:
    given = [album.uid(THIRD), album.uid(FIRST)]
    assert found(album, call, photos=given, unit="day") == [SECOND]
    assert found(album, call, photos=given, unit="day", which="last") == [FIRST, SECOND]
    assert found(album, call, photos=given, unit="day", shift=1) == []
    assert found(album, call, photos=given, unit="event", include_given=True) == [
        FIRST,
        SECOND,
        THIRD,
    ]
    assert found(album, call, photos=given, before="any time", which="first", where=ITALY) == []
    assert found(album, call, photos=given, after="any time", which="first", where=ITALY) == [
        SECOND,
        THIRD,
    ]
    assert found(album, call, photos=given, after="any time", which="first", apart="day") != []
    assert FIRST not in found(album, call, photos=given, unit="day", negate=True)


def test_a_saved_set_is_given_and_its_occasions_are_counted(call: Call, album: Album) -> None:
    call("filter_photos", where="place('Italy')", save_as="italy")
    seen = call("around", set="italy", unit="day", which="first")
    assert seen.data["given"]["occasions"] == 2
    assert seen.data["given"]["photos"] == [
        {"uid": album.uid(FIRST), "time": "2008-10-22T16:28:39"}
    ]
    assert [row["near"] for row in seen.data["photos"]] == [album.uid(FIRST)] * 2
    assert "give either photos or set" in call("around", unit="day").error
    assert "not both" in call("around", set="italy", photos=["p1"], unit="day").error
    call("filter_photos", when="1901", save_as="old")
    assert "the set 'old' is empty" in call("around", set="old", unit="day").error


def test_a_picture_of_the_question_has_its_own_time_and_place(
    call: Call, context: ToolContext, album: Album
) -> None:
    (path,) = album.library.photo(album.uid(SECOND)).paths[:1]
    context.pictures = {"q1": path}
    assert found(album, call, photos=["q1"], before="1h") == [FIRST]
    assert found(album, call, photos=["q1"], km=0.01) == [SECOND]
    assert found(album, call, photos=["q1"], unit="day", which="first") == [FIRST, SECOND, THIRD]
    assert "the event that is needed" in call("around", photos=["q1"], unit="event").error


def test_distance_counts_alone_and_together_with_time(call: Call, album: Album) -> None:
    first = album.uid(FIRST)
    assert found(album, call, photos=[first], km=0.1) == [SECOND]
    assert found(album, call, photos=[first], km=1) == [SECOND, THIRD]
    assert found(album, call, photos=[first], km=0.1, after="1h") == [SECOND]


def test_each_result_tells_its_relation(call: Call, album: Album) -> None:
    seen = call("around", photos=[album.uid(FIRST)], after="1h", save_as="walk")
    row = seen.data["photos"][0]
    assert row["near"] == album.uid(FIRST)
    assert row["minutes_after"] == 9.7
    assert 0.04 < row["km"] < 0.08
    assert seen.data["saved_as"] == "walk"
    assert seen.data["count"] == 2


def test_given_photos_are_left_out_unless_wanted(call: Call, album: Album) -> None:
    given = [album.uid(FIRST), album.uid(SECOND)]
    assert found(album, call, photos=given, after="1h") == [THIRD]
    later = found(album, call, photos=given, after="1h", include_given=True)
    assert later == [SECOND, THIRD]  # nothing is after itself
    every = found(album, call, photos=given, before="1h", after="1h", include_given=True)
    assert every == [FIRST, SECOND, THIRD]


def test_filters_and_sets_narrow_it(call: Call, album: Album) -> None:
    first = album.uid(FIRST)
    assert found(album, call, photos=[first], after="1h", where="hour == 17") == [THIRD]
    call("filter_photos", where="hour == 16", save_as="four")
    assert found(album, call, photos=[first], after="1h", within="four") == [SECOND]


def test_photos_without_what_is_needed_are_told(call: Call, album: Album) -> None:
    timeless = album.uid("books.jpg")
    seen = call("around", photos=[album.uid(FIRST), timeless], after="1h")
    assert seen.data["count"] == 2
    assert seen.data["left_out"] == {"missing": "time", "photos": [timeless]}
    error = call("around", photos=[timeless], after="1h", km=1).error
    assert "time and place" in error
    assert "get_metadata" in error


def test_mistakes_carry_the_way_out(call: Call, album: Album) -> None:
    first = album.uid(FIRST)
    assert "unit, before, after and km are all missing" in call("around", photos=[first]).error
    assert "shift needs a unit" in call("around", photos=[first], shift=1, km=1).error
    assert "'same day'" in call("around", photos=[first], after="later").error
    assert "there is no photo 'pzzzzz'" in call("around", photos=["pzzzzz"], after="1h").error


def test_events_have_span_place_count_and_cover(call: Call, album: Album) -> None:
    seen = call("list_events", where="place('Italy')")
    assert seen.data["count"] == 2
    walk = seen.data["events"][0]
    assert (walk["start"], walk["end"]) == ("2008-10-22T16:28:39", "2008-10-22T17:00:07")
    assert (walk["photos"], walk["matching"]) == (3, 3)
    assert "Arezzo" in walk["place"]
    event = call("filter_photos", where=f"event == {walk['event']}")
    assert event.data["count"] == 3
    assert walk["cover"] in [row["uid"] for row in event.data["photos"]]


def test_events_come_in_pages(call: Call) -> None:
    every = call("list_events", limit=200)
    assert every.data["count"] == len(every.data["events"])
    starts = [event["start"] for event in every.data["events"]]
    assert starts == sorted(starts)
    page = call("list_events", limit=3, skip=2)
    assert page.data["events"] == every.data["events"][2:5]
    assert page.data["shown"] == f"3 to 5 of {every.data['count']}"
    assert call("list_events", skip=10**6).data["events"] == []
