"""Search by look over real photos with the embedded default encoder."""

from __future__ import annotations

import pytest
from tool_album import Album, Call

from photocraft_local.tools.context import ToolContext


def found(album: Album, photos: list[dict[str, object]]) -> list[str]:
    by_uid = {uid: name for name, uid in album.uids.items()}
    return [by_uid[str(row["uid"])] for row in photos]


def test_words_find_what_is_seen(call: Call, album: Album) -> None:
    seen = call("search_photos", text="a cat", top_k=6, save_as="cats")
    assert seen.ok
    names = found(album, seen.data["photos"])
    assert sum("cat" in name or "kitty" in name for name in names[:4]) >= 3
    scores = [row["score"] for row in seen.data["photos"]]
    assert scores == sorted(scores, reverse=True)
    assert seen.data["count"] == len(names) == 6
    assert seen.data["candidates"] == album.library.count()
    assert seen.data["saved_as"] == "cats"


def test_exact_keeps_only_what_is_above_the_cutoff(call: Call) -> None:
    seen = call("search_photos", text="a cat", exact=True)
    assert seen.data["count"] == seen.data["above_cutoff"]
    assert all(row["score"] >= seen.data["cutoff"] for row in seen.data["photos"])
    ranked = call("search_photos", text="a cat", top_k=20)
    assert ranked.data["above_cutoff"] <= seen.data["count"]
    assert "leave one of them out" in call("search_photos", text="a", exact=True, top_k=3).error


def test_a_photo_is_most_like_itself_and_a_crop_like_its_photo(call: Call, album: Album) -> None:
    cake = album.uid("cake.jpg")
    seen = call("search_photos", like=[cake], top_k=3)
    assert seen.data["photos"][0]["uid"] == cake
    photo = album.library.photo(cake)
    whole = call("zoom_in", uid=cake, x=0, y=0, width=photo.width, height=photo.height)
    by_crop = call("search_photos", like=[whole.data["uid"]], top_k=3)
    assert by_crop.data["photos"][0]["uid"] == cake


def test_the_pictures_of_the_question_can_be_looked_for(
    call: Call, context: ToolContext, album: Album
) -> None:
    path = album.library.photo(album.uid("books.jpg")).paths[0]
    context.pictures = {"q1": path}
    seen = call("search_photos", like=["q1"], top_k=1)
    assert found(album, seen.data["photos"]) == ["books.jpg"]


def test_filters_always_hold(call: Call, album: Album) -> None:
    seen = call("search_photos", text="a cat", where="has_gps", top_k=50)
    assert seen.data["filter"]
    filtered = call("filter_photos", where="has_gps")
    assert seen.data["candidates"] == filtered.data["count"]
    for row in seen.data["photos"]:
        assert album.library.photo(row["uid"]).location is not None
    october = call("search_photos", text="street", when="October 2008", top_k=50)
    assert october.data["count"] <= 3
    assert "October 2008" in october.data["when"]
    nothing = call("search_photos", text="street", when="1950")
    assert nothing.ok
    assert (nothing.data["count"], nothing.data["candidates"]) == (0, 0)


def test_what_must_not_be_seen_is_pushed_away(call: Call, album: Album) -> None:
    plain = call("search_photos", text="animal", top_k=40)
    without = call("search_photos", text="animal", not_text=["cat"], top_k=40)
    rank = {row["uid"]: place for place, row in enumerate(plain.data["photos"])}
    later = {row["uid"]: place for place, row in enumerate(without.data["photos"])}
    cat = album.uid("cat.jpg")
    assert later.get(cat, 99) > rank.get(cat, 99) or cat not in rank


@pytest.mark.parametrize("arguments", [{}, {"when": "2008"}, {"save_as": "x"}])
def test_nothing_to_look_for_is_refused_with_the_other_tool(
    call: Call, arguments: dict[str, object]
) -> None:
    assert "filter_photos" in call("search_photos", **arguments).error


def test_an_unknown_photo_is_answered_with_near_ones(call: Call, album: Album) -> None:
    uid = album.uid("cake.jpg")
    slip = uid[:-1] + ("2" if uid[-1] != "2" else "3")
    error = call("search_photos", like=[slip]).error
    assert f"there is no photo {slip!r}" in error
    assert uid in error
    call("filter_photos", where="has_gps", save_as="placed")
    assert "'placed' is a saved set" in call("search_photos", like=["placed"]).error
    assert "there is no photo" in call("search_photos", like=[f"{uid}.c99"]).error


def test_any_of_several_texts_is_their_union(call: Call) -> None:
    texts = ["a cat", "a cake"]
    single = [call("search_photos", text=text, exact=True).data["photos"] for text in texts]
    both = call("search_photos", any_text=texts, exact=True)
    assert both.data["count"] == len({row["uid"] for rows in single for row in rows})
    assert {row["uid"] for row in both.data["photos"]} == {
        row["uid"] for rows in single for row in rows
    }
    for row in both.data["photos"]:
        assert row["fits"] in texts
        assert row["score"] >= row["from"]
    best = call("search_photos", any_text=texts, top_k=3).data["photos"]
    assert len(best) == 3
    margins = [row["score"] - row["from"] for row in best]
    assert margins == sorted(margins, reverse=True)
    assert "any_text stands alone" in call("search_photos", any_text=texts, text="a dog").error
