"""Pictures into the context: labelled, at the right size, and crops with their own UIDs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from tool_album import Album, Call

from photocraft_local.files.decode import decode_upright
from photocraft_local.imaging import decoded_cache
from photocraft_local.tools.context import ToolContext

ARTS = "pi_ultrahdr.jpg"  # 1512 x 2688


def opened(picture: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def test_a_few_photos_come_as_separate_labelled_pictures(call: Call, album: Album) -> None:
    uids = [album.uid("cake.jpg"), album.uid(ARTS)]
    seen = call("view_photos", photos=[*uids, uids[0]])
    assert [uid for uid, _ in seen.images] == uids
    expected = {"count": 2, "detail": "large", "layout": "separate", "photos": uids}
    assert seen.data == expected
    height, width = opened(seen.images[1][1]).shape[:2]
    assert width == 432  # 768 px high and a label strip below
    assert 768 < height < 880
    assert seen.images[0][1].startswith(b"\xff\xd8\xff")


def test_many_photos_come_on_one_sheet(call: Call, album: Album) -> None:
    uids = sorted(set(album.uids.values()))[:20]
    seen = call("view_photos", photos=uids)
    assert seen.data["layout"] == "sheet"
    assert [uid for uid, _ in seen.images] == ["sheet of 20"]
    assert seen.data["photos"] == uids
    assert seen == call("view_photos", photos=uids)
    assert len(call("view_photos", photos=uids[:3], layout="sheet").images) == 1
    assert len(call("view_photos", photos=uids[:8], layout="separate").images) == 8


def test_unknown_photos_are_all_named(call: Call, album: Album) -> None:
    error = call("view_photos", photos=[album.uid("cake.jpg"), "pxxxxx", "pyyyyy"]).error
    assert "'pxxxxx'" in error
    assert "'pyyyyy'" in error


def test_fetching_gives_more_pixels_and_the_scale_to_the_original(call: Call, album: Album) -> None:
    normal = call("fetch_image", uid=album.uid(ARTS))
    high = call("fetch_image", uid=album.uid(ARTS), detail="high")
    assert normal.data["original"] == {"width": 1512, "height": 2688}
    assert normal.data["shown"] == {"width": 576, "height": 1024}
    assert normal.data["scale"] == {"x": 2.625, "y": 2.625}
    assert high.data["shown"] == {"width": 1152, "height": 2048}
    assert opened(high.images[0][1]).shape == (2048, 1152, 3)


def test_a_crop_gets_its_own_uid_and_is_the_right_part(call: Call, album: Album) -> None:
    uid = album.uid(ARTS)
    seen = call("zoom_in", uid=uid, x=200, y=300, width=600, height=500)
    assert seen.data["uid"].startswith(f"{uid}.c")
    assert seen.data["box"] == {"x": 200, "y": 300, "width": 600, "height": 500}
    whole = decode_upright(album.library.photo(uid).paths[0]).pixels
    assert (opened(seen.images[0][1]) == whole[300:800, 200:800]).all()
    again = call("zoom_in", uid=uid, x=200, y=300, width=600, height=500)
    assert again.data["uid"] == seen.data["uid"]
    kept = album.library.crop(seen.data["uid"])
    assert kept.path.read_bytes() == seen.images[0][1]


def test_further_looks_at_a_photo_decode_nothing(
    call: Call, album: Album, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first crop decodes the rows that it needs; what lies above is there for the next ones."""
    calls = []
    for name in ("decode_rows", "decode_upright"):
        real = getattr(decoded_cache, name)

        def watched(*words: Any, real: Any = real, name: str = name, **how: Any) -> Any:
            calls.append(name)
            return real(*words, **how)

        monkeypatch.setattr(decoded_cache, name, watched)
    monkeypatch.setattr(context.decoded, "_decode", decoded_cache.decode_upright)
    uid = album.uid(ARTS)
    call("zoom_in", uid=uid, x=200, y=300, width=600, height=500)
    call("zoom_in", uid=uid, x=10, y=0, width=300, height=800)
    assert calls == ["decode_rows"]
    first = call("view_photos", photos=[uid])
    assert calls == ["decode_rows", "decode_upright"]
    assert call("view_photos", photos=[uid]) == first
    assert len(calls) == 2
    assert 0 < context.decoded.num_bytes <= 512 << 20


def test_a_crop_of_a_crop_is_cut_from_the_original(call: Call, album: Album) -> None:
    uid = album.uid(ARTS)
    outer = call("zoom_in", uid=uid, x=100, y=200, width=400, height=300).data["uid"]
    inner = call("zoom_in", uid=outer, x=50, y=60, width=100, height=80)
    assert inner.data["of"] == uid
    assert inner.data["box"] == {"x": 150, "y": 260, "width": 100, "height": 80}
    assert inner.data["shown"] == {"width": 448, "height": 358}
    error = call("zoom_in", uid=outer, x=350, y=0, width=51, height=10).error
    assert "400 pixels wide and 300 pixels high" in error


