"""Safetensors files by their headers: which tensors, how many bytes, and is the file whole.

The header states where each tensor lies, so the exact length of the file is known without
reading the weights. Knows no model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError

_LONGEST_HEADER = 100_000_000  # bytes; the format's own limit
_POINTER = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class Tensor:
    """``size``: bytes in the file; ``kind``: the format's name of the number type (``BF16``)."""

    name: str
    kind: str
    shape: tuple[int, ...]
    size: int


def read_tensors(path: Path, row: str) -> list[Tensor]:
    """The tensors of a whole file.

    Raises ModelError if it is missing, truncated, longer than stated, or no safetensors file;
    ``row`` is what the hint calls its source.
    """
    again = f"copy {path.name} again, weights.md, {row}; photocraft weights verify checks them all"
    try:
        with path.open("rb") as file:
            head = file.read(8)
            if head == _POINTER[:8]:
                raise ModelError(
                    f"{path} is a Git LFS pointer, the weights themselves were never fetched",
                    hint="on the connected machine run: git lfs pull; then copy the folder again",
                )
            length = int.from_bytes(head, "little")
            if len(head) < 8 or length > _LONGEST_HEADER:
                raise ModelError(f"{path} is no safetensors file", hint=again)
            header = file.read(length)
            real = file.seek(0, 2)
    except FileNotFoundError as exc:
        raise ModelError(f"the weights file {path} is missing", hint=again) from exc
    except OSError as exc:
        raise ModelError(f"{path} cannot be read: {exc.strerror}", hint="check its mode") from exc
    if len(header) < length:
        raise _truncated(path, real, 8 + length, again)
    tensors, stated = _parsed(path, header, again)
    if real < stated + 8 + length:
        raise _truncated(path, real, stated + 8 + length, again)
    if real > stated + 8 + length:
        raise ModelError(
            f"{path} has {real:,} bytes, its header states {stated + 8 + length:,}", hint=again
        )
    return tensors


def _truncated(path: Path, real: int, stated: int, hint: str) -> ModelError:
    return ModelError(
        f"{path} is truncated: {real:,} bytes of at least {stated:,} are there", hint=hint
    )


def _parsed(path: Path, header: bytes, hint: str) -> tuple[list[Tensor], int]:
    """The tensors, and how many bytes of data the header states."""
    try:
        entries = json.loads(header)
        tensors, end = [], 0
        for name, entry in _entries(entries):
            first, last = (_whole(number) for number in entry["data_offsets"])
            shape = tuple(_whole(side) for side in entry["shape"])
            if last < first:
                raise ValueError(f"{name} ends before it begins")
            tensors.append(Tensor(name, str(entry["dtype"]), shape, last - first))
            end = max(end, last)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ModelError(f"the header of {path} is damaged: {exc!r}", hint=hint) from exc
    return tensors, end


def _entries(header: Any) -> Iterator[tuple[str, Any]]:
    return ((name, entry) for name, entry in header.items() if name != "__metadata__")


def _whole(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is no size")
    return number


def count(tensors: list[Tensor]) -> int:
    """Parameters in all."""
    return sum(math.prod(tensor.shape) for tensor in tensors)
