"""Words for things that photos show are no places, whatever language and sentence they stand in.

The words are those that the default encoder knows; the library has photos in many places, which
makes names count more.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from phrase_atlas import made_atlas, told

import photocraft_local
from photocraft_local.places.atlas import Atlas
from photocraft_local.places.gazetteer import Gazetteer

DATA = Path(photocraft_local.__file__).parent / "embeddings" / "labels" / "data"
SENTENCES = (  # by column of the glossary
    ("{}", "{} 2019", "photos of {}", "in the {}"),
    ("{}", "{} 2019", "Fotos von {}", "im {}", "mit {}"),
    ("{}", "photos de {}", "dans le {}"),
    ("{}", "fotos de {}", "en el {}"),
    ("{}", "{}的照片", "在{}"),
)
# Cities in every sentence that says "in" of them, and a place that the made life has named.
PLACES_TOO = {"Münster", "比萨", "Büro", "办公室"}


@pytest.fixture(scope="module")
def atlas(gazetteer: Gazetteer) -> Atlas:
    return made_atlas(gazetteer)


@pytest.mark.parametrize("column", range(5), ids=("en", "de", "fr", "es", "zh"))
def test_words_for_looks_are_no_places(atlas: Atlas, column: int) -> None:
    lines = (DATA / "glossary.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    things = {word.strip() for row in rows for word in row[column].split("|")} - PLACES_TOO
    things = {word for word in things if word.strip("- ")}
    assert len(things) > 150
    asked = [frame.format(word) for word in sorted(things) for frame in SENTENCES[column]]
    assert {text: told(found) for text in asked if (found := atlas.find_places(text))} == {}


ANIMALS_AND_DISHES = """
chihuahua|Labrador retriever|kerry blue terrier|brussels griffon|brittany spaniel|angora rabbit
komodo dragon|lhasa apso|shetland sheepdog|staffordshire bull terrier|cardigan welsh corgi
chesapeake bay retriever|guinea pig|china cabinet|china cup|bell tower|lion|vine snake|mobile home
panama hat|brussels sprouts|boston terrier|bordeaux wine|cheddar cheese|java sparrow|french bulldog
jersey cow|turkey sandwich|cologne bottle|lima bean|chili con carne|hamburger|frankfurter|danish
"""


def test_animals_and_dishes_named_after_places_are_none(atlas: Atlas) -> None:
    frames = ("{}", "{} 2019", "photos of {}", "show me a {}", "a {} in the garden", "{} and a dog")
    names = ANIMALS_AND_DISHES.replace("\n", "|").strip("|").split("|")
    asked = [frame.format(name) for name in names for frame in frames]
    assert {text: told(found) for text in asked if (found := atlas.find_places(text))} == {}
