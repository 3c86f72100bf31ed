"""Exact filters over real metadata; mistakes come back with position and hint."""

from __future__ import annotations

from tool_album import Album, Call

NIKON = {"ia_DSCN0010.jpg", "ia_DSCN0021.jpg", "ia_DSCN0042.jpg"}


def names(album: Album, uids: list[str]) -> set[str]:
    by_uid = {uid: name for name, uid in album.uids.items()}
    return {by_uid[uid] for uid in uids}


def rows(seen_data: dict[str, object]) -> list[str]:
    photos = seen_data["photos"]
    assert isinstance(photos, list)
    return [row["uid"] for row in photos]


def test_words_for_time_are_read_and_echoed(call: Call, album: Album) -> None:
    seen = call("filter_photos", when="October 2008", save_as="walk")
    assert names(album, rows(seen.data)) == NIKON
    assert seen.data["count"] == 3
    assert "October 2008" in seen.data["when"]
    assert "2008-10" in seen.data["filter"]
    assert seen.data["histogram"] == {"by_day": {"2008-10-22": 3}}
    assert seen.data["saved_as"] == "walk"
    assert seen.brief == "3 photos, saved as walk"
    first = seen.data["photos"][0]
    assert first == {"uid": album.uid("ia_DSCN0010.jpg"), "time": "2008-10-22T16:28:39",
                     "place": first["place"]}  # fmt: skip
    assert "Italy" in first["place"]


def test_expressions_and_words_hold_at_once(call: Call, album: Album) -> None:
    seen = call("filter_photos", when="2008", where="has_gps and hour == 16")
    assert names(album, rows(seen.data)) == NIKON - {"ia_DSCN0042.jpg"}
    none = call("filter_photos", when="2008", where="hour == 3")
    assert none.ok
    assert (none.data["count"], none.data["photos"]) == (0, [])


def test_places_go_by_the_gazetteer(call: Call, album: Album) -> None:
    seen = call("filter_photos", where="place('Italy')")
    assert names(album, rows(seen.data)) == NIKON | {"me_Apple iPhone 4.jpg"}
    near = call("filter_photos", where="near('43.4674,11.8851', 1)")
    assert names(album, rows(near.data)) == NIKON


def test_the_echo_is_a_filter_that_selects_the_same_photos(call: Call, album: Album) -> None:
    """Words and an expression with "or": without brackets the echo would say something else."""
    where = 'camera == "Nikon" or place("Rome")'
    seen = call("filter_photos", when="2008", where=where)
    assert names(album, rows(seen.data)) == NIKON
    expression, _, notes = seen.data["filter"].partition(" [")
    again = call("filter_photos", where=expression)
    assert rows(again.data) == rows(seen.data)
    assert notes.startswith('place("Rome") → Rome, ')
    assert notes.endswith("]")


def test_inside_a_set(call: Call, album: Album) -> None:
    call("filter_photos", where="place('Italy')", save_as="italy")
    seen = call("filter_photos", when="2011", within="italy")
    assert names(album, rows(seen.data)) == {"me_Apple iPhone 4.jpg"}
    assert seen.data["within"] == {"count": 4, "set": "italy"}
    missing = call("filter_photos", when="2011", within="itlay")
    assert "did you mean 'italy'? sets: italy (4)" in missing.error


def test_an_empty_set_is_told_apart_from_no_result(call: Call) -> None:
    call("filter_photos", when="1901", save_as="old")
    seen = call("filter_photos", where="has_gps", within="old")
    assert "the set 'old' is empty" in seen.error
    assert "when='1901'" in seen.error


def test_without_a_condition_the_whole_library_is_counted(call: Call, album: Album) -> None:
    seen = call("filter_photos")
    assert seen.data["count"] == album.library.count()
    assert len(seen.data["photos"]) == 20
    assert sum(next(iter(seen.data["histogram"].values())).values()) == album.library.count()


def test_mistakes_come_back_with_position_and_hint(call: Call) -> None:
    seen = call("filter_photos", where="has_gps and yaer == 2008")
    assert not seen.ok
    assert seen.data["position"] == 12
    assert "year" in seen.error
    assert "no 30 February 2021" in call("filter_photos", when="2021-02-30").error
    assert "Atlantiss" in call("filter_photos", where="place('Atlantiss')").error


