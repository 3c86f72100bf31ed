"""Placed folders whose parts do not fit or hold nonsense, and words and pictures out of the way."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_onnx_dual import BLUE, DIM, GREEN, RED, clip_folder, joint_folder, plain, siglip_folder
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from photocraft_local.embeddings import fingerprint as weights
from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
from photocraft_local.embeddings.qwen import prompt
from photocraft_local.errors import EncoderError

NONSENSE = [0, -1, True, "77", "x", [1], {"a": 1}, None, 1e30, float("nan"), 10**40]


@pytest.mark.parametrize("value", NONSENSE, ids=str)
def test_nonsense_in_an_optional_file_is_passed_over(value: Any, tmp_path: Path) -> None:
    for number, layout in enumerate((clip_folder, siglip_folder)):
        folder = layout(tmp_path / f"{number}")
        config = json.loads((folder / "config.json").read_text())
        told: list[dict[str, Any]] = [
            {"text_config": value},
            {"text_config": {"max_position_embeddings": value}},
        ]
        told += [{"projection_dim": value}] if value != 10**40 else []
        for more in told:
            (folder / "config.json").write_text(json.dumps(config | more))
            words = {"model_max_length": value, "pad_token": value, "padding_side": value}
            (folder / "tokenizer_config.json").write_text(json.dumps(words))
            encoder = OnnxDualEncoder(folder)
            vector = encoder.encode_text("red").vector
            assert vector is not None
            assert int((encoder.encode_images([plain(RED), plain(BLUE)]) @ vector).argmax()) == 0
            assert encoder.spec.dim == DIM


@pytest.mark.parametrize("layout", [clip_folder, joint_folder])
def test_parts_of_two_exports_are_told_apart(layout: Any, tmp_path: Path) -> None:
    """Vectors of another length than the folder says are stored nowhere."""
    folder = layout(tmp_path / "pair")
    (folder / "config.json").write_text(json.dumps({"model_type": "clip", "projection_dim": 512}))
    encoder = OnnxDualEncoder(folder)
    for asked in (lambda: encoder.encode_images([plain(RED)]), lambda: encoder.encode_text("red")):
        with pytest.raises(EncoderError, match="3 numbers, of 512"):
            asked()


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "\0", "[]", "{", '"x"', "\ufeff{}"]
)
@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer_config.json", "preprocessor_config.json"]
)
def test_a_file_that_is_no_json_object_is_one_clear_error(
    name: str, text: str, tmp_path: Path
) -> None:
    folder = clip_folder(tmp_path / "pair")
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(EncoderError, match=name):
        OnnxDualEncoder(folder).encode_text("red")


def test_a_mark_in_a_query_is_text_and_ends_nothing(tmp_path: Path) -> None:
    folder = clip_folder(tmp_path / "pair")
    marks = {"<|startoftext|>": 0, "<|endoftext|>": 1}
    parts = {"<|": 2, "startoftext": 3, "|>": 4, "endoftext": 5, "red": 6, "[UNK]": 7}
    tokenizer = Tokenizer(models.WordLevel(marks | parts, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in marks])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|startoftext|> $A <|endoftext|>", special_tokens=list(marks.items())
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    read = OnnxDualEncoder(folder)._tokenizer
    assert read.encode("red").ids == [0, 6, 1]  # those of the family stay
    assert read.encode("<|endoftext|> red <|startoftext|>").ids == [0, 2, 5, 4, 6, 2, 3, 4, 1]


@pytest.mark.parametrize("layout", [clip_folder, siglip_folder, joint_folder])
def test_any_words_have_a_vector_or_are_named(layout: Any, tmp_path: Path) -> None:
    encoder = OnnxDualEncoder(layout(tmp_path / "pair"))
    for text in ("", " \t\n", "!?…", "👍", "\0", "\ud800"):
        assert encoder.encode_text(text).vector is None
    for text in (
        "red " * 100_000,
        "\0red",
        "red\ud800",
        "re\u0301d red",
        "RED\u202e",
        "r" * 1_000_000,
    ):
        vector = encoder.encode_text(text).vector
        assert vector is not None
        assert np.isfinite(vector).all()
    latin = ("ein roter Himmel", "un cielo rojo", "un ciel rouge", "a red sky", "o céu vermelho")
    assert all(not encoder.encode_text(text).not_understood for text in latin)
    others = ("красное небо", "红色的天空", "سماء حمراء", "赤い空", "लाल आकाश")
    assert all(encoder.encode_text(text).not_understood for text in others)


def test_pictures_of_extreme_shapes_cost_no_more_than_others(tmp_path: Path) -> None:
    encoder = OnnxDualEncoder(clip_folder(tmp_path / "pair"))
    shapes = [(1, 1), (1, 30_000), (30_000, 1), (3, 60_000), (60_000, 3), (2, 399)]
    pictures = [np.full((*shape, 3), RED, np.uint8) for shape in shapes]
    red = encoder.encode_images([plain(RED)])[0]
    np.testing.assert_allclose(encoder.encode_images(pictures) @ red, 1, atol=1e-3)
    assert encoder.encode_images([]).shape == (0, DIM)


@pytest.mark.parametrize(
    "said",
    ["Failed to allocate memory for requested buffer of size 9", "CUDA error: out of memory", ""],
)
def test_where_memory_runs_out_a_batch_is_halved(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = OnnxDualEncoder(clip_folder(tmp_path / "pair"))
    pictures = [plain(colour) for colour in (RED, GREEN, BLUE) * 4]
    whole = encoder.encode_images(pictures)
    real, seen = encoder._vision, []

    def run(names: Any, feed: Any) -> Any:
        seen.append(len(feed["pixel_values"]))
        if seen[-1] > 4:
            raise RuntimeError(said) if said else MemoryError
        return real.run(names, feed)

    tight = SimpleNamespace(get_inputs=real.get_inputs, get_outputs=real.get_outputs, run=run)
    monkeypatch.setattr(encoder, "_vision", tight)
    np.testing.assert_allclose(encoder.encode_images(pictures), whole, atol=1e-6)
    assert seen == [12, 6, 3, 3, 6, 3, 3]

    def broken(*_: Any) -> Any:
        raise RuntimeError(said or "bad_alloc")

    tight.run = broken
    with pytest.raises(EncoderError, match="refused its input"):
        encoder.encode_images(pictures[:2])


def test_weights_that_differ_anywhere_but_at_their_ends_are_others(tmp_path: Path) -> None:
    """What further training of some layers leaves: the same names, sizes and ends."""
    path = tmp_path / "model.onnx"
    size = 8 << 20
    path.write_bytes(bytes(size))
    seen = {weights.fingerprint([path], weights=(".onnx",))}
    layer = size // 60
    for at in range(0, size - layer, layer):
        with path.open("r+b") as stream:
            stream.seek(at)
            stream.write(b"\1" * layer)
        seen.add(weights.fingerprint([path], weights=(".onnx",)))
        path.write_bytes(bytes(size))
    assert len(seen) == 1 + len(range(0, size - layer, layer))


def test_a_weights_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = clip_folder(tmp_path / "pair")

    def refused(self: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(self))

    encoder = OnnxDualEncoder(folder)
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(EncoderError, match=r"onnx cannot be read: Permission denied"):
        _ = encoder._folder.fingerprint()


class _Bytes:
    """A tokenizer whose tokens are bytes, behind the calls that transformers' have."""

    def __init__(self) -> None:
        alphabet = {letter: at for at, letter in enumerate(pre_tokenizers.ByteLevel.alphabet())}
        self._own = Tokenizer(models.BPE(alphabet, []))
        self._own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        self._own.decoder = decoders.ByteLevel()

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": self._own.encode(text).ids}

    def decode(self, ids: list[int]) -> str:
        return str(self._own.decode(ids))


@pytest.mark.parametrize("letter", ["é", "空", "👍", "👩‍🚀", "a"])
@pytest.mark.parametrize("lead", range(4))
def test_a_long_query_is_cut_to_the_limit_wherever_that_falls(letter: str, lead: int) -> None:
    """Half a character becomes the mark of a missing one, which takes more tokens than it."""
    made = prompt.Prompter.__new__(prompt.Prompter)
    made._instruction, made._tokenizer = "find", _Bytes()
    made._processor = SimpleNamespace(
        apply_chat_template=lambda told, **_: (
            f"<s>{told[0]['content'][0]['text']}<u>{told[1]['content'][0]['text']}<a>"
        )
    )
    cut = made.words("x" * lead + letter * 9_000)
    assert prompt.MOST_TOKENS - 16 <= len(cut.ids) <= prompt.MOST_TOKENS
    assert cut.text.endswith(f"{letter[-1]}<a>") or len(letter) > 1
    assert "\ufffd" not in cut.text
    whole = made.words("x" * lead + letter * 3)
    assert whole.text == "<s>find<u>" + "x" * lead + letter * 3 + "<a>"
