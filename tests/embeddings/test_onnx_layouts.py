"""What exporters differ in, and what a placed folder may do wrong while it runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from onnx import TensorProto, helper
from test_onnx_dual import (
    BLUE,
    CLIP_RULES,
    DIM,
    GREEN,
    RED,
    clip_folder,
    plain,
    siglip_folder,
    vision_nodes,
)

from photocraft_local.embeddings import onnx_session
from photocraft_local.embeddings.encoding import encode_batch
from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
from photocraft_local.errors import EncoderError, UsageError

PICTURES = [plain(RED), plain(GREEN, 33, 70), plain(BLUE, 64, 64)]


def vision(
    path: Path, kind: int = TensorProto.FLOAT, first: int | str = "n", scale: str = ""
) -> None:
    """The tiny vision model again, with other numbers or a first axis of its own."""
    nodes = vision_nodes("image_embeds")
    if scale:  # a constant by which the output is multiplied
        nodes[-1].output[0] = "plain"
        value = helper.make_tensor("scale", kind, [1], [float(scale)])
        nodes.append(helper.make_node("Constant", [], ["by"], value=value))
        nodes.append(helper.make_node("Mul", ["plain", "by"], ["image_embeds"]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("pixel_values", kind, [first, 3, "h", "w"])],
        [helper.make_tensor_value_info("image_embeds", kind, [first, DIM])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return clip_folder(tmp_path / "pair")


def test_a_batch_equals_single_pictures(folder: Path) -> None:
    many = OnnxDualEncoder(folder).encode_images(PICTURES * 20)
    single = np.concatenate([OnnxDualEncoder(folder).encode_images([one]) for one in PICTURES])
    np.testing.assert_allclose(many, np.tile(single, (20, 1)), atol=1e-6)


def test_a_graph_of_one_picture_gets_one_at_a_time(folder: Path) -> None:
    expected = OnnxDualEncoder(folder).encode_images(PICTURES)
    vision(folder / "onnx/vision_model.onnx", first=1)
    made = OnnxDualEncoder(folder).encode_images(PICTURES)
    np.testing.assert_allclose(made, expected, atol=1e-6)


def test_a_tower_in_half_precision_gets_halves(folder: Path) -> None:
    expected = OnnxDualEncoder(folder).encode_images(PICTURES)
    vision(folder / "onnx/vision_model.onnx", kind=TensorProto.FLOAT16)
    made = OnnxDualEncoder(folder).encode_images(PICTURES)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, atol=2e-3)


@pytest.mark.parametrize("variant", ["_fp16", "_quantized", "_q4"])
def test_towers_in_other_numbers_are_found(folder: Path, variant: str) -> None:
    for tower in ("vision_model", "text_model"):
        path = folder / f"onnx/{tower}.onnx"
        path.rename(path.with_name(f"{tower}{variant}.onnx"))
    encoder = OnnxDualEncoder(folder)
    assert (
        int((encoder.encode_images(PICTURES) @ encoder.encode_text("green").vector).argmax()) == 1
    )


def test_of_several_variants_the_plain_one_is_taken(folder: Path) -> None:
    before = OnnxDualEncoder(folder).spec.space_id
    (folder / "onnx/vision_model_quantized.onnx").write_bytes(b"damaged")
    assert OnnxDualEncoder(folder).spec.space_id == before
    assert len(OnnxDualEncoder(folder).encode_images(PICTURES)) == 3


def test_preprocessing_inside_processor_config_is_read(folder: Path) -> None:
    expected = OnnxDualEncoder(folder).encode_images(PICTURES)
    (folder / "preprocessor_config.json").unlink()
    nested = {"processor_class": "CLIPProcessor", "image_processor": CLIP_RULES}
    (folder / "processor_config.json").write_text(json.dumps(nested))
    np.testing.assert_array_equal(OnnxDualEncoder(folder).encode_images(PICTURES), expected)


def test_siglip_hears_words_without_punctuation(tmp_path: Path) -> None:
    encoder = OnnxDualEncoder(siglip_folder(tmp_path / "pair"))
    plain_words = encoder.encode_text("red sky").vector
    np.testing.assert_array_equal(encoder.encode_text("Red, sky!").vector, plain_words)
    (tmp_path / "pair/tokenizer_config.json").write_text('{"tokenizer_class": "GemmaTokenizer"}')
    second = OnnxDualEncoder(tmp_path / "pair")
    assert second._asked("Red, sky!") == "red, sky!"


@pytest.mark.parametrize("scale", ["0", "nan", "inf"])
def test_a_vector_without_a_direction_costs_its_photo_only(folder: Path, scale: str) -> None:
    vision(folder / "onnx/vision_model.onnx", scale=scale)
    vectors = OnnxDualEncoder(folder).encode_images(PICTURES)
    assert np.isnan(vectors).all()


def test_photos_that_fail_leave_their_batch(folder: Path) -> None:
    class Sometimes(OnnxDualEncoder):
        def encode_images(self, images):  # type: ignore[no-untyped-def]
            vectors = super().encode_images(images)
            vectors[1] = np.nan
            return vectors

    from photocraft_local.embeddings.decoding import Ready

    photos = [SimpleNamespace(photo_id=k, paths=[b"p%d.jpg" % k]) for k in range(3)]
    ready = [Ready(one, pixels, ()) for one, pixels in zip(photos, PICTURES, strict=True)]  # type: ignore[arg-type]
    encoded = encode_batch(Sometimes(folder), ready)
    assert [photo.photo_id for photo in encoded.photos] == [0, 2]
    assert "p1.jpg cannot be embedded" in encoded.failures[0].message


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((40, 40, 3), np.float32),
        np.zeros((40, 40), np.uint8),
        np.zeros((40, 40, 4), np.uint8),
        np.zeros((0, 40, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(folder: Path, wrong: np.ndarray) -> None:
    with pytest.raises(UsageError, match="picture 1 has") as caught:
        OnnxDualEncoder(folder).encode_images([PICTURES[0], wrong])
    assert "uint8" in caught.value.hint


# -- devices


def test_without_cuda_auto_takes_the_cpu_and_cuda_is_refused(folder: Path) -> None:
    auto = OnnxDualEncoder(folder, device="auto")
    assert len(auto.encode_images(PICTURES)) == 3
    assert auto.where == "CPU"
    with pytest.raises(EncoderError, match="built for the CPU") as caught:
        OnnxDualEncoder(folder, device="cuda").encode_images(PICTURES)
    assert "'gpu' extra" in caught.value.hint


def test_a_build_for_cuda_without_a_gpu_runs_on_the_cpu(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As onnxruntime-gpu behaves on such a machine: CUDA is offered, a session does without it."""
    real = onnxruntime_module()
    asked: list[list[str]] = []

    def session(path: str, options: object, providers: list[str]) -> object:
        asked.append(providers)
        return real.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    build = SimpleNamespace(
        **{name: getattr(real, name) for name in ("SessionOptions", "GraphOptimizationLevel")},
        get_available_providers=lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"],
        preload_dlls=lambda: print("cannot be loaded"),
        InferenceSession=session,
    )
    monkeypatch.setattr(onnx_session, "_silent_onnxruntime", lambda: build)
    monkeypatch.setattr(onnx_session, "find_gpus", lambda: SimpleNamespace(gpus=()))
    assert OnnxDualEncoder(folder, device="auto").where == "CPU"
    assert asked == [["CPUExecutionProvider"]]  # nothing is tried that would complain
    with pytest.raises(EncoderError, match="cannot be loaded, or there is no GPU"):
        OnnxDualEncoder(folder, device="cuda").encode_images(PICTURES)
    monkeypatch.setattr(onnx_session, "find_gpus", lambda: SimpleNamespace(gpus=(1,)))
    assert OnnxDualEncoder(folder, device="auto").where == "CPU"  # its libraries do not load
    assert asked[-1] == ["CUDAExecutionProvider", "CPUExecutionProvider"]


def onnxruntime_module():  # type: ignore[no-untyped-def]
    onnx_session._silent_onnxruntime()
    return sys.modules["onnxruntime"]
