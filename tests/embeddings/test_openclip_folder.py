"""Folders as exporters of OpenCLIP write them, by tiny made ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from test_onnx_dual import BLUE, CLIP_RULES, DIM, GREEN, RED, clip_folder, plain, text_nodes
from tokenizers import Tokenizer

from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
from photocraft_local.embeddings.openclip_folder import PARTS
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.errors import EncoderError
from photocraft_local.settings import Settings

TOKENS = 6
RULES = {
    "size": [32, 32],
    "mode": "RGB",
    "mean": CLIP_RULES["image_mean"],
    "std": CLIP_RULES["image_std"],
    "interpolation": "bicubic",
    "resize_mode": "shortest",
    "fill_color": 0,
}
CONFIG = {"embed_dim": DIM, "text_cfg": {"context_length": TOKENS}}


def write(path: Path, nodes: list[Any], constants: list[Any], given: Any, made: str) -> None:
    made_of = helper.make_tensor_value_info(made, TensorProto.FLOAT, ["batch", DIM])
    graph = helper.make_graph(nodes, "tiny", [given], [made_of], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def openclip_folder(
    folder: Path, *, as_bytes: bool = False, outputs: tuple[str, str] = ("image_embedding", "text")
) -> Path:
    """The same towers as those of ``clip_folder``. Its texts have one length, in 32 bits."""
    source = clip_folder(folder / "source")
    image, text = outputs[0], outputs[1] + "_embedding" * (outputs[1] == "text")
    values = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 32, 32])
    nodes = [
        helper.make_node("GlobalAveragePool", ["pixels"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], [image]),
    ]
    before = [helper.make_node("Identity", ["image"], ["pixels"])]
    constants: list[Any] = []
    if as_bytes:  # newer exports normalise by themselves
        values = helper.make_tensor_value_info("image", TensorProto.UINT8, ["batch", 32, 32, 3])
        constants = [
            helper.make_tensor("scale", TensorProto.FLOAT, [1], [1 / 255 / 0.25]),
            helper.make_tensor("shift", TensorProto.FLOAT, [1], [0.5 / 0.25]),
        ]
        before = [
            helper.make_node("Cast", ["image"], ["numbers"], to=TensorProto.FLOAT),
            helper.make_node("Transpose", ["numbers"], ["planes"], perm=[0, 3, 1, 2]),
            helper.make_node("Mul", ["planes", "scale"], ["scaled"]),
            helper.make_node("Sub", ["scaled", "shift"], ["pixels"]),
        ]
    write(folder / PARTS["vision"], before + nodes, constants, values, image)
    towers, table = text_nodes(text)
    towers[0].input[1] = "text"
    ids = helper.make_tensor_value_info("text", TensorProto.INT32, ["batch", TOKENS])
    write(folder / PARTS["text"], towers, table, ids, text)
    (source / "tokenizer.json").rename(folder / PARTS["tokenizer"])
    (folder / "textual/tokenizer_config.json").write_text(json.dumps({"pad_token": "<pad>"}))
    (folder / PARTS["preprocessor"]).write_text(json.dumps(RULES))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


PICTURES = [plain(RED), plain(GREEN, 33, 70), plain(BLUE, 64, 64)]


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("outputs", [("image_embedding", "text"), ("embedding", "sentence")])
def test_it_is_an_encoder_whose_pictures_are_those_of_the_other_layout(
    tmp_path: Path, as_bytes: bool, outputs: tuple[str, str]
) -> None:
    folder = openclip_folder(tmp_path / "ViT tiny", as_bytes=as_bytes, outputs=outputs)
    encoder = make_encoder(Settings(encoder=str(folder)))
    photos = encoder.encode_images(PICTURES)
    expected = OnnxDualEncoder(clip_folder(tmp_path / "clip")).encode_images(PICTURES)
    np.testing.assert_allclose(photos, expected, atol=1e-6)
    for right, word in enumerate(("red", "green sky", "blue")):
        assert int((photos @ encoder.encode_text(word).vector).argmax()) == right
    assert encoder.spec.dim == DIM
    assert encoder.spec.encoder_id == "vit-tiny"


def test_texts_are_padded_cut_and_cleaned_as_the_folder_says(tmp_path: Path) -> None:
    folder = openclip_folder(tmp_path / "pair")
    encoder = OnnxDualEncoder(folder)
    assert len(encoder._tokenizer.encode("red").ids) == TOKENS
    assert encoder._tokenizer.encode("red sky").ids == [1, 4, 0, 0, 0, 0]
    assert len(encoder._tokenizer.encode("red " * 99).ids) == TOKENS
    assert encoder._asked("Red, sky!") == "Red, sky!"
    assert encoder.calibration.mean > 0
    assert not encoder._is_siglip
    text = CONFIG["text_cfg"] | {"tokenizer_kwargs": {"clean": "canonicalize"}}  # type: ignore[operator]
    (folder / "config.json").write_text(json.dumps(CONFIG | {"text_cfg": text}))
    cleaning = OnnxDualEncoder(folder)
    assert cleaning._asked("Red, sky!") == "red sky"
    assert cleaning._is_siglip
    assert cleaning.encode_text("Red!").vector is not None


def test_a_picture_is_squeezed_where_the_folder_says_so(tmp_path: Path) -> None:
    folder = openclip_folder(tmp_path / "pair")
    halves = np.concatenate([plain(RED, 64, 96), plain(GREEN, 64, 32)], axis=1)  # green at right
    cut = OnnxDualEncoder(folder)
    red = cut.encode_images([plain(RED)])[0]
    assert cut.encode_images([halves])[0] @ red == pytest.approx(1, abs=1e-3)
    rules = RULES | {"resize_mode": "squash", "size": 32}
    (folder / PARTS["preprocessor"]).write_text(json.dumps(rules))
    squeezed = OnnxDualEncoder(folder)
    assert squeezed.encode_images([halves])[0] @ red < 0.97
    assert squeezed.spec.space_id != cut.spec.space_id


@pytest.mark.parametrize("part", PARTS.values())
def test_a_missing_part_is_named(tmp_path: Path, part: str) -> None:
    folder = openclip_folder(tmp_path / "pair")
    (folder / part).unlink()
    with pytest.raises(EncoderError, match=f"lacks {part}"):
        OnnxDualEncoder(folder)


@pytest.mark.parametrize(
    "wrong",
    [
        {"resize_mode": "longest"},
        {"size": [32, 64]},
        {"size": [32, 64, 3]},
        {"size": "x"},
        {"interpolation": "random"},
        {"mean": [0.5]},
        {"std": [0, 0, 0]},
    ],
)
def test_preprocessing_of_another_kind_is_one_clear_error(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    folder = openclip_folder(tmp_path / "pair")
    (folder / PARTS["preprocessor"]).write_text(json.dumps(RULES | wrong))
    with pytest.raises(EncoderError, match=r"preprocess_cfg\.json is no preprocessing"):
        OnnxDualEncoder(folder)


@pytest.mark.parametrize("config", [{}, {"text_cfg": 3}, {"text_cfg": {"tokenizer_kwargs": "x"}}])
def test_a_config_that_says_nothing_is_passed_over(tmp_path: Path, config: dict[str, Any]) -> None:
    folder = openclip_folder(tmp_path / "pair")
    (folder / "config.json").write_text(json.dumps(config))
    encoder = OnnxDualEncoder(folder)
    assert isinstance(encoder._tokenizer, Tokenizer)
    assert encoder._max_tokens == 77
