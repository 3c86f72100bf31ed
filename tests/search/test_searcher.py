"""Search by text, picture, both and NOT, inside filters, with the shipped colour encoder."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from photocraft_local.embeddings.encoder import TextEmbedding
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.errors import EncoderError, SearchError, UnknownPhoto, UsageError
from photocraft_local.search.calibration import Background
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.searcher import Query, Searcher

COLOURS = {
    "red": (220, 30, 30), "blue": (40, 70, 220), "green": (50, 160, 60), "grey": (128, 128, 128),
    "white": (250, 250, 250), "black": (0, 0, 0), "brown": (120, 75, 40), "sand": (200, 180, 140),
}  # fmt: skip
OTHERS = ("white", "black", "brown", "sand")
ENCODER = NullEncoder()


def picture(*colours: str) -> np.ndarray:
    """Vertical stripes of the colours, 64 × 64."""
    stripes = [np.full((64, 64 // len(colours), 3), COLOURS[one], np.uint8) for one in colours]
    return np.concatenate(stripes, axis=1)


PICTURES = {
    "red-1": ("red",), "red-2": ("red", "red", "grey", "red"), "blue-1": ("blue",),
    "green-1": ("green",), "red-blue": ("red", "blue"), "red-green": ("red", "green"),
    "grey-1": ("grey",),
    **{  # every way to have three of four other colours: what most of the library looks like
        f"other-{at:02d}": colours
        for at, colours in enumerate(itertools.product(OTHERS, repeat=3))
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def catalog(make_columns: Any) -> Catalog:
    uids = [*PICTURES, "not-embedded"]
    rows = [{"uid": uid, "time": f"2021-0{1 + at % 2}-01T00:00:00"} for at, uid in enumerate(uids)]
    return Catalog.from_columns(make_columns(rows))


@pytest.fixture(scope="module")
def index(catalog: Catalog) -> ExactIndex:
    """In another order than the catalog's, with two photos that are gone."""
    vectors = ENCODER.encode_images([picture(*colours) for colours in PICTURES.values()])
    ids = np.array(catalog.photo_ids_of(PICTURES))
    gone = ENCODER.encode_images([picture("red"), picture("blue")])
    order = np.random.default_rng(3).permutation(len(ids) + 2)
    both = np.concatenate([vectors, gone]).astype(np.float16)
    return ExactIndex(both[order], np.append(ids, [9001, 9002])[order])


@pytest.fixture(scope="module")
def searcher(catalog: Catalog, index: ExactIndex) -> Searcher:
    return Searcher(catalog, index, ENCODER)


def uids(result: Any) -> list[str]:
    return [hit.uid for hit in result.hits]


def test_a_text_ranks_what_it_names_first(searcher: Searcher) -> None:
    result = searcher.search(Query("red", top_k=4))
    assert uids(result)[0] == "red-1"
    assert set(uids(result)) == {"red-1", "red-2", "red-blue", "red-green"}
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert result.understood == ("red",)
    assert result.num_candidates == len(PICTURES)
    assert result.num_unindexed == 1


def test_without_top_k_exactly_what_reaches_the_cutoff_comes_back(searcher: Searcher) -> None:
    result = searcher.search(Query("blue", top_k=None))
    assert set(uids(result)) == {"blue-1", "red-blue"}
    assert all(hit.score >= result.cutoff for hit in result.hits)
    ranked = searcher.search(Query("blue", top_k=1000))
    assert len(ranked.hits) == len(PICTURES)
    assert ranked.matches == result.hits


def test_a_search_may_return_nothing(searcher: Searcher, catalog: Catalog) -> None:
    assert uids(searcher.search(Query("purple", top_k=None))) == []
    nobody = catalog.filter('date == "1999"')
    result = searcher.search(Query("red", selection=nobody))
    assert (result.hits, result.num_candidates) == ((), 0)


def test_a_given_cutoff_holds_with_and_without_top_k(searcher: Searcher) -> None:
    best = searcher.search(Query("red", top_k=3)).hits
    for top_k in (None, 10):
        strict = searcher.search(Query("red", top_k=top_k, cutoff=best[1].score))
        assert strict.hits == best[:2]
        assert strict.cutoff == best[1].score


def test_only_photos_inside_the_filter_come_back_and_it_is_echoed(
    searcher: Searcher, catalog: Catalog
) -> None:
    january = catalog.filter('date == "2021-01"')
    for query in (
        Query("red", selection=january, top_k=50),
        Query("red", selection=january, top_k=None, cutoff=-100),
        Query("red", not_text=("blue",), selection=january, top_k=50),
        Query(like=(searcher.photo_vector("red-1"),), selection=january, top_k=50),
    ):
        result = searcher.search(query)
        assert set(uids(result)) == set(january.uids()) - {"not-embedded"}
        assert result.filter_echo == '"2021-01-01" <= time < "2021-02-01"'


