"""The converted classifier equals the original PyTorch one on real photos.

Needs torch and the published model code, which the ``cpu`` extra never holds: an environment
with the ``torch-parity`` extra runs this (scripts/test --torch); elsewhere it skips loudly.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.artefacts import POOLING
from photocraft_local.embeddings.labels.efficientnet import LITE2, build_model
from photocraft_local.embeddings.labels.torch_file import read_state_dict
from photocraft_local.embeddings.onnx_session import open_session
from photocraft_local.files.decode import decode_upright

_WHY = "TORCH ABSENT: parity with the original classifier is not tested here (scripts/test --torch)"
if "PHOTOCRAFT_TEST_TORCH" in os.environ:  # scripts/test --torch: absence is a failure there
    import efficientnet_lite_pytorch as lite
    import torch
else:
    torch = pytest.importorskip("torch", reason=_WHY)
    lite = pytest.importorskip("efficientnet_lite_pytorch", reason=_WHY)

PHOTOS = 12


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> object:
    path = tmp_path_factory.mktemp("parity") / "classifier.onnx"
    weights = read_state_dict(sources.CLASSIFIER.checked())
    path.write_bytes(build_model(LITE2, weights, POOLING))
    return open_session(path)


@pytest.fixture(scope="module")
def original() -> object:
    path = str(sources.CLASSIFIER.checked())
    model = lite.EfficientNet.from_pretrained("efficientnet-lite2", weights_path=path)
    return model.eval()  # set_swish() is never called: the lite weights want ReLU6


def pictures(shared: Path, side: int) -> np.ndarray:
    """(PHOTOS, side, side, 3) of the captioned set."""
    files = sorted((shared / "data/captioned/coco").glob("*.jpg"))[:: 168 // PHOTOS][:PHOTOS]
    decoded = [decode_upright(os.fsencode(file)).pixels for file in files]
    squares = [Image.fromarray(p).resize((side, side), Image.Resampling.BICUBIC) for p in decoded]
    return np.stack([np.asarray(square) for square in squares])


def test_the_reader_gives_the_tensors_that_torch_gives() -> None:
    path = sources.CLASSIFIER.checked()
    mine = read_state_dict(path)
    theirs = torch.load(path, map_location="cpu", weights_only=True)
    assert list(mine) == list(theirs)
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(mine[name], tensor.numpy(), err_msg=name)


def test_a_file_that_torch_writes_now_is_read_too(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    wide = torch.from_numpy(generator.normal(size=(6, 5)).astype(np.float32))
    tensors = {"wide": wide, "turned": wide.T, "row": wide[2], "count": torch.tensor(7)}
    tensors["half"] = wide.half()
    for old in (False, True):
        path = tmp_path / f"old-{old}.pth"
        torch.save(tensors, path, _use_new_zipfile_serialization=not old)
        read = read_state_dict(path)
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(read[name], tensor.numpy(), err_msg=name)


def test_features_and_classes_equal_the_original_on_real_photos(
    session: object, original: object, shared: Path
) -> None:
    batch = pictures(shared, LITE2.side)
    (cells,) = session.run(["map"], {"pixels": batch})
    tensor = torch.from_numpy((batch.astype(np.float32) - 127) / 128).permute(0, 3, 1, 2)
    with torch.no_grad():
        expected = original.extract_features(tensor).numpy()
        logits = original(tensor).numpy()
    weights = read_state_dict(sources.CLASSIFIER.checked())
    mine = cells.mean(axis=(2, 3)) @ weights["_fc.weight"].T + weights["_fc.bias"]
    np.testing.assert_allclose(cells, expected, atol=2e-4)
    np.testing.assert_allclose(mine, logits, atol=1e-3)
    assert (mine.argmax(axis=1) == logits.argmax(axis=1)).all()


def test_the_classes_are_what_the_photos_show(
    session: object, original: object, shared: Path
) -> None:
    names = json.loads(sources.CLASS_NAMES.checked().read_bytes())
    pixels = decode_upright(os.fsencode(shared / "data/captioned/coco/000000000285.jpg")).pixels
    picture = np.asarray(Image.fromarray(pixels).resize((260, 260), Image.Resampling.BICUBIC))
    tensor = torch.from_numpy((picture[None].astype(np.float32) - 127) / 128).permute(0, 3, 1, 2)
    with torch.no_grad():
        theirs = int(original(tensor).numpy().argmax())
    assert "bear" in names[theirs]
