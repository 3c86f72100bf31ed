"""Pictures as a served model gets them: exact sizes, names by content, the cheaper layout."""

from __future__ import annotations

import base64
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote_from_bytes

import numpy as np
import pytest
from PIL import Image

from photocraft_local.errors import PhotoError
from photocraft_local.imaging.contact_sheet import contact_sheet, sheet_size
from photocraft_local.serving.pictures import PictureStore, Prepared, cheapest
from photocraft_local.serving.tokens import PictureRule

QWEN2_5 = PictureRule(28, 4 * 28**2, 16384 * 28**2)
QWEN3 = PictureRule(32, 64 * 32**2, 16384 * 32**2)


def url_of(picture: Image.Image, kind: str = "PNG", **options: object) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    body = base64.b64encode(buffer.getvalue()).decode()
    return f"data:image/{kind.lower()};base64,{body}"


def opened(prepared: Prepared) -> Image.Image:
    return Image.open(io.BytesIO(prepared.data))


@pytest.fixture
def photo(shared: Path) -> Path:
    return sorted((shared / "data/captioned/coco").glob("*.jpg"))[0]


def test_a_photo_is_sent_in_exactly_the_size_that_its_tokens_say(photo: Path) -> None:
    for rule in (QWEN2_5, QWEN3, QWEN3.at_most(300)):
        made = PictureStore(rule).prepared(f"file://{quote_from_bytes(bytes(photo))}")
        assert opened(made).size == (made.width, made.height)
        assert made.width * made.height == made.tokens * rule.factor**2
        with Image.open(photo) as original:
            assert rule.tokens(*original.size) == made.tokens
            small = original.convert("RGB").resize((made.width, made.height))
        difference = np.asarray(small, float) - np.asarray(opened(made), float)
        assert np.abs(difference).mean() < 6


def test_a_picture_of_the_right_size_is_sent_as_it_came(photo: Path) -> None:
    with Image.open(photo) as original:
        fitting = original.convert("RGB").resize((448, 336))
    url = url_of(fitting, "JPEG", quality=90)
    made = PictureStore(QWEN2_5).prepared(url)
    assert made.url == url
    other = PictureStore(QWEN3).prepared(url)
    assert other.kind == "image/png"
    assert (other.width, other.height) == (448, 320)


def test_the_name_is_of_the_pixels_and_never_of_two_pictures() -> None:
    store = PictureStore(QWEN2_5)
    red, blue = (Image.new("RGB", (300, 200), colour) for colour in ("red", "blue"))
    names = [store.prepared(url_of(one)).uuid for one in (red, blue)]
    assert len(set(names)) == 2
    assert PictureStore(QWEN2_5).prepared(url_of(red)).uuid == names[0]
    assert store.prepared(url_of(red, compress_level=1)).uuid == names[0]
    assert PictureStore(QWEN3).prepared(url_of(red)).uuid != names[0]


def test_no_side_is_lost_and_a_strip_keeps_its_whole_length() -> None:
    for size in ((1, 1), (2, 900), (9000, 3), (40, 30)):
        made = PictureStore(QWEN3).prepared(url_of(Image.new("RGB", size, "red")))
        pixels = np.asarray(opened(made).convert("RGB"))
        assert min(made.width, made.height) >= 32
        assert max(made.width, made.height) <= 200 * min(made.width, made.height)
        red = (pixels[..., 0] > 200) & (pixels[..., 1] < 60)
        assert red.any(axis=0).mean() > 0.99 or red.any(axis=1).mean() > 0.99


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/p.png",
        "https://example.org/p.png",
        "data:text/plain;base64,aGk=",
        "data:image/png;base64,%%%",
        "data:image/png;base64,aGVsbG8=",
        "file:///no/such/file.jpg",
        "",
    ],
)
def test_what_is_no_picture_of_ours_is_refused_and_nothing_is_fetched(url: str) -> None:
    with pytest.raises(PhotoError):
        PictureStore(QWEN3).prepared(url)


