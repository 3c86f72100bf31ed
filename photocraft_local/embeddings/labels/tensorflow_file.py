"""Reads the float tensors of a frozen TensorFlow graph without TensorFlow.

A frozen graph is one protocol-buffer message; its constants are the weights. Only the fields
that hold them are looked at and nothing of the graph is run. Knows no model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import EncoderError

Singles = NDArray[np.float32]

# Field numbers of GraphDef, NodeDef, its attribute map, AttrValue, TensorProto and its shape.
_NODE = 1
_NAME, _KIND, _ATTRIBUTE = 1, 2, 5
_KEY, _VALUE = 1, 2
_TENSOR = 8
_TYPE, _SHAPE, _CONTENT, _FLOATS = 1, 2, 4, 5
_DIMENSION, _SIZE = 2, 1
_FLOAT32 = 1
_MOST_REPEATED = 1 << 24


def read_constants(path: Path) -> dict[str, Singles]:
    """Every float32 constant of the graph by its node's name.

    Raises:
        EncoderError: the file is missing, is not a frozen graph, or is cut short.
    """
    if not path.is_file():
        raise EncoderError(f"{path} does not exist", hint="reinstall the package that ships it")
    try:
        graph = memoryview(path.read_bytes())
        nodes = (list(_messages(value)) for number, value in _messages(graph) if number == _NODE)
        return dict(constant for node in nodes for constant in _constants(node))
    except (ValueError, IndexError, UnicodeDecodeError) as exc:
        raise EncoderError(
            f"{path} is not a frozen TensorFlow graph: {exc}",
            hint="reinstall the package that ships it",
        ) from exc


Field = tuple[int, memoryview]


def _constants(node: list[Field]) -> Iterator[tuple[str, Singles]]:
    fields = dict(node)
    if bytes(fields.get(_KIND, b"")) != b"Const":
        return
    for number, value in node:
        if number != _ATTRIBUTE:
            continue
        entry = dict(_messages(value))
        if bytes(entry.get(_KEY, b"")) == b"value":
            tensor = _tensor(dict(_messages(entry[_VALUE])).get(_TENSOR, memoryview(b"")))
            if tensor is not None:
                yield str(fields[_NAME], "utf-8"), tensor


def _tensor(message: memoryview) -> Singles | None:
    """The array, or None where it does not hold float32."""
    fields = list(_messages(message))
    found = dict(fields)
    if _number(found.get(_TYPE)) != _FLOAT32:
        return None
    sizes = [value for number, value in _messages(found.get(_SHAPE, memoryview(b"")))
             if number == _DIMENSION]  # fmt: skip
    shape = [_number(dict(_messages(size)).get(_SIZE)) for size in sizes]
    content = b"".join(value for number, value in fields if number in (_CONTENT, _FLOATS))
    values = np.frombuffer(content, "<f4")
    if len(values) == 1 and shape:  # one value stands for all
        if math.prod(shape) > _MOST_REPEATED:
            raise ValueError(f"one number for a tensor of the shape {shape}")
        values = np.full(shape, values[0])
    return values.reshape(shape).astype(np.float32)


def _messages(message: memoryview) -> Iterator[Field]:
    """(field number, bytes) one by one; a plain number comes as its eight bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, memoryview(value.to_bytes(8, "little"))
            continue
        if wire == 2:
            length, at = _varint(message, at)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if at + length > len(message):
            raise ValueError("it is cut short")
        yield number, message[at : at + length]
        at += length


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & (2**64 - 1), at
        if shift > 63:
            raise ValueError("a number is too long")


def _number(value: memoryview | None) -> int:
    return 0 if value is None else int.from_bytes(value, "little")
