"""Placed CLIP and SigLIP folders: a tiny made pair in each layout of common exporters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from photocraft_local.cli.main import main
from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.errors import EncoderError
from photocraft_local.evaluation.captioned import read_captioned
from photocraft_local.evaluation.retrieval_report import measure
from photocraft_local.settings import Settings

SIDE, DIM = 32, 3
VOCAB = {"<pad>": 0, "red": 1, "green": 2, "blue": 3, "sky": 4, "[UNK]": 5}
CLIP_RULES = {
    "size": {"shortest_edge": SIDE},
    "crop_size": {"height": SIDE, "width": SIDE},
    "do_center_crop": True,
    "resample": 3,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.25, 0.25, 0.25],
    "rescale_factor": 1 / 255,
}
SIGLIP_RULES = {
    "size": {"height": SIDE, "width": SIDE},
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def vision_nodes(output: str) -> list[Any]:
    """The mean of each channel: a red picture is (1, 0, 0) up to scale."""
    return [
        helper.make_node("GlobalAveragePool", ["pixel_values"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], [output]),
    ]


def text_nodes(output: str) -> tuple[list[Any], list[Any]]:
    """The mean of the tokens' vectors: each colour word is its channel."""
    table = np.full((len(VOCAB), DIM), -0.1, np.float32)
    table[1:4] = 4 * np.eye(3) - 1
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("ReduceMean", ["tokens"], [output], axes=[1], keepdims=0),
    ]
    return nodes, [numpy_helper.from_array(table, "table")]


def write_model(
    path: Path, nodes: list[Any], constants: list[Any], inputs: list[str], outputs: list[str]
) -> None:
    kinds = {
        "pixel_values": (TensorProto.FLOAT, ["n", 3, "h", "w"]),
        "input_ids": (TensorProto.INT64, ["n", "tokens"]),
        "attention_mask": (TensorProto.INT64, ["n", "tokens"]),
        "pixel_attention_mask": (TensorProto.INT64, ["n", "patches"]),
    }
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, *kinds[name]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", DIM]) for name in outputs],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def write_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel(VOCAB, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))


def clip_folder(folder: Path) -> Path:
    """Two towers with projected embeddings, in ``onnx/``."""
    folder.mkdir(parents=True)
    nodes, constants = text_nodes("text_embeds")
    write_model(
        folder / "onnx/vision_model.onnx",
        vision_nodes("image_embeds"),
        [],
        ["pixel_values"],
        ["image_embeds"],
    )
    write_model(
        folder / "onnx/text_model.onnx",
        nodes,
        constants,
        ["input_ids", "attention_mask"],
        ["text_embeds"],
    )
    write_tokenizer(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(CLIP_RULES))
    (folder / "config.json").write_text(json.dumps({"model_type": "clip"}))
    return folder


def siglip_folder(folder: Path) -> Path:
    """Two towers at the top that end in their poolers; texts are padded and have no mask."""
    folder.mkdir(parents=True)
    nodes, constants = text_nodes("pooler_output")
    write_model(
        folder / "vision_model.onnx",
        vision_nodes("pooler_output"),
        [],
        ["pixel_values"],
        ["pooler_output"],
    )
    write_model(folder / "text_model.onnx", nodes, constants, ["input_ids"], ["pooler_output"])
    write_tokenizer(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(SIGLIP_RULES))
    (folder / "config.json").write_text(json.dumps({"model_type": "siglip"}))
    return folder


def joint_folder(folder: Path) -> Path:
    """One model with both towers."""
    folder.mkdir(parents=True)
    nodes, constants = text_nodes("text_embeds")
    write_model(
        folder / "model.onnx",
        [*vision_nodes("image_embeds"), *nodes],
        constants,
        ["input_ids", "pixel_values", "attention_mask"],
        ["text_embeds", "image_embeds"],
    )
    write_tokenizer(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(CLIP_RULES))
    return folder


def plain(colour: tuple[int, int, int], height: int = 40, width: int = 90) -> np.ndarray:
    return np.full((height, width, 3), colour, np.uint8)


RED, GREEN, BLUE = (250, 10, 10), (10, 250, 10), (10, 10, 250)


