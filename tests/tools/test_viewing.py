"""Pictures for a model's prompt: the family's sizes, the cheaper layout, and never too many."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from PIL import Image
from tool_album import Album, Call

from photocraft_local.app.sights import viewing_of
from photocraft_local.imaging.geometry import MAX_ASPECT
from photocraft_local.records import Observation
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.tokens import PICTURE_MARKS, PictureRule
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.viewing import DETAILS, Viewing

QWEN2_5 = PictureRule(28, 4 * 28**2, 16384 * 28**2)
QWEN3 = PictureRule(32, 64 * 32**2, 16384 * 32**2)
RULES = [QWEN2_5, QWEN3]
SIZES = [(4000, 3000), (3000, 4000), (640, 480), (5000, 1), (1, 1)]


def sizes_of(seen: Observation) -> list[tuple[int, int]]:
    return [Image.open(io.BytesIO(source)).size for _, source in seen.images]


def multiples(sizes: list[tuple[int, int]], rule: PictureRule) -> bool:
    """Whether the server takes them as they are."""
    return all(side % rule.factor == 0 for size in sizes for side in size)


def cost(seen: Observation, rule: PictureRule) -> int:
    return sum(rule.tokens(*size) + PICTURE_MARKS for size in sizes_of(seen))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("num", [1, 6, 7, 20])
@pytest.mark.parametrize("most", [1, 4, 24])
@pytest.mark.parametrize("tokens", [0, 300, 2000, 9000])
def test_no_call_asks_more_of_a_prompt_than_it_holds(
    rule: PictureRule, num: int, most: int, tokens: int
) -> None:
    sizes = [(768, 576), (432, 768)] * 10
    viewing = Viewing(rule, most, tokens)
    for detail in ("", *DETAILS):
        for layout in ("auto", "separate", "sheet"):
            how = viewing.showing(sizes[:num], ["p7k3mq"] * num, detail, layout)
            assert 1 <= how.num <= num
            assert how.sheets <= most
            if how.num > 1:
                assert not tokens or how.tokens <= tokens
                assert layout in ("auto", how.kind)
            if detail:
                assert DETAILS[how.detail] <= DETAILS[detail]


def test_twenty_photos_where_four_pictures_fit_come_on_sheets() -> None:
    for rule in RULES:
        how = Viewing(rule, most=4).showing([(768, 576)] * 20, [""] * 20)
        assert (how.kind, how.num, how.detail) == ("sheet", 20, "small")
        assert how.sheets <= 4


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("tokens", [0, 70, 500])
def test_a_picture_is_made_in_the_size_that_the_family_takes(
    rule: PictureRule, size: tuple[int, int], tokens: int
) -> None:
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    view = Viewing(rule, tokens=tokens).view(pixels, longest=768)
    fit = rule.fit(view.width, view.height)
    assert (fit.canvas_width, fit.canvas_height) == (view.width, view.height)
    assert max(view.width, view.height) <= MAX_ASPECT * min(view.width, view.height)
    if tokens and size != (5000, 1):
        assert rule.tokens(view.width, view.height) <= max(
            tokens, rule.min_pixels // rule.factor**2
        )
    assert (view.source_width, view.source_height) == size


@pytest.mark.parametrize("rule", RULES)
def test_a_small_crop_is_enlarged_and_a_large_one_reduced(
    rule: PictureRule, call: Call, context: ToolContext, album: Album
) -> None:
    context.viewing = Viewing(rule)
    uid = album.uid("pi_ultrahdr.jpg")
    small = call("zoom_in", uid=uid, x=900, y=900, width=40, height=30)
    assert 448 - rule.factor <= small.data["shown"]["width"] <= 448 + rule.factor
    large = call("zoom_in", uid=uid, x=0, y=0, width=1500, height=2688)
    assert large.data["shown"]["height"] <= 2048
    for seen in (small, large):
        ((width, height),) = sizes_of(seen)
        assert seen.data["shown"] == {"width": width, "height": height}
        assert multiples([(width, height)], rule)
    kept = album.library.crop(small.data["uid"])
    with Image.open(kept.path) as picture:
        assert picture.size == (448, 336)  # of no family, so that any may look at it


def test_fetching_tells_how_to_get_back_to_the_original(
    call: Call, context: ToolContext, album: Album
) -> None:
    context.viewing = Viewing(QWEN3)
    seen = call("fetch_image", uid=album.uid("pi_ultrahdr.jpg"))  # 1512 x 2688
    assert seen.data["shown"] == {"width": 576, "height": 1024}
    seen = call("fetch_image", uid=album.uid("cat.jpg"))
    original, shown, scale = (seen.data[key] for key in ("original", "shown", "scale"))
    assert sizes_of(seen) == [(shown["width"], shown["height"])]
    assert shown["width"] * scale["x"] == pytest.approx(original["width"], abs=1)
    assert shown["height"] * scale["y"] == pytest.approx(original["height"], abs=1)
    context.viewing = Viewing(QWEN3, tokens=300)
    assert cost(call("fetch_image", uid=album.uid("cat.jpg"), detail="high"), QWEN3) <= 300


@pytest.mark.parametrize("rule", RULES)
def test_a_model_gets_what_was_counted(
    rule: PictureRule, call: Call, context: ToolContext, album: Album
) -> None:
    uids = sorted(set(album.uids.values()))[:20]
    context.viewing = Viewing(rule, most=20, count=len)
    few = call("view_photos", photos=uids[:3])
    assert [uid for uid, _ in few.images] == uids[:3]
    assert few.data["detail"] == "large"
    assert set(few.data["labels"]) == set(uids[:3])
    many = call("view_photos", photos=uids, detail="small")
    assert many.data["photos"] == uids
    sizes = [(288, 216)] * 20
    assert many.data["layout"] == context.viewing.showing(sizes, [""] * 20, "small").kind
    for seen in (few, many):
        assert seen.data["layout"] == "sheet" or multiples(sizes_of(seen), rule)


def test_what_finds_no_room_is_named(call: Call, context: ToolContext, album: Album) -> None:
    uids = sorted(set(album.uids.values()))[:20]
    context.viewing = Viewing(QWEN3, most=4, tokens=600)
    seen = call("view_photos", photos=uids)
    assert cost(seen, QWEN3) <= 600
    shown, left = seen.data["photos"], seen.data["not_shown"]
    assert shown == uids[: len(shown)]
    assert sorted([*shown, *left]) == uids
    assert all("no room" in reason for reason in left.values())
    separate = call("view_photos", photos=uids[:6], layout="separate")
    assert len(separate.images) <= 4
    assert len(separate.images) + len(separate.data["not_shown"]) == 6


def test_a_limit_that_a_server_tells_in_between_holds_for_the_next_call(
    call: Call, context: ToolContext, album: Album
) -> None:
    pictures = SimpleNamespace(rule=QWEN3, most=0)
    brain = SimpleNamespace(pictures=pictures, max_pictures=12, counter=None, window=100_000)
    context.viewing = viewing_of(cast(Brain, brain), num_own=2)
    uids = sorted(set(album.uids.values()))[:12]
    assert len(call("view_photos", photos=uids, layout="separate").images) == 10
    pictures.most = 5  # refused: "At most 5 image(s) …"
    seen = call("view_photos", photos=uids, layout="separate")
    assert len(seen.images) == 3
    assert len(seen.data["not_shown"]) == 9


def test_several_sheets_say_what_each_holds(call: Call, context: ToolContext, album: Album) -> None:
    uids = sorted(set(album.uids.values()))[:20]
    context.viewing = Viewing(QWEN3.at_most(1024), most=8)
    seen = call("view_photos", photos=uids, layout="sheet")
    sheets = seen.data["sheets"]
    assert len(sheets) == len(seen.images) > 1
    assert [uid for sheet in sheets for uid in sheet] == uids
    assert seen.images[0][0] == f"sheet 1 of {len(sheets)}"


# -- odd pictures ---------------------------------------------------------------------------------

SHOWN = {
    "size_1x1.png": (1, 1),
    "size_1x300.png": (1, 300),
    "size_500x19.png": (500, 19),
    "rgba_clear.png": (16, 16),
    "pal_bytes_transp.png": (8, 8),
    "gray16.png": (256, 16),
    "cmyk_red.jpg": (16, 16),
    "two.mpo.jpg": (64, 48),
    "orient_6.jpg": (48, 64),
    "orient6.webp": (48, 64),
    "trunc_half.jpg": (640, 480),
    "mid_12000x8000.png": (12000, 8000),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_odd_picture_is_shown_upright_in_a_size_of_the_family(
    name: str, shared: Path, call: Call, context: ToolContext
) -> None:
    context.pictures = {"q1": bytes(shared / "data/odd" / name)}
    context.viewing = Viewing(QWEN3, most=8, tokens=4000)
    if name.startswith("mid_"):
        calls = [call("view_photos", photos=["q1"])]
    else:
        calls = [call("view_photos", photos=["q1"]), call("fetch_image", uid="q1")]
        width, height = SHOWN[name]
        calls.append(call("zoom_in", uid="q1", x=0, y=0, width=width, height=height))
        assert calls[1].data["original"] == {"width": width, "height": height}
        beyond = call("zoom_in", uid="q1", x=0, y=0, width=width + 1, height=height)
        assert f"{width} pixels wide and {height} pixels high" in beyond.error
    for seen in calls:
        ((width, height),) = sizes_of(seen)
        assert min(width, height) >= QWEN3.factor
        assert multiples([(width, height)], QWEN3)
        assert cost(seen, QWEN3) <= 4000


def png_that_says(path: Path, width: int, height: int) -> bytes:
    """A header alone; nothing of that size is behind it."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)
    return bytes(path)


