"""The object detector: its weights' file, its graph, and what it sees on real photos."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.detector import build_detector
from photocraft_local.embeddings.labels.encoder import LabelEncoder
from photocraft_local.embeddings.labels.function_words import SILENT_WORDS
from photocraft_local.embeddings.labels.objects import ThingReader, class_numbers
from photocraft_local.embeddings.labels.tensorflow_file import read_constants
from photocraft_local.errors import EncoderError
from photocraft_local.files.decode import decode_upright


def varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def constant(name: str, shape: tuple[int, ...], content: bytes, *, kind: int = 1) -> bytes:
    sizes = b"".join(field(2, field(1, size)) for size in shape)
    tensor = field(1, kind) + field(2, sizes) + field(4, content)
    attribute = field(1, b"value") + field(2, field(8, tensor))
    return field(1, field(1, name.encode()) + field(2, b"Const") + field(5, attribute))


def graph_file(folder: Path, content: bytes) -> Path:
    path = folder / "graph.pb"
    path.write_bytes(content)
    return path


def test_constants_are_read_and_the_rest_is_passed_over(tmp_path: Path) -> None:
    values = np.arange(6, dtype="<f4")
    other = field(1, field(1, b"image") + field(2, b"Placeholder"))
    graph = (
        other
        + constant("weights", (2, 3), values.tobytes())
        + constant("one for all", (4,), np.float32(0.5).tobytes())
        + constant("whole numbers", (1,), b"\x01\0\0\0", kind=3)
    )
    found = read_constants(graph_file(tmp_path, graph))
    assert list(found) == ["weights", "one for all"]
    np.testing.assert_array_equal(found["weights"], values.reshape(2, 3))
    np.testing.assert_array_equal(found["one for all"], [0.5] * 4)


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    whole = constant("weights", (2,), b"\0" * 8)
    bad = [
        whole[:-3],
        b"\xff" * 40,
        constant("weights", (3,), b"\0" * 8),
        constant("weights", (1 << 20, 1 << 20), b"\0" * 4),  # 4 TB of one number
    ]
    for content in bad:
        with pytest.raises(EncoderError, match="not a frozen TensorFlow graph"):
            read_constants(graph_file(tmp_path, content))
    with pytest.raises(EncoderError, match="does not exist"):
        read_constants(tmp_path / "absent.pb")


def test_weights_of_another_network_are_refused() -> None:
    with pytest.raises(EncoderError, match="not those of SSD"):
        build_detector({"fc": np.zeros((2, 2), np.float32)}, [1])


def test_the_packaged_detector_is_read_whole() -> None:
    weights = read_constants(sources.DETECTOR.checked())
    assert weights["BoxPredictor_1/ClassPredictor/weights"].shape == (3, 3, 1280, 546)
    assert all(np.isfinite(array).all() for array in weights.values())


def test_it_sees_what_is_plainly_there(shared: Path, shared_cache: Path) -> None:
    """Photos with few labels, so that the largest thing is sure to be one of them."""
    encoder = LabelEncoder(shared_cache)
    folder = shared / "data/captioned"
    with (folder / "captions.csv").open(encoding="utf-8", newline="") as rows:
        photos = [row for row in csv.DictReader(rows) if row["labels_complete"] == "1"]
    single = [row for row in photos if "|" not in row["labels"] and row["labels"]][:16]
    right = 0
    for row in single:
        path = os.fsencode(folder / row["file"])
        pixels = decode_upright(path, short_side=encoder.spec.decode_side).pixels
        logits = encoder.measure([pixels]).objects[0]
        (thing,) = ThingReader(SILENT_WORDS).read(row["labels"]).named
        right += int(logits.argmax()) in thing.rows
    assert right >= 0.8 * len(single)


def test_there_is_a_word_for_each_of_the_80_things() -> None:
    assert len(class_numbers()) == 80
    assert class_numbers()[0] == 1
    assert class_numbers()[-1] == 90


@pytest.mark.parametrize(
    ("english", "named", "alone"),
    [
        ("dog", [18], True),
        ("all the dogs", [18], True),
        ("buses", [6], True),
        ("knives and forks", [49, 48], True),
        ("people", [1], True),
        ("skis", [35], True),
        ("wine glasses", [46], True),
        ("teddy bears", [88], True),
        ("traffic lights", [10], True),
        ("cutlery", [(48, 49, 50)], True),
        ("two big dogs", [18], True),  # it can neither count nor measure
        ("a red bus", [6], False),
        ("a kitten", [17], False),  # a kind of cat: the words decide too
        ("a dog on the beach", [18, "seashore"], False),
        ("a man with an umbrella", [1, 28], False),
        ("bus stop", [], False),
        ("hot dog", [58], True),
        ("gorilla", ["gorilla"], True),
        ("koalas", ["koala"], True),
        ("Tree Frogs", ["tree frog"], True),
        ("sea lions", ["sea lion"], True),
        ("a poodle", ["poodle"], True),
        ("a lion and a tiger", ["lion", "tiger"], True),
        ("sunset over the sea", [], False),
        ("", [], False),
    ],
)
def test_words_name_things(english: str, named: list[object], alone: bool) -> None:
    reader, numbers = ThingReader(SILENT_WORDS), class_numbers()
    found = reader.read(english)
    assert found.alone is alone
    assert len(found.named) == len(named)
    for thing, expected in zip(found.named, named, strict=True):
        if isinstance(expected, str):
            assert not thing.detected
            assert thing.rows == reader.read(expected).named[0].rows
        else:
            numbers_meant = expected if isinstance(expected, tuple) else (expected,)
            assert tuple(numbers[row] for row in thing.rows) == numbers_meant


def test_an_end_of_a_name_is_a_kind_only_where_it_is_one() -> None:
    reader = ThingReader(SILENT_WORDS)
    (lion,), (sea_lion,) = reader.read("lion").named, reader.read("sea lion").named
    (spider,), (web,) = reader.read("spider").named, reader.read("spider web").named
    assert not set(lion.rows) & set(sea_lion.rows)
    assert len(spider.rows) > 3
    assert not set(spider.rows) & set(web.rows)