@pytest.mark.parametrize("layout", [clip_folder, siglip_folder, joint_folder])
def test_retrieval_is_measured_for_a_placed_encoder(
    layout: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``eval retrieval`` takes any encoder, not those of this package alone."""
    album = tmp_path / "album"
    album.mkdir()
    rows = ["file,caption"]
    for name, colour in (("red", RED), ("green", GREEN), ("blue", BLUE)):
        for number in (1, 2):
            Image.fromarray(plain(colour, 40 + number)).save(album / f"{name}{number}.png")
            rows.append(f"{name}{number}.png,{name}")
    (album / "captions.csv").write_text("\n".join(rows))
    model = layout(tmp_path / "Tiny Pair")
    found = measure(OnnxDualEncoder(model), read_captioned(album))
    assert found.ranking["caption"]["queries"] == 3
    assert found.ranking["caption"]["map"] == 1
    assert found.encoder.startswith("tiny-pair-")
    assert main(["eval", "retrieval", str(album), "--encoder", str(model), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ranking"] == found.to_json()["ranking"]
    assert told["encoder"] == found.encoder


@pytest.mark.parametrize("layout", [clip_folder, siglip_folder, joint_folder])
def test_words_find_their_picture_in_every_layout(layout: Any, tmp_path: Path) -> None:
    encoder = OnnxDualEncoder(layout(tmp_path / "Tiny Pair"))
    assert isinstance(encoder, Encoder)
    photos = encoder.encode_images([plain(RED), plain(GREEN), plain(BLUE)])
    assert photos.shape == (3, DIM)
    np.testing.assert_allclose(np.linalg.norm(photos, axis=1), 1, atol=1e-6)
    for right, word in enumerate(("red", "green", "Blue")):
        found = encoder.encode_text(word)
        assert found.understood == (word,)
        assert int((photos @ found.vector).argmax()) == right
    assert encoder.spec.dim == DIM
    assert encoder.spec.encoder_id == "tiny-pair"


def test_preprocessing_follows_the_folder(tmp_path: Path) -> None:
    halves = np.concatenate([plain(RED, 64, 96), plain(GREEN, 64, 32)], axis=1)  # green at right
    cropping = OnnxDualEncoder(clip_folder(tmp_path / "crop"))
    squeezing = OnnxDualEncoder(siglip_folder(tmp_path / "squeeze"))
    red = cropping.encode_images([plain(RED)])[0]
    assert cropping.encode_images([halves])[0] @ red == pytest.approx(1, abs=1e-3)
    assert squeezing.encode_images([halves])[0] @ red < 0.97
    assert cropping.spec.preprocessing != squeezing.spec.preprocessing


def test_resampling_and_normalising_equal_the_reference(tmp_path: Path) -> None:
    encoder = OnnxDualEncoder(clip_folder(tmp_path / "clip"))
    picture = np.random.default_rng(2).integers(0, 256, (48, 64, 3), np.uint8)
    # 42.67: CLIP's own preprocessing and that of transformers round it down
    resized = Image.fromarray(picture).resize((42, 32), Image.Resampling.BICUBIC)
    square = np.asarray(resized.crop((5, 0, 37, 32)), np.float32)
    expected = ((square / 255 - 0.5) / 0.25).transpose(2, 0, 1)[None]
    np.testing.assert_allclose(encoder._rules.apply([picture]), expected, atol=1e-5)


@pytest.mark.parametrize("resample", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("layout", [clip_folder, siglip_folder])
def test_a_batch_holds_what_pillow_makes_of_each_picture(
    layout: Any, resample: int, tmp_path: Path
) -> None:
    folder = layout(tmp_path / "pair")
    config = json.loads((folder / "preprocessor_config.json").read_text())
    stated = config | {"resample": resample, "rescale_factor": 1 / 127.5}
    (folder / "preprocessor_config.json").write_text(json.dumps(stated))
    rules = OnnxDualEncoder(folder)._rules
    dice = np.random.default_rng(resample)
    sizes = [(48, 64), (200, 31), (7, 5), (32, 32), (1, 150)]
    pictures = [dice.integers(0, 256, (*size, 3), np.uint8) for size in sizes]
    made = rules.apply(pictures)
    assert made.shape == (5, 3, 32, 32)
    for picture, planes in zip(pictures, made, strict=True):
        wide, high = 32, 32
        if rules.shortest:
            high, wide = (
                rules.shortest * side // min(picture.shape[:2]) for side in picture.shape[:2]
            )
        resized = Image.fromarray(picture).resize((wide, high), Image.Resampling(resample))
        left, top = (wide - 32) // 2, (high - 32) // 2
        square = np.asarray(resized.crop((left, top, left + 32, top + 32)), np.float64)
        scaled = (square / 127.5).astype(np.float32)
        mean, std = np.array(rules.mean, np.float32), np.array(rules.std, np.float32)
        np.testing.assert_array_equal(planes, ((scaled - mean) / std).transpose(2, 0, 1))


def test_a_strip_beyond_all_bounds_is_squeezed(tmp_path: Path) -> None:
    rules = OnnxDualEncoder(clip_folder(tmp_path / "clip"))._rules
    assert rules.apply([plain(RED, 1, 9000), plain(GREEN, 9000, 1)]).shape == (2, 3, 32, 32)


def test_numbers_that_normalise_nothing_are_refused(tmp_path: Path) -> None:
    folder = clip_folder(tmp_path / "pair")
    config = json.loads((folder / "preprocessor_config.json").read_text())
    for wrong in ({"image_std": [0.2, 0.0, 0.2]}, {"image_mean": [0.1]}, {"rescale_factor": 1e999}):
        (folder / "preprocessor_config.json").write_text(json.dumps(config | wrong))
        with pytest.raises(EncoderError, match=r"preprocessor_config\.json"):
            OnnxDualEncoder(folder)


def test_words_in_other_scripts_are_not_asked_of_an_english_model(tmp_path: Path) -> None:
    encoder = OnnxDualEncoder(clip_folder(tmp_path / "clip"))
    mixed = encoder.encode_text("red собака")
    assert mixed.not_understood == ("собака",)
    np.testing.assert_allclose(mixed.vector, encoder.encode_text("red").vector, atol=1e-6)
    assert encoder.encode_text("собака").vector is None
    assert encoder.encode_text("").vector is None


@pytest.mark.parametrize(
    ("layout", "lost", "named"),
    [
        (clip_folder, "onnx/vision_model.onnx", "vision_model.onnx"),
        (clip_folder, "onnx/text_model.onnx", "text_model.onnx"),
        (siglip_folder, "tokenizer.json", "tokenizer.json"),
        (joint_folder, "preprocessor_config.json", "preprocessor_config.json"),
    ],
)
def test_a_missing_part_is_named(layout: Any, lost: str, named: str, tmp_path: Path) -> None:
    folder = layout(tmp_path / "pair")
    (folder / lost).unlink()
    with pytest.raises(EncoderError, match=f"lacks {named}"):
        OnnxDualEncoder(folder)


@pytest.mark.parametrize(
    "broken",
    ["{", "[]", '{"size": {"longest_edge": 9}}', '{"size": 0}', '{"size": 32}', '{"size": "x"}'],
)
def test_broken_preprocessing_is_one_clear_error(broken: str, tmp_path: Path) -> None:
    folder = clip_folder(tmp_path / "pair")
    (folder / "preprocessor_config.json").write_text(broken)
    with pytest.raises(EncoderError, match=r"preprocessor_config\.json"):
        OnnxDualEncoder(folder)


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = siglip_folder(tmp_path / "patches")
    nodes, constants = text_nodes("pooler_output")
    write_model(
        folder / "text_model.onnx",
        nodes,
        constants,
        ["input_ids", "pixel_attention_mask"],
        ["pooler_output"],
    )
    with pytest.raises(EncoderError, match="pixel_attention_mask"):
        OnnxDualEncoder(folder).encode_text("red")


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    folder = clip_folder(tmp_path / "pair")
    (folder / "onnx/vision_model.onnx").write_bytes(b"no model")
    with pytest.raises(EncoderError, match=r"vision_model\.onnx cannot be run"):
        OnnxDualEncoder(folder).encode_images([plain(RED)])


def test_other_weights_are_another_space(tmp_path: Path) -> None:
    first = OnnxDualEncoder(clip_folder(tmp_path / "a/pair")).spec
    folder = clip_folder(tmp_path / "b/pair")
    assert OnnxDualEncoder(folder).spec.space_id == first.space_id
    with (folder / "onnx/vision_model.onnx").open("ab") as stream:
        stream.write(b"\x72\x00")  # an empty metadata entry: same model, other bytes
    assert OnnxDualEncoder(folder).spec.space_id != first.space_id


def test_the_registry_knows_names_and_folders(tmp_path: Path) -> None:
    labels = make_encoder(Settings(cache=tmp_path))
    assert labels.spec.encoder_id == "labels"
    assert not list(tmp_path.iterdir())  # nothing is built before it is used
    assert make_encoder(Settings(encoder="null")).spec.encoder_id == "null"
    folder = clip_folder(tmp_path / "placed")
    assert make_encoder(Settings(encoder=str(folder))).spec.encoder_id == "placed"
    with pytest.raises(EncoderError, match="neither 'labels', 'null' nor a folder"):
        make_encoder(Settings(encoder=str(tmp_path / "absent")))
