"""An answer is accepted only if every condition holds for every photo of it."""

from __future__ import annotations

import pytest
from tool_album import Album, Call

from photocraft_local.tools.submit_answer import answer_of


@pytest.fixture
def nikon(album: Album) -> list[str]:
    return [album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42)]


def test_an_answer_that_holds_is_accepted_with_its_evidence(call: Call, nikon: list[str]) -> None:
    seen = call(
        "submit_answer",
        photos=nikon,
        text="three photos",
        evidence=[
            {"constraint": "in October 2008", "when": "October 2008", "anchors": nikon[:1]},
            {"constraint": "in Italy", "where": "place('Italy')"},
        ],
    )
    assert seen.ok, seen.error
    answer = answer_of(seen)
    assert answer.uids == tuple(nikon)
    assert answer.text == "three photos"
    time, place = answer.evidence[nikon[0]]
    assert time.met
    assert time.constraint == "in October 2008"
    assert "2008-10" in time.rule
    assert time.value == "2008-10-22T16:28:39"
    assert time.anchors == (nikon[0],)
    assert place.value.endswith("Italy")
    assert seen.brief == "answered with 3 photos; 2 conditions verified"


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("camera == 'nikon'", "NIKON COOLPIX P6000"),
        ("width >= 640 and has_time", "2008-10-22T16:28:39; 640 x 480 pixels"),
        ("not camera == 'a \\' time' and not flag('screenshot')", "NIKON COOLPIX P6000; no flags"),
    ],
)
def test_the_evidence_tells_what_was_asked_and_no_more(
    call: Call, nikon: list[str], where: str, value: str
) -> None:
    claim = {"constraint": "as asked", "where": where}
    seen = call("submit_answer", photos=nikon, evidence=[claim])
    assert seen.ok, seen.error
    assert answer_of(seen).evidence[nikon[0]][0].value == value


def test_one_photo_that_breaks_a_condition_refuses_the_answer(
    call: Call, nikon: list[str], album: Album
) -> None:
    stranger = album.uid("me_Apple iPhone 4.jpg")
    seen = call(
        "submit_answer",
        photos=[*nikon, stranger],
        evidence=[{"constraint": "in October 2008", "when": "October 2008"}],
    )
    assert not seen.ok
    assert seen.data["accepted"] is False
    assert seen.data["unmet_photos"] == [stranger]
    broken = seen.data["unmet"][0]
    assert broken["uid"] == stranger
    assert broken["value"].startswith("2011-01-13T14:33:39")
    with pytest.raises(ValueError, match="not accepted"):
        answer_of(seen)


def test_evidence_may_concern_some_photos_only(call: Call, nikon: list[str], album: Album) -> None:
    other = album.uid("me_Apple iPhone 4.jpg")
    evidence = [
        {"constraint": "first trip", "when": "2008", "photos": nikon},
        {"constraint": "second trip", "when": "2011", "photos": [other]},
    ]
    seen = call("submit_answer", photos=[*nikon, other], evidence=evidence)
    assert seen.ok, seen.error
    less = call("submit_answer", photos=nikon, evidence=evidence)
    assert f"evidence for {other}" in less.error


def test_looks_are_judged_by_the_cutoff_and_eyes_outweigh_it(call: Call, album: Album) -> None:
    cats = call("search_photos", text="a cat", exact=True, save_as="cats")
    assert cats.data["count"] >= 2
    good = call("submit_answer", set="cats", evidence=[{"constraint": "a cat", "text": "a cat"}])
    assert good.ok, good.error
    piece = answer_of(good).evidence[cats.data["photos"][0]["uid"]][0]
    assert piece.score is not None
    assert piece.threshold is not None
    assert piece.score >= piece.threshold
    books = album.uid("books.jpg")
    claim = {"constraint": "a cat", "text": "a cat"}
    bad = call("submit_answer", photos=[books], evidence=[claim])
    assert not bad.ok
    assert bad.data["unmet"][0]["score"] < bad.data["unmet"][0]["threshold"]
    seen = call(
        "submit_answer", photos=[books], evidence=[{**claim, "seen": "a cat behind the books"}]
    )
    assert seen.ok
    assert answer_of(seen).evidence[books][0].value == "a cat behind the books"


