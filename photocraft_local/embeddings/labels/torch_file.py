"""Reads the tensors of a ``torch.save`` file without torch, and without running anything in it.

Owns both container formats (the legacy stream and the zip archive). The pickle inside may name
only the few classes that a plain state dict needs; anything else is refused. Knows no model.
"""

from __future__ import annotations

import io
import math
import pickle  # only behind the allow-list below
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import EncoderError

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_DTYPES: dict[str, np.dtype[Any]] = {
    "DoubleStorage": np.dtype("<f8"),
    "FloatStorage": np.dtype("<f4"),
    "HalfStorage": np.dtype("<f2"),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
    "ShortStorage": np.dtype("<i2"),
    "CharStorage": np.dtype("i1"),
    "ByteStorage": np.dtype("u1"),
    "BoolStorage": np.dtype("?"),
}


@dataclass(frozen=True)
class _StorageKind:
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _View:
    """A tensor before its storage was read: where it lies in which storage (elements)."""

    key: str
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> _View:
    key, dtype = storage
    return _View(key, dtype, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _parameter(view: Any, *_: Any) -> _View:
    if not isinstance(view, _View):
        raise pickle.UnpicklingError("a parameter that is no tensor")
    return view


_ALLOWED: Mapping[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    **{("torch", name): _StorageKind(dtype) for name, dtype in _DTYPES.items()},
}


class _StateDictUnpickler(pickle._Unpickler):
    """Allow-list only: a global that is not a state dict's is an error, never an import.

    The Python implementation: the C one lets a damaged memo index of four bytes claim 64 GB.
    """

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module}.{name}") from None

    def persistent_load(self, saved_id: Any) -> tuple[str, np.dtype[Any]]:
        kind, storage, key = saved_id[:3]
        if kind != "storage" or not isinstance(storage, _StorageKind):
            raise pickle.UnpicklingError("an unknown kind of storage")
        return str(key), storage.dtype


def read_state_dict(path: Path) -> dict[str, NDArray[Any]]:
    """Name → array of every tensor in a saved state dict, in file order.

    Raises:
        EncoderError: the file is absent, damaged, or holds more than plain tensors.
    """
    hint = "reinstall the package that ships it, or place the file anew"
    try:
        # In memory, a damaged length can ask for no more than the file has.
        stream = io.BytesIO(path.read_bytes())
        if zipfile.is_zipfile(stream):
            return _read_zip(stream)
        stream.seek(0)
        return _read_legacy(stream)
    except FileNotFoundError as exc:
        raise EncoderError(f"weights file {path} does not exist", hint=hint) from exc
    except Exception as exc:  # damaged bytes make zipfile and pickle raise almost anything
        raise EncoderError(f"weights file {path} is no plain state dict: {exc}", hint=hint) from exc


def _load(stream: BinaryIO) -> Any:
    return _StateDictUnpickler(stream, encoding="utf-8").load()


def _read_legacy(stream: BinaryIO) -> dict[str, NDArray[Any]]:
    if _load(stream) != _LEGACY_MAGIC:
        raise ValueError("neither a zip archive nor torch's older format")
    _load(stream)  # protocol version
    if _load(stream).get("little_endian") is not True:
        raise ValueError("it was written on a big-endian machine")
    views = _checked(_load(stream))
    dtypes = {view.key: view.dtype for view in views.values()}
    storages = {}
    for key in _load(stream):
        count = int.from_bytes(_exactly(stream, 8), "little")
        dtype = dtypes[key]
        storages[key] = np.frombuffer(_exactly(stream, count * dtype.itemsize), dtype)
    return _arrays(views, storages)


def _read_zip(stream: BinaryIO) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(stream) as archive:
        record = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
        if record is None:
            raise ValueError("the archive has no data.pkl")
        folder = record.removesuffix("data.pkl")
        order = folder + "byteorder"
        if order in archive.namelist() and archive.read(order) != b"little":
            raise ValueError("it was written on a big-endian machine")
        views = _checked(_load(io.BytesIO(archive.read(record))))
        dtypes = {view.key: view.dtype for view in views.values()}
        storages = {
            key: np.frombuffer(archive.read(f"{folder}data/{key}"), dtype)
            for key, dtype in dtypes.items()
        }
    return _arrays(views, storages)


def _checked(loaded: Any) -> dict[str, _View]:
    if not isinstance(loaded, dict) or not loaded:
        raise ValueError("it holds no state dict")
    for name, view in loaded.items():
        if not isinstance(name, str) or not isinstance(view, _View):
            raise ValueError(f"entry {name!r} is no tensor")
    return dict(loaded)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError("it is cut short")
    return data


def _arrays(
    views: Mapping[str, _View], storages: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    return {name: _array(view, storages[view.key]) for name, view in views.items()}


def _array(view: _View, storage: NDArray[Any]) -> NDArray[Any]:
    """The view's elements, bounds checked: strides come from the file."""
    if min((view.offset, *view.shape, *view.strides)) < 0:
        raise ValueError("a tensor with negative bounds")
    steps = zip(view.shape, view.strides, strict=True)
    last = view.offset + sum((size - 1) * stride for size, stride in steps)
    if 0 not in view.shape and last >= storage.size:
        raise ValueError("a tensor reaches past its storage")
    if math.prod(view.shape) > storage.size:
        raise ValueError("a tensor larger than its storage")
    strides = tuple(stride * storage.itemsize for stride in view.strides)
    window = np.lib.stride_tricks.as_strided(
        storage[view.offset :], shape=view.shape, strides=strides, writeable=False
    )
    return np.ascontiguousarray(window).reshape(view.shape)
