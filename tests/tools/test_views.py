"""Pictures into the context: labelled, at the right size, and crops with their own UIDs."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from tool_album import Album, Call

from photocraft_local.files.decode import decode_upright
from photocraft_local.tools.context import ToolContext

ARTS = "pi_ultrahdr.jpg"  # 1512 x 2688


def opened(picture: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def test_a_few_photos_come_as_separate_labelled_pictures(call: Call, album: Album) -> None:
    uids = [album.uid("cake.jpg"), album.uid(ARTS)]
    seen = call("view_photos", photos=[*uids, uids[0]])
    assert [uid for uid, _ in seen.images] == uids
    assert seen.data == {"count": 2, "layout": "separate", "photos": uids}
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
    assert normal.data["scale"] == 2.625
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
    assert fetched.data["scale"] == pytest.approx(90 / 448, abs=1e-3)


def test_the_question_s_own_picture_can_be_fetched_but_not_cropped(
    call: Call, context: ToolContext, album: Album
) -> None:
    context.pictures = {"q1": album.library.photo(album.uid("cat.jpg")).paths[0]}
    assert call("fetch_image", uid="q1").images[0][0] == "q1"
    assert call("view_photos", photos=["q1"]).ok
    assert "picture of the question" in call("zoom_in", uid="q1", x=0, y=0, width=9, height=9).error


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