def test_a_bad_set_name_is_refused_before_any_work(call: Call) -> None:
    assert call("filter_photos", where="has_gps", save_as="ok_1").ok
    for index in range(2, 65):
        assert call("combine_sets", op="and", sets=["ok_1", "ok_1"], save_as=f"s{index}").ok
    assert "already 64 sets" in call("filter_photos", where="has_gps", save_as="one_more").error


def test_the_foremost_of_an_order(call: Call, album: Album) -> None:
    first, second, third = (album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42))
    call("filter_photos", where="place('Italy')", save_as="italy")
    picked = call("filter_photos", within="italy", order="first", limit=2, save_as="two")
    assert rows(picked.data) == [first, second]
    assert picked.data["order"] == {"by": "first", "of": 4}
    assert picked.data["saved_as"] == "two"
    rome = album.uid("me_Apple iPhone 4.jpg")
    assert rows(call("filter_photos", within="italy", order="last", limit=2).data) == [rome, third]
    assert rows(call("filter_photos", within="italy", order="south", limit=1).data) == [rome]
    near = call("filter_photos", within="italy", order="nearest", of_place="Rome", limit=1)
    assert rows(near.data) == [rome]
    assert near.data["order"]["from"].startswith("Rome")
    of_country = call("filter_photos", within="italy", order="nearest", of_place="Italy")
    assert of_country.data["order"]["from"] == "Italy"
    assert of_country.data["count"] == 4
    far = call("filter_photos", within="italy", order="farthest", of_place="41.9,12.5")
    assert rows(far.data)[-1] == rome
    assert far.data["count"] == 4


def test_photos_without_the_fact_stand_in_no_order(call: Call, album: Album) -> None:
    every, located = album.library.count(), call("filter_photos", where="has_gps").data["count"]
    seen = call("filter_photos", order="north")
    assert seen.data["count"] == located
    assert seen.data["order"]["without_the_fact"] == every - located


def test_sums_over_the_whole_result(call: Call, album: Album) -> None:
    seen = call("filter_photos", where="place('Italy')", facts=True)
    facts = seen.data["facts"]
    assert (facts["dated"], facts["located"], facts["num_days"], facts["num_events"]) == (
        4,
        4,
        2,
        2,
    )
    assert facts["first"]["time"] == "2008-10-22T16:28:39"
    assert facts["last"]["uid"] == album.uid("me_Apple iPhone 4.jpg")
    assert (facts["num_cities"], facts["num_countries"], facts["num_cameras"]) == (2, 1, 2)
    assert [row["photos"] for row in facts["places"]] == [3, 1]
    assert {row["country"] for row in facts["places"]} == {"Italy"}
    assert facts["cameras"][0] == {"name": "NIKON COOLPIX P6000", "photos": 3}
    assert 41.8 < facts["middle"]["latitude"] < 43.5
    assert "facts" not in call("filter_photos", where="place('Italy')").data
    nothing = call("filter_photos", when="1901", facts=True).data["facts"]
    assert (nothing["num_days"], nothing["num_cities"], nothing["places"]) == (0, 0, [])


def test_how_far_two_sets_are_apart(call: Call) -> None:
    call("filter_photos", where="place('Rome')", save_as="rome")
    seen = call("filter_photos", where="place('Arezzo')", compare="rome")
    assert 175 < seen.data["apart"]["km"] < 195
    assert seen.data["apart"]["days_between_firsts"] > 365
    call("filter_photos", when="1901", save_as="old")
    assert call("filter_photos", where="place('Rome')", compare="old").data["apart"] == {}


def test_an_order_is_refused_with_the_way_out(call: Call) -> None:
    assert "limit without order" in call("filter_photos", limit=2).error
    assert "needs of_place" in call("filter_photos", order="nearest").error
    assert "takes no of_place" in call("filter_photos", order="first", of_place="Rome").error
    assert "Atlantiss" in call("filter_photos", order="nearest", of_place="Atlantiss").error
    many = call("filter_photos", order="nearest", of_place="Europe").error
    assert "many countries" in many or "no place named" in many
    assert "no set named 'gone'" in call("filter_photos", compare="gone").error
