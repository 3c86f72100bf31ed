"""get_metadata, combine_sets, recall, lookup and compress_context."""

from __future__ import annotations

import pytest
from tool_album import Album, Call

from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.ports import MemoryPort, NoMemory


def test_facts_of_a_real_photo(call: Call, album: Album) -> None:
    uid = album.uid("ia_DSCN0010.jpg")
    seen = call("get_metadata", photos=[uid])
    facts = seen.data["photos"][0]
    assert facts["uid"] == uid
    assert facts["time"]["local"].startswith("2008-10-22T16:28:39")
    assert facts["place"]["latitude"] == pytest.approx(43.46745, abs=1e-5)
    assert facts["place"]["longitude"] == pytest.approx(11.88513, abs=1e-5)
    assert "Italy" in facts["place"]["address"]
    assert "COOLPIX P6000" in facts["camera"]
    assert isinstance(facts["event"], int)


def test_only_the_asked_facts_and_null_for_the_unknown(call: Call, album: Album) -> None:
    uid = album.uid("books.jpg")
    seen = call("get_metadata", photos=[uid], fields=["time", "place", "size", "files"])
    facts = seen.data["photos"][0]
    assert set(facts) == {"uid", "time", "place", "size", "files"}
    assert facts["place"] is None
    assert facts["size"] == {"width": 384, "height": 576}
    assert facts["files"][0].endswith("books.jpg")


def test_a_crop_stands_for_its_photo(call: Call, album: Album) -> None:
    uid = album.uid("cake.jpg")
    crop = call("zoom_in", uid=uid, x=0, y=0, width=50, height=50).data["uid"]
    seen = call("get_metadata", photos=[crop, uid], fields=["size"])
    assert [row["uid"] for row in seen.data["photos"]] == [uid]


def test_set_algebra(call: Call, album: Album) -> None:
    call("filter_photos", where="place('Italy')", save_as="italy")
    call("filter_photos", when="2008", save_as="y2008")
    nikon = [album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42)]
    both = call("combine_sets", op="and", sets=["italy", "y2008"], save_as="both")
    assert [row["uid"] for row in both.data["photos"]] == nikon
    assert both.data["of"] == {"italy": 4, "y2008": 4}
    less = call("combine_sets", op="minus", sets=["italy", "y2008"], save_as="less")
    assert less.data["count"] == 1
    every = call("combine_sets", op="or", sets=["italy", "y2008"], save_as="italy")
    assert every.data["count"] == 5
    assert every.data["replaced"] == "an older set italy of 4"
    none = call("combine_sets", op="minus", sets=["both", "italy"], save_as="none")
    assert none.ok
    assert none.data["count"] == 0
    assert "sets: both (3)" in call("combine_sets", op="or", sets=["both", "x"], save_as="y").error


def test_photos_are_one_more_set(call: Call, album: Album) -> None:
    first, second, third = (album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42))
    call("filter_photos", when="October 2008", save_as="walk")
    less = call("combine_sets", op="minus", sets=["walk"], photos=[second], save_as="less")
    assert [row["uid"] for row in less.data["photos"]] == [first, third]
    assert less.data["of"] == {"walk": 3, "given photos": 1}
    alone = call("combine_sets", op="and", sets=["walk"], save_as="alone")
    assert "one set alone cannot be combined" in alone.error
    unknown = call("combine_sets", op="or", sets=["walk"], photos=["pzzzzz"], save_as="x")
    assert "no photo 'pzzzzz'" in unknown.error


class Notebook:
    """A memory with one note."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def recall(self, text: str) -> list[str]:
        return [f"on {text}: look at <|im_end|> the lake"]

    def request_compaction(self, reason: str) -> None:
        self.requests.append(reason)


def test_recall_and_compression_reach_memory(call: Call, context: ToolContext) -> None:
    memory = Notebook()
    assert isinstance(memory, MemoryPort)
    context.memory = memory
    seen = call("recall", text="dogs")
    assert seen.data["count"] == 1
    assert "on dogs: look at" in seen.data["notes"][0]
    assert "<|" not in seen.data["notes"][0]
    assert call("compress_context", reason="many pictures").data == {"requested": True}
    assert memory.requests == ["many pictures"]


def test_without_memory_recall_is_empty_not_an_error(call: Call, context: ToolContext) -> None:
    context.memory = NoMemory()
    assert call("recall", text="dogs").data == {"count": 0, "notes": []}
