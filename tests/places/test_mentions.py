"""Which words of a question name a place: a table of both kinds, and captions of real photos."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from photocraft_local.places.gazetteer import Gazetteer

PLACES = [
    ("dogs in Lisbon last summer", ["Lisbon"]),
    ("Dogs near Zermatt", ["Zermatt"]),
    ("a trip to Paris, Texas", ["Paris, Texas"]),
    ("in Lisbon and Porto", ["Lisbon", "Porto"]),
    ("Basel or Zürich in winter", ["Basel", "Zürich"]),
    ("New York City at night", ["New York City"]),
    ("from San Francisco to Los Angeles", ["San Francisco", "Los Angeles"]),
    ("photos of Amalfi", ["Amalfi"]),
    ("Rio de Janeiro carnival", ["Rio de Janeiro"]),
    ("St. Gallen in the snow", ["St. Gallen"]),
    ("a hotel in Washington, D.C.", ["Washington, D.C"]),
    ("Lisbon's old town", ["Lisbon"]),
    ("Cambridge, MA in fall", ["Cambridge, MA"]),
    ("Sydney Opera House", ["Sydney Opera House"]),
    ("the Brandenburg Gate", ["Brandenburg Gate"]),
    ("photos from Asia", ["Asia"]),
    ("photos from South America", ["South America"]),
    ("an Africa trip", ["Africa"]),
    ("eiffel tower at night", ["eiffel tower"]),
    ("Kinder in Süddeutschland", ["Deutschland"]),
    ("Rome, not Florence", ["Rome", "Florence"]),
    ("on the beach in Rio", ["Rio"]),
    ("the beach in Nice", ["Nice"]),
    ("we went to Bath", ["Bath"]),
    ("a street in Reading", ["Reading"]),
    ("holiday in Turkey", ["Turkey"]),
    ("our China trip", ["China"]),
    ("China 2019", ["China"]),
    ("dog on a beach in the Netherlands", ["the Netherlands"]),
    ("sheep in the Scottish hills, Scotland", ["Scotland"]),
    ("wine in Tuscany", ["Tuscany"]),
    ("boats on Lake Garda", ["Lake Garda"]),
    ("hiking in Mallorca", ["Mallorca"]),
    ("a bridge in the US", ["US"]),
    ("castles in the UK", ["UK"]),
    ("May in Paris", ["Paris"]),
    ("Victoria and Paul in London", ["London"]),
    ("DOG IN LISBON", ["LISBON"]),
    ("dogs near porto", ["porto"]),
    ("sunset in new york", ["new york"]),
    ("food in italy", ["italy"]),
    ("tokyo at night", ["tokyo"]),
    ("lisbon june 2021", ["lisbon"]),
    ("dogs porto may 2023", ["porto"]),
    ("2021 berlin", ["berlin"]),
    ("last summer lisbon", ["lisbon"]),
    ("lisbon photos", ["lisbon"]),
    ("photos lisbon", ["lisbon"]),
    ("italy photos", ["italy"]),
    ("tokyo dogs", ["tokyo"]),
    ("new york dogs", ["new york"]),
    ("dogs japan", ["japan"]),
    ("photos from the usa", ["usa"]),
    ("the uk", ["uk"]),
    ("in the uk", ["uk"]),
    ("NYC", ["NYC"]),
    ("nyc 2021", ["nyc"]),
    ("Florence", ["Florence"]),
    ("Florence in 2020", ["Florence"]),
    ("Florence, September 2020", ["Florence"]),
    ("Florence or Siena", ["Florence", "Siena"]),
    ("Turkey and Georgia in 2019", ["Turkey", "Georgia"]),
    ("America trip", ["America"]),
    ("Hunde am Strand bei Lissabon", ["Lissabon"]),
    ("in Essen im Mai", ["Essen"]),
    ("Fotos aus der Toskana", ["Toskana"]),
    ("Urlaub in der Schweiz", ["Schweiz"]),
    ("photos à Paris en mai", ["Paris"]),
    ("vacances en Italie", ["Italie"]),
    ("plage près de Nice", ["Nice"]),
    ("fotos en Nueva York", ["Nueva York"]),
    ("playa cerca de Barcelona", ["Barcelona"]),
    ("en España", ["España"]),
    ("在里斯本的照片", ["里斯本"]),
    ("2019年在东京拍的照片", ["东京"]),
    ("去年夏天在意大利", ["意大利"]),
]


@pytest.mark.parametrize(("text", "named"), PLACES)
def test_places_in_a_question(gazetteer: Gazetteer, text: str, named: list[str]) -> None:
    mentions = gazetteer.find_in_text(text)
    assert [mention.text for mention in mentions] == named
    for mention in mentions:
        assert mention.side or text[mention.start : mention.end] == mention.text
        assert mention.areas


NO_PLACE = [
    "photos in March",
    "in May",
    "in August and on Sunday",
    "In Spring",
    "at Christmas",
    "turkey on a plate",
    "a turkey in the garden",
    "china plates in a cupboard",
    "nice photos",
    "Nice photos of flowers",
    "a nice day in the mountains",
    "orange cat",
    "Orange juice",
    "a bath in the bathroom",
    "Reading a book",
    "people reading in the park",
    "a mobile phone",
    "Mobile phones",
    "march through the city",
    "split wood",
    "Split pea soup",
    "a bar at night",
    "police car",
    "cork on a bottle",
    "a ham sandwich",
    "java code on a screen",
    "cologne bottle",
    "a polish dog",
    "German shepherd",
    "Thai food",
    "French fries",
    "Swiss cheese",
    "a Persian cat",
    "jersey number ten",
    "guinea pig",
    "panama hat",
    "chihuahua in a bag",
    "brussels sprouts",
    "Victoria smiling",
    "Anna and Paul at the party",
    "Charlotte with a dog",
    "Jordan playing basketball",
    "Austin dancing",
    "with Georgia and Victoria",
    "mountains and hills",
    "Mountains by the sea",
    "near the water",
    "in the grass",
    "at the side of the road",
    "in the pool",
    "from the window",
    "at home",
    "in hospital",
    "near trees",
    "in and of the on at",
    "Show me all dogs",
    "beim Essen",
    "Essen auf dem Tisch",
    "Hunde am Strand",
    "im Wald bei Regen",
    "Blumen in Gärten",
    "des fleurs dans le jardin",
    "un chien à la plage",
    "perros en la playa",
    "一只小狗在公园",
    "海边的日照",
    "Michael Jordan with a ball",
    "Paris Hilton",
    "Oxford Street",
    "Boston terrier",
    "Manchester United shirt",
    "screenshots of text",
    "turkey",
    "turkey 2019",
    "china plates 2021",
    "nice photos",
    "party photos",
    "quiche photos",
    "wedding 2020",
    "reading 2021",
    "photos of us",
    "us at the beach",
    "Turkey in the oven",
    "Turkey and cranberries",
    "IMG_2021.jpg",
    "",
    "?!…",
]


@pytest.mark.parametrize("text", NO_PLACE)
def test_no_place_in_it(gazetteer: Gazetteer, text: str) -> None:
    assert [mention.text for mention in gazetteer.find_in_text(text)] == []


def test_captions_of_real_photos_name_only_what_they_name(
    gazetteer: Gazetteer, shared: Path
) -> None:
    """Some 800 captions and labels, as written and in lower case."""
    texts: set[str] = set()
    with (shared / "data" / "captioned" / "captions.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            texts |= {row[f"caption_{number}"] for number in range(1, 6)}
            texts |= set(row["labels"].split("|"))
    assert len(texts) > 500
    named = {
        mention.text.casefold()
        for text in texts
        for written in (text, text.lower())
        for mention in gazetteer.find_in_text(written)
    }
    assert named <= {"bangkok", "england", "detroit", "eiffel tower"}


def test_a_namesake_near_the_photos_comes_first(gazetteer: Gazetteer) -> None:
    (mention,) = gazetteer.find_in_text("dogs in Córdoba", near_points=[(37.88, -4.78)])
    assert mention.areas[0].country_code == "ES"


def test_a_long_question_is_read_in_time(gazetteer: Gazetteer) -> None:
    text = "in Lisbon near the San " * 430
    assert len(text) > 9_000
    assert len(gazetteer.find_in_text(text)) == 430