def test_a_filter_does_not_change_what_a_score_means(searcher: Searcher, catalog: Catalog) -> None:
    everyone = {hit.uid: hit.score for hit in searcher.search(Query("red", top_k=100)).hits}
    few = catalog.selection_of(["red-2", "blue-1", "other-05"])
    for top_k in (3, None):
        for hit in searcher.search(Query("red", selection=few, top_k=top_k, cutoff=-99)).hits:
            assert hit.score == pytest.approx(everyone[hit.uid], abs=1e-4)


def test_a_picture_finds_itself_and_its_like(searcher: Searcher) -> None:
    vector = searcher.photo_vector("red-blue")
    result = searcher.search(Query(like=(vector,), top_k=None))
    assert uids(result)[0] == "red-blue"
    outside = ENCODER.encode_images([picture("red", "blue")])[0]
    assert uids(searcher.search(Query(like=(outside,), top_k=1))) == ["red-blue"]


def test_not_holds_under_a_lower_cutoff_too(searcher: Searcher) -> None:
    for cutoff in (0.5, -100):
        result = searcher.search(Query("red", not_text=("blue",), top_k=None, cutoff=cutoff))
        assert "red-1" in uids(result)
        assert not {"red-blue", "blue-1"} & set(uids(result))


@pytest.mark.parametrize("cutoff", [float("nan"), float("-inf")])
def test_a_cutoff_that_is_no_number_is_refused(searcher: Searcher, cutoff: float) -> None:
    with pytest.raises(UsageError, match="cut-off"):
        searcher.search(Query("red", cutoff=cutoff))


def test_two_pictures_together_find_what_is_like_both(searcher: Searcher) -> None:
    both = (searcher.photo_vector("blue-1"), searcher.photo_vector("red-1"))
    assert uids(searcher.search(Query(like=both, top_k=1))) == ["red-blue"]


def test_text_and_picture_together(searcher: Searcher) -> None:
    green = searcher.photo_vector("green-1")
    assert uids(searcher.search(Query("red", like=(green,), top_k=1))) == ["red-green"]


def test_not_takes_out_what_shows_the_unwanted(searcher: Searcher) -> None:
    assert "red-blue" in uids(searcher.search(Query("red", top_k=None)))
    without = searcher.search(Query("red", not_text=("blue",), top_k=None))
    assert "red-blue" not in uids(without)
    assert {"red-1", "red-2", "red-green"} <= set(uids(without))
    neither = searcher.search(Query("red", not_text=("blue", "green"), top_k=None))
    assert set(uids(neither)) == {"red-1", "red-2"}


def test_not_pushes_below_the_cutoff_in_a_ranking(searcher: Searcher) -> None:
    result = searcher.search(Query("red", not_text=("blue",), top_k=100))
    score = {hit.uid: hit.score for hit in result.hits}
    assert score["red-blue"] < result.cutoff <= score["red-green"]
    assert {hit.uid for hit in result.matches} == set(
        uids(searcher.search(Query("red", not_text=("blue",), top_k=None)))
    )


def test_not_alone_returns_everything_else(searcher: Searcher) -> None:
    result = searcher.search(Query(not_text=("grey",), top_k=None))
    assert set(uids(result)) >= {"red-1", "blue-1", "green-1", "red-blue", "red-green"}
    assert "grey-1" not in uids(result)


def test_words_that_mean_nothing_to_the_encoder_are_never_searched(searcher: Searcher) -> None:
    result = searcher.search(Query("giraffe", top_k=5))
    assert result.hits == ()
    assert result.not_understood == ("giraffe",)
    partly = searcher.search(Query("red", not_text=("giraffe",), top_k=1))
    assert uids(partly) == ["red-1"]
    assert partly.not_understood == ("giraffe",)
    alone = searcher.search(Query(not_text=("giraffe",), top_k=None))
    assert alone.hits == ()


def test_the_result_says_which_path_ran(catalog: Catalog, index: ExactIndex) -> None:
    for engine in ("native", "numpy", "faiss"):
        same = ExactIndex(index._store, index._ids, engine=engine)
        result = Searcher(catalog, same, ENCODER).search(Query("red", top_k=4))
        assert result.engine.startswith(engine)
        assert set(uids(result)) == {"red-1", "red-2", "red-blue", "red-green"}


@pytest.mark.parametrize("query", [Query(), Query("  "), Query(not_text=("",))])
def test_a_query_for_nothing_is_refused(searcher: Searcher, query: Query) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        searcher.search(query)


