"""An encoder on a captioned folder: figures by hand, both layouts, what is wrong is named."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.captioned import read_captioned
from photocraft_local.evaluation.cutoffs import calibrated
from photocraft_local.evaluation.retrieval import (
    Asker,
    ScoredQuery,
    absent_figures,
    average_precision,
    embed,
    ranking_figures,
    ranks,
    set_figures,
)
from photocraft_local.evaluation.retrieval_report import measure

COLOURS = {"red": (220, 30, 30), "green": (50, 160, 60), "blue": (40, 70, 220),
           "yellow": (240, 220, 40), "white": (250, 250, 250), "black": (0, 0, 0)}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two photos of each colour, as the shared captioned set is laid out."""
    for colour, pixel in COLOURS.items():
        for number in (1, 2):
            picture = Image.new("RGB", (60, 40), pixel)
            picture.putpixel((0, 0), (number, number, number))
            picture.save(tmp_path / f"{colour}{number}.png")
    with (tmp_path / "captions.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "caption_1", "caption_2", "labels_complete"])
        for colour in COLOURS:
            for number in (1, 2):
                rows.writerow([f"{colour}{number}.png", f"all {colour}", "", int(number == 1)])
    return tmp_path


def with_queries(folder: Path, *lines: list[str]) -> Path:
    with (folder / "queries.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "kind", "text", "relevant_files"])
        rows.writerows(lines)
    return folder


def query(scores: list[float], relevant: list[int], cutoff: float = 0.5) -> ScoredQuery:
    mask = np.zeros(len(scores), np.bool_)
    mask[relevant] = True
    return ScoredQuery("x", np.array(scores, np.float32), cutoff, mask)


def test_ranks_by_hand() -> None:
    asked = [query([0.9, 0.8, 0.7, 0.1], [1, 3]), query([0.2, 0.9, 0.9, 0.4], [2])]
    assert list(ranks(asked)) == [2, 2]  # equal scores count against it
    assert average_precision(asked[0]) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert average_precision(asked[1]) == pytest.approx(1 / 2)
    figures = ranking_figures([*asked, query([0.1, 0.2, 0.3, 0.4], [])])
    assert figures["queries"] == 2
    assert figures["mrr"] == 0.5
    assert figures["map"] == 0.5
    assert figures["hit_at_1"] == 0
    assert figures["hit_at_5"] == figures["recall_at_5"] == 1
    assert ranking_figures([query([0.1], [])]) == {}


def test_ranks_agree_with_counting_one_by_one() -> None:
    chance = np.random.default_rng(5)
    for _ in range(300):
        num = int(chance.integers(1, 30))
        scores = chance.integers(0, 8, num).astype(np.float32)  # many are equal
        relevant = chance.random(num) < 0.3
        if not relevant.any():
            continue
        one = ScoredQuery("x", scores, 4.0, relevant)
        order = sorted(range(num), key=lambda at: (-scores[at], relevant[at]))
        hits = [bool(relevant[at]) for at in order]
        precisions = [sum(hits[: at + 1]) / (at + 1) for at in range(num) if hits[at]]
        assert average_precision(one) == pytest.approx(sum(precisions) / len(precisions))
        assert ranks([one])[0] == hits.index(True) + 1
        figures = ranking_figures([one])
        for k in (1, 5, 10):
            assert figures[f"recall_at_{k}"] == pytest.approx(sum(hits[:k]) / sum(hits), abs=1e-4)


def test_sets_and_what_none_answers() -> None:
    asked = [query([0.9, 0.8, 0.1], [0]), query([0.1, 0.2, 0.3], [2]), query([0.6, 0.1, 0.1], [0])]
    figures = set_figures(asked)
    assert figures["precision"] == 0.75  # of the two that return anything
    assert figures["recall"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["em"] == figures["present_empty"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["nothing_wrong"] == pytest.approx(2 / 3, abs=1e-4)
    absent = absent_figures([query([0.9, 0.6, 0.1], []), query([0.1, 0.1, 0.2], [])])
    assert absent == {"absent_empty": 0.5, "absent_returned": 1.0}


def test_what_is_not_judged_does_not_count() -> None:
    one = query([0.9, 0.8, 0.7], [1])
    judged = np.array([False, True, True])
    apart = ScoredQuery("x", one.scores, one.cutoff, one.relevant, judged)
    assert ranking_figures([one])["hit_at_1"] == 0
    assert ranking_figures([apart])["hit_at_1"] == 1
    assert set_figures([apart])["precision"] == 0.5


def test_the_recommended_cut_off_is_that_which_parts_them() -> None:
    chance = np.random.default_rng(1)

    def asked(relevant: list[int]) -> ScoredQuery:
        scores = chance.normal(3.0, 0.2, 40)
        scores[relevant] += 2.0
        return query(list(scores), relevant, cutoff=2.0)  # lets nearly all through

    present = [asked([at % 40]) for at in range(40)]
    absent = [asked([]) for _ in range(20)]
    found = calibrated(present, absent, 2.0)
    assert found.shipped is not None
    assert found.recommended is not None
    assert 1.4 <= found.recommended.shift <= 2.5
    assert found.recommended.figures["f1"] > 0.95
    assert found.recommended.figures["absent_empty"] > 0.95
    assert found.shipped.figures["f1"] < 0.2
    told = found.to_json()
    assert told["recommended_cutoff"] == round(2.0 + found.recommended.shift, 3)
    json.dumps(told, allow_nan=False)
    assert calibrated(present[:3], [], 2.0).recommended is None


def test_a_folder_with_queries(folder: Path) -> None:
    with_queries(
        folder,
        *[
            [f"o{at}", "object", name, f"{name}1.png|{name}2.png"]
            for at, name in enumerate(COLOURS)
        ],
        ["c1", "caption", "a red wall", "red1.png"],
        ["n1", "", "purple", ""],
    )
    negatives = folder / "none.txt"
    negatives.write_text("orange\n\npink\n")
    data = read_captioned(folder, negatives)
    assert not data.problems.counts
    found = measure(NullEncoder(), data)
    assert found.num_queries == {"caption": 1, "object": 6, "absent": 3}
    assert found.ranking["object"]["hit_at_1"] == 1.0  # judged among the labelled ones
    assert found.ranking["object"]["map"] == 1.0
    assert set(found.absent) == {"absent_empty", "absent_returned"}
    json.dumps(found.to_json(), allow_nan=False)


def test_two_columns_are_enough(folder: Path) -> None:
    with (folder / "captions.csv").open("w", newline="", encoding="utf-8-sig") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "caption"])
        rows.writerows([["red1.png", "red"], ["red2.png", "red"], ["blue1.png", "blue, all of it"],
                        ["blue1.png", "blue"]])  # fmt: skip
    data = read_captioned(folder)
    assert not data.problems.counts
    assert data.files == ("red1.png", "red2.png", "blue1.png")
    assert {q.text: set(q.relevant) for q in data.queries} == {
        "red": {"red1.png", "red2.png"},
        "blue, all of it": {"blue1.png"},
        "blue": {"blue1.png"},
    }
    assert measure(NullEncoder(), data).ranking["caption"]["hit_at_1"] == 1.0


def test_what_is_wrong_is_named_and_the_rest_goes_on(folder: Path) -> None:
    (folder / "green1.png").write_bytes(b"no picture")
    (folder / "black2.png").unlink()
    (folder / "black1.png").write_bytes(b"")
    with (folder / "captions.csv").open("a") as file:
        file.write("red1.png,again,,1\ntoo,few\n")
    with_queries(
        folder,
        ["1", "object", "red", "red1.png|red2.png"],
        ["1", "object", "blue", "blue1.png"],
        ["2", "object", "", "blue1.png"],
        ["3", "object", "black", "black2.png"],
        ["4", "object", "green", "green1.png"],
        ["5", "absent", "red", "red1.png"],
    )
    found = measure(NullEncoder(), read_captioned(folder))
    told = "\n".join(map(str, found.problems.named))
    for words in ("there is no file 'black2.png'", "'red1.png' stands twice",
                  "captions.csv line 15",
                  "query '1' stands twice", "query '2' has no text", "'black2.png'",
                  "query '5' is of the kind 'absent' and names photos",
                  "empty-file: captions.csv line", "green1.png: ",
                  "query '4': a right photo of it cannot be decoded"):  # fmt: skip
        assert words in told
    assert found.num_queries == {"object": 1}
    assert found.num_photos == 9


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (b"", "is empty"),
        (b"name,text\n", "no column file"),
        ("file,caption\nréd.png,x".encode("latin-1"), "wrong-encoding: captions.csv line 2"),
        (b"file,file\n", "two columns file"),
        (b"file,caption\nnone.png,x\n", "no photo that can be used"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, table: bytes, words: str) -> None:
    (tmp_path / "captions.csv").write_bytes(table)
    with pytest.raises(EvaluationError, match=words):
        read_captioned(tmp_path)


def test_names_that_lead_out_are_not_read(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    for name in ("red1.png", "blue1.png"):
        (inner / name).write_bytes((folder / name).read_bytes())
    (inner / "link.png").symlink_to(folder / "green1.png")
    names = ["red1.png", "../red2.png", str(folder / "red2.png"), "link.png", "x" * 400]
    (inner / "captions.csv").write_text("file,caption\n" + "".join(f"{n},x\n" for n in names))
    data = read_captioned(inner)
    assert data.files == ("red1.png",)
    assert data.problems.counts == {"outside-name": 3, "missing-image": 1}


def test_no_table_and_no_readable_photo(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="there is no"):
        read_captioned(tmp_path / "nowhere")
    for path in folder.glob("*.png"):
        path.write_bytes(b"no picture")
    with pytest.raises(EvaluationError, match="can be decoded"):
        measure(NullEncoder(), read_captioned(folder))


def test_the_shared_set_is_scored_as_a_search_scores_it(shared: Path) -> None:
    """The null encoder knows ten colours: most captions mean nothing to it, and find nothing."""
    data = read_captioned(shared / "data/captioned")
    assert not data.problems.counts
    assert (len(data.files), len(data.complete), len(data.queries)) == (199, 143, 784)
    vectors, broken = embed(NullEncoder(), [shared / "data/captioned" / n for n in data.files[:20]])
    assert broken == {}
    asker = Asker(NullEncoder(), vectors)
    assert not asker.ask("zebra", np.zeros(20, np.bool_)).returned.any()
    assert np.isfinite(asker.ask("red", np.zeros(20, np.bool_)).scores).all()
