"""Safetensors files by their headers: which tensors, how many bytes, and is the file whole.

A file is a length (8 bytes), a JSON header of that length, then the tensors, whose places the
header states: so its exact size is known without reading the weights. Knows no model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

_LONGEST_HEADER = 100_000_000  # bytes; the format's own limit
_POINTER = b"version "  # how the small text begins that Git LFS leaves in place of a file


@dataclass(frozen=True, slots=True)
class Tensor:
    """``size``: bytes in the file; ``kind``: the format's name of the number type (``BF16``)."""

    name: str
    kind: str
    shape: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class TensorFault:
    """Why a file cannot be used, in words that follow its name and ``kind``."""

    kind: Literal["missing", "unreadable", "truncated", "damaged"]
    detail: str


def read_tensors(path: Path) -> list[Tensor] | TensorFault:
    """The tensors of a whole file, in the order of its header."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
            length = int.from_bytes(head, "little")
            header = file.read(length) if length <= _LONGEST_HEADER else b""
            real = file.seek(0, 2)
    except FileNotFoundError:
        return TensorFault("missing", "no such file")
    except OSError as exc:
        return TensorFault("unreadable", exc.strerror or str(exc))
    if head == _POINTER:
        return TensorFault("missing", "only a Git LFS pointer lies there, not the weights")
    if len(head) < 8:
        return _truncated(real, 8)
    if length > _LONGEST_HEADER:
        return TensorFault("damaged", "it is no safetensors file")
    if len(header) < length:
        return _truncated(real, 8 + length)
    try:
        tensors, stated = _parsed(header)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        return TensorFault("damaged", f"its header is none of a safetensors file ({exc!r:.200})")
    whole = 8 + length + stated
    if real < whole:
        return _truncated(real, whole)
    if real > whole:
        return TensorFault("damaged", f"it has {real:,} bytes, its header states {whole:,}")
    return tensors


def count(tensors: Iterable[Tensor]) -> int:
    """Parameters in all."""
    return sum(math.prod(tensor.shape) for tensor in tensors)


def _truncated(real: int, stated: int) -> TensorFault:
    return TensorFault("truncated", f"{real:,} bytes of at least {stated:,} are there")


def _parsed(header: bytes) -> tuple[list[Tensor], int]:
    """The tensors, and how many bytes of data the header states."""
    tensors, end = [], 0
    for name, entry in _entries(json.loads(header)):
        first, last = (_whole(number) for number in entry["data_offsets"])
        shape = tuple(_whole(side) for side in entry["shape"])
        if last < first:
            raise ValueError(f"{name} ends before it begins")
        tensors.append(Tensor(name, str(entry["dtype"]), shape, last - first))
        end = max(end, last)
    return tensors, end


def _entries(header: Any) -> Iterator[tuple[str, Any]]:
    return ((name, entry) for name, entry in header.items() if name != "__metadata__")


def _whole(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is no size")
    return number
