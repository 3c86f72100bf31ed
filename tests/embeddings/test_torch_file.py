"""State dicts are read without torch; nothing in a weights file is ever run."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.torch_file import read_state_dict
from photocraft_local.errors import EncoderError

STOP = b"."


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def named(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def items(*parts: bytes) -> bytes:
    return b"(" + b"".join(parts) + b"t"


def tensor(
    key: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *, count: int
) -> bytes:
    """Pickle opcodes of one tensor over a float32 storage of ``count`` elements."""
    storage = items(
        text("storage"), named("torch", "FloatStorage"), text(key), text("cpu"), number(count)
    )
    arguments = items(
        storage + b"Q",
        number(offset),
        items(*map(number, shape)),
        items(*map(number, strides)),
        b"\x89",
        b"}",
    )
    return named("torch._utils", "_rebuild_tensor_v2") + arguments + b"R"


def state_dict(**tensors: bytes) -> bytes:
    body = b"".join(text(name) + value + b"s" for name, value in tensors.items())
    return b"\x80\x02}" + body + STOP


def zip_file(pickled: bytes, **storages: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model/data.pkl", pickled)
        archive.writestr("model/byteorder", b"little")
        for key, array in storages.items():
            archive.writestr(f"model/data/{key}", array.astype("<f4").tobytes())
    return buffer.getvalue()


def legacy_file(pickled: bytes, **storages: np.ndarray) -> bytes:
    magic = b"\x80\x02\x8a\x0a" + (0x1950A86A20F9469CFC6C).to_bytes(10, "little") + STOP
    version = b"\x80\x02M" + (1001).to_bytes(2, "little") + STOP
    system = b"\x80\x02}" + text("little_endian") + b"\x88s" + STOP
    keys = b"\x80\x02](" + b"".join(map(text, storages)) + b"e" + STOP
    data = b"".join(
        struct.pack("<q", array.size) + array.astype("<f4").tobytes() for array in storages.values()
    )
    return magic + version + system + pickled + keys + data


PAIR = state_dict(
    whole=tensor("0", 0, (2, 3), (3, 1), count=8),
    turned=tensor("0", 2, (3, 2), (1, 3), count=8),
)
VALUES = np.arange(8, dtype=np.float32)


@pytest.mark.parametrize("container", [zip_file, legacy_file])
def test_both_containers_give_shapes_strides_and_offsets(container, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(container(PAIR, **{"0": VALUES}))
    weights = read_state_dict(path)
    assert list(weights) == ["whole", "turned"]
    np.testing.assert_array_equal(weights["whole"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(weights["turned"], [[2, 5], [3, 6], [4, 7]])


def test_the_packaged_classifier_is_read_whole() -> None:
    weights = read_state_dict(sources.CLASSIFIER.checked())
    assert len(weights) == 386
    assert weights["_fc.weight"].shape == (1000, 1280)
    assert weights["_conv_stem.weight"].dtype == np.float32
    assert all(np.isfinite(array).all() for array in weights.values())


def test_a_file_that_would_run_a_command_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    attack = named("os", "system") + items(text(f"touch {trace}")) + b"R"
    for container in (zip_file, legacy_file):
        path = tmp_path / "weights.pth"
        path.write_bytes(container(state_dict(weight=attack), **{"0": VALUES}))
        with pytest.raises(EncoderError, match=r"names os\.system"):
            read_state_dict(path)
    assert not trace.exists()


@pytest.mark.parametrize(
    "bad",
    [
        tensor("0", 0, (3, 3), (3, 1), count=8),  # one element past the end
        tensor("0", 0, (1_000_000, 1_000), (0, 0), count=8),  # 4 GB of one number
        tensor("0", -1, (2,), (1,), count=8),
        tensor("0", 4, (2,), (-4,), count=8),
        text("no tensor"),
    ],
)
def test_a_tensor_that_does_not_fit_its_storage_is_refused(bad: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(zip_file(state_dict(weight=bad), **{"0": VALUES}))
    with pytest.raises(EncoderError, match="no plain state dict"):
        read_state_dict(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"absent\.pth does not exist"):
        read_state_dict(tmp_path / "absent.pth")


@pytest.mark.parametrize("container", [zip_file, legacy_file])
def test_damage_anywhere_is_an_encoder_error_or_harmless(container, tmp_path: Path) -> None:
    good = container(PAIR, **{"0": VALUES})
    path = tmp_path / "weights.pth"
    generator = random.Random(7)
    refused = 0
    for turn in range(400):
        data = bytearray(good)
        if turn % 4 == 0:
            del data[generator.randrange(len(data)) :]
        else:
            data[generator.randrange(len(data))] = generator.randrange(256)
        path.write_bytes(bytes(data))
        try:
            read_state_dict(path)
        except EncoderError:
            refused += 1
    assert refused > 100
