"""Headers of safetensors files: whole files are read, anything else is a fault, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.storage.safetensors import Tensor, TensorFault, count, read_tensors


def written(path: Path, header: object, data: int) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(data))
    return path


def entry(first: int, last: int, kind: str = "F32", shape: tuple[int, ...] = (1,)) -> object:
    return {"dtype": kind, "shape": shape, "data_offsets": [first, last]}


def test_tensors_come_with_shape_and_bytes_and_are_counted(tmp_path: Path) -> None:
    header = {"__metadata__": {"format": "pt"}, "x": entry(0, 60, shape=(3, 5))}
    found = read_tensors(written(tmp_path / "a", header | {"y": entry(60, 61, "U8", ())}, 61))
    assert found == [Tensor("x", "F32", (3, 5), 60), Tensor("y", "U8", (), 1)]
    assert count(found) == 16


HEADERS: dict[str, tuple[object, int, str, str]] = {
    "cut": ({"x": entry(0, 60)}, 59, "truncated", "bytes of at least"),
    "too long": ({"x": entry(0, 60)}, 61, "damaged", "its header states"),
    "no offsets": ({"x": {"shape": [], "dtype": "U8"}}, 0, "damaged", "data_offsets"),
    "offsets are words": ({"x": entry("a", "b")}, 0, "damaged", "is no size"),  # type: ignore[arg-type]
    "backwards": ({"x": entry(8, 4)}, 8, "damaged", "ends before it begins"),
    "negative": ({"x": entry(-8, 4)}, 4, "damaged", "-8 is no size"),
    "a list": ([], 0, "damaged", "none of a safetensors file"),
    "deep": (b"[" * 99_999, 0, "damaged", "none of a safetensors file"),
    "no utf-8": (b"\xff\xfe{}", 0, "damaged", "none of a safetensors file"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_each_wrong_header_has_its_kind(tmp_path: Path, name: str) -> None:
    header, data, kind, said = HEADERS[name]
    found = read_tensors(written(tmp_path / "a", header, data))
    assert isinstance(found, TensorFault)
    assert (found.kind, said in found.detail) == (kind, True), found
    assert "\n" not in found.detail


def test_what_is_no_file_is_a_fault_too(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "gone", "missing"), (tmp_path, "unreadable")):
        found = read_tensors(path)
        assert isinstance(found, TensorFault)
        assert found.kind == kind


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(tmp_path_factory: Any, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.safetensors"
    for content in (data, len(data).to_bytes(8, "little") + data):
        path.write_bytes(content)
        found = read_tensors(path)
        assert isinstance(found, TensorFault) or found == []