def test_a_box_outside_states_the_real_size_and_what_was_asked(call: Call, album: Album) -> None:
    error = call("zoom_in", uid=album.uid(ARTS), x=1500, y=0, width=13, height=10).error
    assert "x=1500 y=0 width=13 height=10" in error
    assert "1512 pixels wide and 2688 pixels high" in error


def test_crops_can_be_viewed_and_fetched(call: Call, album: Album) -> None:
    crop = call("zoom_in", uid=album.uid(ARTS), x=0, y=0, width=90, height=60).data["uid"]
    assert call("view_photos", photos=[crop]).data["photos"] == [crop]
    fetched = call("fetch_image", uid=crop)
    assert fetched.data["original"] == {"width": 90, "height": 60}
    assert fetched.data["scale"] == {"x": 0.201, "y": 0.201}


def test_a_part_of_the_question_s_picture_has_an_id_for_this_episode(
    call: Call, context: ToolContext, album: Album
) -> None:
    path = album.library.photo(album.uid(ARTS)).paths[0]
    context.pictures = {"q1": path, "q2": path}
    assert call("fetch_image", uid="q1").images[0][0] == "q1"
    assert call("view_photos", photos=["q1"]).ok
    outer = call("zoom_in", uid="q1", x=100, y=200, width=400, height=300)
    assert (outer.data["uid"], outer.data["of"]) == ("q1.c1", "q1")
    inner = call("zoom_in", uid="q1.c1", x=50, y=60, width=100, height=80)
    assert inner.data["uid"] == "q1.c2"
    assert inner.data["of"] == "q1"
    assert inner.data["box"] == {"x": 150, "y": 260, "width": 100, "height": 80}
    assert call("zoom_in", uid="q2", x=0, y=0, width=9, height=9).data["uid"] == "q2.c1"
    assert call("zoom_in", uid="q1", x=100, y=200, width=400, height=300).data["uid"] == "q1.c1"
    same = call("zoom_in", uid=album.uid(ARTS), x=150, y=260, width=100, height=80)
    assert same.images[0][1] == inner.images[0][1]
    viewed = call("view_photos", photos=["q1.c1", "q1.c2"])
    assert [uid for uid, _ in viewed.images] == ["q1.c1", "q1.c2"]
    assert call("fetch_image", uid="q1.c2").data["original"] == {"width": 100, "height": 80}
    outside = call("zoom_in", uid="q1.c1", x=390, y=0, width=11, height=10).error
    assert "400 pixels wide and 300 pixels high" in outside
    outside = call("zoom_in", uid="q1", x=1500, y=0, width=13, height=10).error
    assert "1512 pixels wide and 2688 pixels high" in outside


def test_what_belongs_to_the_question_is_no_answer(
    call: Call, context: ToolContext, album: Album
) -> None:
    context.pictures = {"q1": album.library.photo(album.uid(ARTS)).paths[0]}
    call("zoom_in", uid="q1", x=0, y=0, width=90, height=90)
    for uid in ("q1", "q1.c1"):
        proof = [{"constraint": "all", "where": "width > 0"}]
        assert (
            "belongs to the question" in call("submit_answer", photos=[uid], evidence=proof).error
        )
        assert "belongs to the question" in call("get_metadata", photos=[uid]).error
    assert "no photo 'q1.c2'" in call("view_photos", photos=["q1.c2"]).error


def test_photos_that_look_like_a_part_are_found(
    call: Call, context: ToolContext, album: Album
) -> None:
    """The same part gives the same look, whether of a photo or of the question's picture."""
    uid = album.uid("cat.jpg")
    context.pictures = {"q1": album.library.photo(uid).paths[0]}
    box = {"x": 100, "y": 40, "width": 200, "height": 180}
    of_photo = call("zoom_in", uid=uid, **box).data["uid"]
    of_question = call("zoom_in", uid="q1", **box).data["uid"]
    scores = []
    for crop in (of_photo, of_question):
        found = call("search_photos", like=[crop], top_k=3)
        assert found.data["photos"][0]["uid"] == uid
        scores.append([row["score"] for row in found.data["photos"]])
    assert np.allclose(scores[0], scores[1], atol=0.1)


def test_a_file_that_cannot_be_read_is_told_not_hidden(
    call: Call, context: ToolContext, album: Album, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0 nothing behind it")
    context.pictures = {"q1": str(broken).encode()}
    seen = call("view_photos", photos=["q1", album.uid("cat.jpg")])
    assert seen.data["photos"] == [album.uid("cat.jpg")]
    assert "broken.jpg" in seen.data["not_shown"]["q1"]
    assert "no picture could be shown" in call("view_photos", photos=["q1"]).error
    assert not call("fetch_image", uid="q1").ok


def test_a_crop_that_was_cleared_is_shown_as_before(
    call: Call, context: ToolContext, album: Album
) -> None:
    uid = call("zoom_in", uid=album.uid(ARTS), x=300, y=400, width=700, height=300).data["uid"]
    tools = (("fetch_image", {"uid": uid}), ("view_photos", {"photos": [uid], "layout": "sheet"}))
    before = [call(tool, **how) for tool, how in tools]
    for tool, how in tools:
        context.library.crop(uid).path.unlink()
        assert call(tool, **how) == before.pop(0)