def test_what_must_not_be_seen_is_told_with_its_own_score(call: Call, album: Album) -> None:
    """A score and the limit below which it stays, as search_photos gives them for the look."""
    every = call("search_photos", text="a cat", top_k=200)
    scores = {row["uid"]: row["score"] for row in every.data["photos"]}
    claim = {"constraint": "no cat", "not_text": ["a cat"]}
    call("search_photos", not_text=["a cat"], exact=True, save_as="catless")
    good = call("submit_answer", set="catless", evidence=[claim])
    assert good.ok, good.error
    for uid, (piece,) in answer_of(good).evidence.items():
        assert piece.rule == f"does not look like 'a cat': score below {every.data['cutoff']}"
        assert piece.value == f"score {piece.score}"
        assert piece.threshold == every.data["cutoff"]
        assert piece.score == pytest.approx(scores[uid], abs=0.002)
        assert piece.score < piece.threshold
    cats = call("search_photos", text="a cat", exact=True).data["photos"]
    bad = call("submit_answer", photos=[cats[0]["uid"]], evidence=[claim])
    assert bad.data["unmet"][0]["score"] >= bad.data["unmet"][0]["threshold"]


@pytest.mark.parametrize("check", [{"text": "xyzzy"}, {"not_text": ["xyzzy"]}])
def test_words_that_the_encoder_does_not_know_verify_nothing(
    call: Call, nikon: list[str], check: dict[str, object]
) -> None:
    seen = call("submit_answer", photos=nikon, evidence=[{"constraint": "xyzzy", **check}])
    assert not seen.ok
    assert {row["value"] for row in seen.data["unmet"]} == {
        "no score, the encoder does not know: xyzzy"
    }


def test_crops_count_as_their_photo(call: Call, nikon: list[str]) -> None:
    crop = call("zoom_in", uid=nikon[0], x=0, y=0, width=60, height=60).data["uid"]
    seen = call(
        "submit_answer", photos=[crop, nikon[0]], evidence=[{"constraint": "2008", "when": "2008"}]
    )
    assert answer_of(seen).uids == (nikon[0],)


def test_no_photo_is_an_answer(call: Call) -> None:
    seen = call("submit_answer", photos=[], evidence=[], text="there is none")
    assert seen.ok
    answer = answer_of(seen)
    assert (answer.uids, answer.text) == ((), "there is none")
    checked = call("submit_answer", photos=[], evidence=[{"constraint": "a dog", "text": "a dog"}])
    assert checked.ok


def test_mistakes_carry_the_way_out(call: Call, nikon: list[str]) -> None:
    held = [{"constraint": "2008", "when": "2008"}]
    assert "either photos or set" in call("submit_answer", evidence=held).error
    assert "either" in call("submit_answer", photos=[], set="x", evidence=held).error
    assert "needs evidence" in call("submit_answer", photos=nikon, evidence=[]).error
    unchecked = call("submit_answer", photos=nikon, evidence=[{"constraint": "nice"}])
    assert "'nice' comes without a check" in unchecked.error
    assert "no set named" in call("submit_answer", set="gone", evidence=held).error
    assert "no photo 'pzzzzz'" in call("submit_answer", photos=["pzzzzz"], evidence=held).error
    wrong = call(
        "submit_answer", photos=nikon, evidence=[{"constraint": "x", "where": "yaer == 1"}]
    )
    assert wrong.data["position"] == 0


def test_a_relation_is_worked_out_anew_and_names_the_photo_it_leans_on(
    call: Call, nikon: list[str]
) -> None:
    relation = {"photos": nikon[:1], "after": "1h"}
    claim = {"constraint": "in the hour after", "relation": relation}
    seen = call("submit_answer", photos=nikon[1:], evidence=[claim])
    assert seen.ok, seen.error
    (piece,) = answer_of(seen).evidence[nikon[1]]
    assert piece.rule == "within 1h after the given photo"
    assert piece.value == f"2008-10-22T16:38:20, 10 min after {nikon[0]}"
    assert piece.anchors == (nikon[0],)
    refused = call("submit_answer", photos=nikon, evidence=[claim])
    assert [row["uid"] for row in refused.data["unmet"]] == [nikon[0]]