def test_half_a_picture_is_refused_before_the_server_sees_it(photo: Path) -> None:
    with Image.open(photo) as original:
        url = url_of(original.convert("RGB").resize((448, 448)), "PNG")
    with pytest.raises(PhotoError):
        PictureStore(QWEN3).prepared(url[: len(url) // 8 * 4])


def test_many_threads_get_the_same_picture() -> None:
    url = url_of(Image.new("RGB", (500, 400), "green"))
    store = PictureStore(QWEN3)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(store.prepared, [url] * 16))
    assert len({one.uuid for one in made}) == 1


def test_the_store_lets_go_of_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("photocraft_local.serving.pictures._KEPT_BYTES", 1500)
    store = PictureStore(QWEN3)
    urls = [url_of(Image.new("RGB", (256, 256), (n, n, n))) for n in range(30)]
    first = store.prepared(urls[0])
    for url in urls:
        store.prepared(url)
    assert store.prepared(urls[-1]) is store.prepared(urls[-1])
    again = store.prepared(urls[0])
    assert again is not first
    assert again == first


@pytest.mark.parametrize("rule", [QWEN2_5, QWEN3])
@pytest.mark.parametrize("detail", [96, 224, 448])
@pytest.mark.parametrize("num", [1, 7, 20])
def test_the_cheaper_layout_is_chosen_and_costs_what_was_said(
    rule: PictureRule, detail: int, num: int
) -> None:
    sizes = [(4000, 3000), (3000, 4000)] * 10
    choice = cheapest(sizes[:num], detail, rule, ["p7k3mq"] * num, len)
    assert choice.tokens == min(choice.separate, choice.sheet)
    label_tokens = sum(len(f"{n}. p7k3mq:") for n in range(1, num + 1))
    shown = rule.tokens(detail, detail * 3 // 4) * num
    assert choice.separate == pytest.approx(shown + 2 * num + label_tokens, rel=0.1)


def test_small_pictures_of_qwen3_share_a_sheet_and_large_ones_do_not() -> None:
    sizes = [(4000, 3000)] * 20
    assert cheapest(sizes, 128, QWEN3).kind == "sheet"
    assert cheapest(sizes, 448, QWEN3).kind == "separate"
    assert cheapest(sizes, 128, QWEN2_5).kind == "separate"


def test_sheets_are_drawn_in_the_size_that_was_counted() -> None:
    items = [(np.full((300, 400, 3), 9 * n, np.uint8), f"p{n}") for n in range(7)]
    choice = cheapest([(400, 300)] * 7, 128, QWEN3)
    assert (choice.kind, choice.sheets) == ("sheet", 1)
    size = Image.open(io.BytesIO(contact_sheet(items, tile=128))).size
    assert size == sheet_size(7, tile=128)
    assert QWEN3.tokens(*size) + 2 == choice.sheet
    assert Image.open(io.BytesIO(contact_sheet(items, tile=64))).size == sheet_size(7, tile=64)


def test_a_sheet_that_would_be_reduced_is_split() -> None:
    tight = QWEN3.at_most(512)
    choice = cheapest([(4000, 3000)] * 40, 128, tight)
    assert choice.sheets > 1
    items = [(np.full((300, 400, 3), n, np.uint8), f"p{n}") for n in range(40)]
    step = -(-40 // choice.sheets)
    sheets = [contact_sheet(items[at : at + step], tile=128) for at in range(0, 40, step)]
    assert len(sheets) == choice.sheets
    sizes = [Image.open(io.BytesIO(sheet)).size for sheet in sheets]
    assert sum(tight.tokens(*size) + 2 for size in sizes) == choice.sheet


def test_what_a_server_was_sent_is_remembered_until_it_has_forgotten() -> None:
    store = PictureStore(QWEN3)
    store.sent(["a", "b"])
    assert store.known(["a", "c"]) == {"a"}
    store.forget(["a"])
    assert store.known(["a", "b"]) == {"b"}