def written(path: Path, width: int, height: int) -> bytes:
    Image.new("RGB", (width, height), "red").save(path)
    return bytes(path)


def test_pictures_beyond_every_limit_are_shown_or_refused_with_the_reason(
    tmp_path: Path, call: Call, context: ToolContext, album: Album, shared: Path
) -> None:
    context.pictures = {
        "q1": written(tmp_path / "long.png", 30_000, 40),
        "q2": written(tmp_path / "strip.png", 5_000, 1),
        "q3": png_that_says(tmp_path / "huge.png", 20_000, 20_000),
        "q4": bytes(shared / "data/odd/gif_offset.gif"),
        "q5": bytes(shared / "data/odd/zero.jpg"),
    }
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:], duration=99)
    context.pictures |= {"q6": bytes(tmp_path / "moving.gif")}
    context.viewing = Viewing(QWEN2_5, most=8, tokens=3000)
    seen = call("view_photos", photos=[*context.pictures, album.uid("cat.jpg")])
    assert seen.data["photos"] == ["q1", "q2", "q6", album.uid("cat.jpg")]
    assert "20000x20000" in seen.data["not_shown"]["q3"]
    assert set(seen.data["not_shown"]) == {"q3", "q4", "q5"}
    for width, height in sizes_of(seen):
        assert max(width, height) <= MAX_ASPECT * min(width, height)
    first = np.asarray(Image.open(io.BytesIO(seen.images[2][1])).convert("RGB"), float)
    assert first[..., 0].mean() > 200  # the first frame
    whole = call("zoom_in", uid="q2", x=0, y=0, width=5_000, height=1)
    assert whole.data["box"]["width"] == 5_000
    error = call("fetch_image", uid="q3").error
    assert "20000x20000" in error
    assert "max_pixels" in error