@pytest.mark.parametrize(
    ("relation", "rule"),
    [
        ({"unit": "day"}, "in the same day as the given photo"),
        ({"unit": "event", "which": "first"}, "in the same event as the first of the given photos"),
        ({"km": 2}, "within 2 km of the given photo"),
        ({"unit": "day", "shift": 1, "negate": True}, "not the day after the given photo"),
    ],
)
def test_relations_of_every_kind_have_a_rule_and_a_value(
    call: Call, nikon: list[str], relation: dict[str, object], rule: str
) -> None:
    claim = {"constraint": "so", "relation": {"photos": nikon[:1], **relation}}
    seen = call("submit_answer", photos=nikon, evidence=[claim])
    assert seen.ok, seen.error
    for (piece,) in answer_of(seen).evidence.values():
        assert piece.rule == rule
        assert piece.value


def test_an_order_and_sets_are_checked(call: Call, nikon: list[str]) -> None:
    call("filter_photos", when="October 2008", save_as="walk")
    call("filter_photos", within="walk", order="first", limit=1, save_as="one")
    order = {"by": "first", "set": "walk", "limit": 1}
    claims = [
        {"constraint": "the first", "order": order},
        {"constraint": "of the walk", "in_sets": ["walk"]},
    ]
    good = call("submit_answer", set="one", evidence=claims)
    assert good.ok, good.error
    pieces = answer_of(good).evidence[nikon[0]]
    assert pieces[0].value == "number 1: 2008-10-22T16:28:39"
    assert pieces[1].value == "in walk"
    bad = call("submit_answer", set="walk", evidence=claims)
    assert bad.data["unmet_photos"] == nikon[1:]
    rest = {"constraint": "not the first", "not_in_sets": ["one"]}
    assert call("submit_answer", photos=nikon[1:], evidence=[rest]).ok
    assert not call("submit_answer", photos=nikon, evidence=[rest]).ok
    assert (
        "no set named"
        in call(
            "submit_answer", photos=nikon, evidence=[{"constraint": "x", "in_sets": ["gone"]}]
        ).error
    )


def test_a_condition_is_about_one_choice_of_photos(call: Call, nikon: list[str]) -> None:
    call("filter_photos", when="October 2008", save_as="walk")
    claim = {"constraint": "in 2008", "when": "2008", "about": "walk", "photos": nikon[:1]}
    seen = call("submit_answer", photos=nikon, evidence=[claim])
    assert "both photos and about" in seen.error


def test_a_condition_can_be_about_the_photos_of_a_set(
    call: Call, nikon: list[str], album: Album
) -> None:
    call("filter_photos", when="October 2008", save_as="walk")
    rome = album.uid("me_Apple iPhone 4.jpg")
    claims = [
        {"constraint": "in 2008", "when": "2008", "about": "walk"},
        {"constraint": "in Rome", "where": "place('Rome')", "photos": [rome]},
    ]
    seen = call("submit_answer", photos=[*nikon, rome], evidence=claims)
    assert seen.ok, seen.error
    told = {uid: [p.constraint for p in pieces] for uid, pieces in answer_of(seen).evidence.items()}
    assert told == {rome: ["in Rome"], **{uid: ["in 2008"] for uid in nikon}}


def test_any_of_several_looks_and_a_like_picture_are_checked(call: Call, album: Album) -> None:
    found = call("search_photos", any_text=["a cat", "a cake"], exact=True, save_as="either")
    claim = {"constraint": "a cat or a cake", "any_text": ["a cat", "a cake"]}
    seen = call("submit_answer", set="either", evidence=[claim])
    assert seen.ok, seen.error
    for uid, (piece,) in answer_of(seen).evidence.items():
        row = next(row for row in found.data["photos"] if row["uid"] == uid)
        assert piece.rule.startswith(f"looks like {row['fits']!r} (of 'a cat' or 'a cake')")
        assert (piece.score, piece.threshold) == (row["score"], row["from"])
    (itself,) = call("search_photos", like=[album.uid("cake.jpg")], top_k=1).data["photos"]
    like = {"constraint": "like this", "like": [album.uid("cake.jpg")]}
    assert call("submit_answer", photos=[itself["uid"]], evidence=[like]).ok
    other = call("submit_answer", photos=[album.uid("ia_DSCN0010.jpg")], evidence=[like])
    assert other.data["unmet"][0]["score"] < other.data["unmet"][0]["threshold"]
