"""What questions say about places: a table in five languages, and what must hold for any place.

``place_phrases.tsv``: a question, a tab, what it says about places ("-": nothing), written as
``phrase_atlas.told`` does. The atlas is that of a made life.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from phrase_atlas import made_atlas, made_visits, told

from photocraft_local.errors import PlaceNotFound
from photocraft_local.places.atlas import Atlas
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.places.phrases import find_places

_TABLE = Path(__file__).with_name("place_phrases.tsv").read_text("utf-8").splitlines()
ROWS = [tuple(line.split("\t")) for line in _TABLE if line and not line.startswith("#")]
NOTHING = [text for text, meaning in ROWS if meaning == "-"]


@pytest.fixture(scope="module")
def atlas(gazetteer: Gazetteer) -> Atlas:
    return made_atlas(gazetteer)


def test_the_table_is_as_large_as_it_claims() -> None:
    assert len(ROWS) == len({text for text, _ in ROWS})
    assert len(ROWS) >= 350
    assert len(NOTHING) >= 110


@pytest.mark.parametrize(("text", "meaning"), ROWS)
def test_phrases(atlas: Atlas, text: str, meaning: str) -> None:
    phrases = atlas.find_places(text)
    assert (told(phrases) or "-") == meaning
    ends = 0
    for phrase in phrases:
        assert ends <= phrase.start < phrase.end <= len(text)
        assert text[phrase.start : phrase.end] == phrase.text
        assert bool(phrase.spots) != bool(phrase.problem)
        ends = phrase.end


def test_every_name_of_an_expression_is_read_as_the_same_place(atlas: Atlas) -> None:
    """The filter looks up the name that the phrase gives it, and must find the same area."""
    from photocraft_local.places.ranking import town_among

    for text, _ in ROWS:
        for phrase in atlas.find_places(text):
            for spot in phrase.spots:
                for one in filter(None, (spot, spot.to)):
                    found = atlas.find(one.name)
                    assert one.area in (found[0], town_among(found)), (text, one.name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from the trip to Japan in spring", "from the trip to Japan"),
        ("photos taken in Porto, please", "taken in Porto"),
        ("all but not in Portugal please", "but not in Portugal"),
        ("cats within 3 km of the Eiffel Tower at night", "within 3 km of the Eiffel Tower"),
        ("Hunde in der Nähe von München im Mai", "in der Nähe von München"),
        ("除了里斯本以外的照片", "除了里斯本以外的"),
        ("Lisbon, Porto and Sintra in 2019", "Lisbon, Porto and Sintra"),
        ("our Italy holiday 2019", "our Italy holiday"),
    ],
)
def test_the_small_words_belong_to_the_phrase(atlas: Atlas, text: str, words: str) -> None:
    assert [phrase.text for phrase in atlas.find_places(text)] == [words]


def test_where_the_photos_are_decides_and_is_told(gazetteer: Gazetteer) -> None:
    (plain,) = find_places("Córdoba", gazetteer)
    assert plain.areas[0].country_code == "AR"
    assert plain.ambiguous
    assert "the larger one" in plain.notes[0]

    from photocraft_local.places.visited import Visited

    (here,) = find_places("Córdoba", _Ranked(gazetteer, Visited.at([(37.88, -4.78)])))
    assert here.areas[0].country_code == "ES"
    assert here.ambiguous
    assert "where photos of yours are" in here.notes[0]
    assert "Argentina" in here.notes[0]
    assert here.to_expression() == 'place("Córdoba")'


class _Ranked:
    def __init__(self, gazetteer: Gazetteer, visited: object) -> None:
        self.visited = visited
        self.find_in_text = lambda text: gazetteer.mentioned(text, visited)  # type: ignore[arg-type]
        self.find = lambda name: gazetteer.found(name, visited)  # type: ignore[arg-type]


def test_a_misspelt_name_is_only_read_where_photos_are(atlas: Atlas, gazetteer: Gazetteer) -> None:
    (phrase,) = atlas.find_places("photos from Lisobn")
    assert phrase.to_expression() == 'place("Lisbon, Portugal")'
    assert phrase.notes == ("'Lisobn' is read as Lisbon, Portugal, where photos of yours are",)
    assert find_places("photos from Lisobn", gazetteer) == []
    assert atlas.find_places("photos from Brlin") == []  # no photo of Berlin
    assert atlas.find_places("ports at night") == []
    assert atlas.find_places("in the ports") == []


def test_home_is_refused_as_long_as_no_place_has_the_name(gazetteer: Gazetteer) -> None:
    nameless = Atlas(lambda: gazetteer, lambda: (), lambda: made_visits(gazetteer))
    for text in ("photos I took at home", "zu Hause", "en casa", "在家", "chez nous"):
        (phrase,) = nameless.find_places(text)
        assert phrase.spots == ()
        assert "no place of yours is named 'home'" in phrase.problem
        assert "photocraft places add home" in phrase.hint
        assert nameless.find_in_text(text) == []
    with pytest.raises(PlaceNotFound, match="'home'"):
        nameless.find("home")


def test_own_names_do_not_open_the_gazetteer() -> None:
    def closed() -> Gazetteer:
        raise AssertionError("the gazetteer was opened")

    from photocraft_local.places.named import named_place

    place = named_place("Home", 38.7, -9.1)
    assert Atlas(closed, lambda: (place,)).find("zu Hause") == [place.area()]


@pytest.mark.parametrize(
    "text",
    ["", "?!…", "🏖️" * 50, "مرحبا", "'; DROP TABLE photos; --", "in " * 4000, "not " * 3000,
     "within " * 2000, "Lisbon or " * 400, f"Lisbon{' ' * 3000}x Portugal",
     "9" * 5000, "between and between and", "离" * 3000],
)  # fmt: skip
def test_hostile_texts_are_read_in_time(atlas: Atlas, text: str) -> None:
    for phrase in atlas.find_places(text):
        assert text[phrase.start : phrase.end] == phrase.text
