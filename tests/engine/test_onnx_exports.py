"""CLIP, SigLIP and SigLIP 2 exported from transformers, run by onnxruntime: the same vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder

FAMILIES = ("clip", "siglip", "siglip2")
ALL = (*FAMILIES, "clip in one file", "siglip2 in one file")
# As each family's reference prepares a text: SigLIP takes punctuation out, all make it small.
TEXTS = {
    "a photo of two Dogs, on the beach!": "a photo of two dogs on the beach",
    "fetch_image zoom": "fetchimage zoom",
}


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Any]]:
    from tiny_checkpoint.dual import write

    made: dict[str, tuple[Path, Any]] = {}

    def get(name: str) -> tuple[Path, Any]:
        family, _, joint = name.partition(" ")
        if name not in made:
            folder = tmp_path_factory.mktemp("dual") / family
            made[name] = (folder, write(folder, family, joint=bool(joint)))
        return made[name]

    return get


def unit(features: Any) -> np.ndarray:
    rows = getattr(features, "pooler_output", features).detach().numpy()
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("family", ALL)
def test_photos_have_the_vectors_of_transformers(
    exported: Callable[[str], tuple[Path, Any]], photos: list[Image.Image], family: str
) -> None:
    from transformers import AutoImageProcessor

    folder, model = exported(family)
    processor = AutoImageProcessor.from_pretrained(folder, backend="pil")
    expected = unit(model.get_image_features(**processor(images=photos, return_tensors="pt")))
    encoder = OnnxDualEncoder(folder)
    vectors = encoder.encode_images([np.asarray(photo) for photo in photos])
    assert (vectors * expected).sum(axis=1).min() >= 0.9999
    assert (vectors @ expected.T - 2 * np.eye(len(vectors))).max() < 0.9999
    assert encoder.spec.dim == vectors.shape[1]
    alone = np.concatenate([encoder.encode_images([np.asarray(photo)]) for photo in photos])
    np.testing.assert_allclose(vectors, alone, atol=1e-5)


@pytest.mark.parametrize("family", ALL)
def test_words_have_the_vectors_of_transformers(
    exported: Callable[[str], tuple[Path, Any]], family: str
) -> None:
    from transformers import PreTrainedTokenizerFast

    folder, model = exported(family)
    family = folder.name
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    tokenizer.pad_token = {"clip": "<|endoftext|>", "siglip": "</s>", "siglip2": "<pad>"}[family]
    encoder = OnnxDualEncoder(folder)
    length = 77 if family == "clip" else 64
    for text, without_punctuation in TEXTS.items():
        asked = text if family != "siglip" else without_punctuation
        ids = tokenizer(
            asked, padding="max_length", max_length=length, return_tensors="pt"
        ).input_ids
        expected = unit(model.get_text_features(input_ids=ids))[0]
        assert encoder.encode_text(text).vector @ expected >= 0.9999


@pytest.mark.parametrize("family", FAMILIES)
def test_a_long_text_is_cut_and_still_has_its_end(
    exported: Callable[[str], tuple[Path, Any]], family: str
) -> None:
    encoder = OnnxDualEncoder(exported(family)[0])
    long = "dogs and cats " * 500
    assert np.linalg.norm(encoder.encode_text(long).vector) == pytest.approx(1, abs=1e-5)
    ids = encoder._tokenizer.encode(long).ids
    end = {"clip": "<|endoftext|>", "siglip": "</s>", "siglip2": "<eos>"}[family]
    assert len(ids) == (77 if family == "clip" else 64)
    assert ids[-1] == encoder._tokenizer.token_to_id(end)