@pytest.mark.parametrize("top_k", [0, -3])
def test_fewer_than_one_photo_is_refused(searcher: Searcher, top_k: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        searcher.search(Query("red", top_k=top_k))


def test_a_picture_that_is_no_vector_of_this_encoder_is_refused(searcher: Searcher) -> None:
    for bad in (np.ones(7, np.float32), np.full(64, np.nan, np.float32)):
        with pytest.raises(UsageError, match="example picture"):
            searcher.search(Query(like=(bad,)))


def test_vectors_of_photos_that_have_none(searcher: Searcher) -> None:
    with pytest.raises(UnknownPhoto, match="red-9") as error:
        searcher.photo_vector("red-9")
    assert "red-1" in error.value.hint
    with pytest.raises(SearchError, match="no vector"):
        searcher.photo_vector("not-embedded")


def test_an_index_of_another_encoder_is_refused(catalog: Catalog) -> None:
    other = ExactIndex(np.eye(8, dtype=np.float16), np.arange(8))
    with pytest.raises(EncoderError, match="8 dimensions"):
        Searcher(catalog, other, ENCODER)


def test_a_library_without_vectors_finds_nothing(catalog: Catalog) -> None:
    empty = ExactIndex(np.empty((0, 64), np.float16), np.empty(0, np.int64))
    searcher = Searcher(catalog, empty, ENCODER)
    grey = ENCODER.encode_images([picture("grey")])[0]
    for query in (Query("red"), Query("red", top_k=None), Query("red", not_text=("blue",)),
                  Query(like=(grey,))):  # fmt: skip
        result = searcher.search(query)
        assert result.hits == ()
        assert result.num_unindexed == len(catalog)


class Reddish(NullEncoder):
    """To it pictures are alike by their red alone."""

    RED = ENCODER.encode_images([picture("red")])[0]

    def query_of(self, vector: np.ndarray) -> np.ndarray:
        return self.RED * np.float32(vector @ self.RED)


def test_an_encoder_may_say_what_makes_pictures_alike(catalog: Catalog, index: ExactIndex) -> None:
    searcher = Searcher(catalog, index, Reddish())
    half = searcher.photo_vector("red-blue")
    found = uids(searcher.search(Query(like=(half,), top_k=4)))
    assert found[0] == "red-1"
    assert set(found) == {"red-1", "red-2", "red-blue", "red-green"}
    assert set(uids(searcher.search(Query(like=(half,), top_k=None)))) >= {"red-blue"}


class Seer(NullEncoder):
    """Sees blue directly: "sea" is decided by it alone, "bluish" by it beside the likeness."""

    BLUE = ENCODER.encode_images([picture("blue")])[0]

    def encode_text(self, text: str) -> TextEmbedding:
        if text == "sea":
            return TextEmbedding(self.BLUE, (text,), evidence=10 * self.BLUE, weight=0.0, cutoff=5)
        if text == "bluish":
            return TextEmbedding(self.BLUE, (text,), evidence=10 * self.BLUE, cutoff=8.0)
        return super().encode_text(text)


@pytest.fixture(scope="module")
def seer(catalog: Catalog, index: ExactIndex) -> Searcher:
    return Searcher(catalog, index, Seer())


def test_what_an_encoder_sees_directly_is_in_units_of_the_score(seer: Searcher) -> None:
    result = seer.search(Query("sea", top_k=None))
    assert result.cutoff == 5
    share = {uid: float(Seer.BLUE @ seer.photo_vector(uid)) for uid in uids(result)}
    assert uids(result) == ["blue-1", "red-blue"]
    for hit in result.hits:
        assert hit.score == pytest.approx(10 * share[hit.uid], abs=1e-3)


def test_evidence_adds_to_the_likeness_and_has_its_own_cutoff(seer: Searcher) -> None:
    likeness = {hit.uid: hit.score for hit in seer.search(Query("blue", top_k=100)).hits}
    result = seer.search(Query("bluish", top_k=100))
    assert result.cutoff == 8
    for hit in result.hits:
        seen = 10 * float(Seer.BLUE @ seer.photo_vector(hit.uid))
        assert hit.score == pytest.approx(likeness[hit.uid] + seen, abs=1e-2)


def test_evidence_serves_not_and_joins_a_picture(seer: Searcher) -> None:
    without = seer.search(Query("red", not_text=("sea",), top_k=None))
    assert "red-blue" not in uids(without)
    assert {"red-1", "red-2", "red-green"} <= set(uids(without))
    red = seer.photo_vector("red-1")
    assert uids(seer.search(Query("sea", like=(red,), top_k=1))) == ["red-blue"]


def test_a_text_without_a_vector_has_no_direction(index: ExactIndex) -> None:
    with pytest.raises(ValueError, match="no direction"):
        Background(index, ENCODER.calibration).text(TextEmbedding(None))


@pytest.mark.parametrize("shift", [-1.0, 2.5])
def test_a_shifted_cut_off_moves_what_matches_and_no_score(
    catalog: Catalog, index: ExactIndex, searcher: Searcher, shift: float
) -> None:
    moved = Searcher(catalog, index, ENCODER, shift)
    for text in ("red", "blue"):
        before, after = (one.search(Query(text, top_k=8)) for one in (searcher, moved))
        assert after.cutoff == pytest.approx(before.cutoff + shift)
        assert after.hits == before.hits
        assert (len(after.matches) < len(before.matches)) is (shift > 0)
    like = Query(like=(searcher.photo_vector("red-1"),))
    assert moved.search(like).cutoff == searcher.search(like).cutoff
