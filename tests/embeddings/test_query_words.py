"""What of a query is searched, in English, and what is named as not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from photocraft_local.embeddings.labels.artefacts import Artefacts
from photocraft_local.embeddings.labels.function_words import SILENT_WORDS
from photocraft_local.embeddings.labels.glossary import load_glossary
from photocraft_local.embeddings.labels.objects import ThingReader
from photocraft_local.embeddings.labels.sentences import SentenceModel
from photocraft_local.embeddings.labels.spelling import Speller, distance
from photocraft_local.embeddings.labels.words import QueryReader


@pytest.fixture(scope="module")
def reader(shared_cache: Path) -> QueryReader:
    lexicon = Artefacts(shared_cache).path("lexicon.txt").read_text("utf-8")
    return QueryReader(SentenceModel().rank, frozenset(lexicon.split()))


@pytest.mark.parametrize(
    ("query", "english"),
    [
        ("Hund am Strand", "dog beach"),
        ("roter Bus", "red bus"),
        ("rote Blumen im Garten", "red flower garden"),
        ("Baeume", "tree"),
        ("Bergsee", "mountain lake"),
        ("Kindergeburtstag", "child birthday"),
        ("das Fahrrad", "bicycle"),
        ("le chat noir", "cat black"),
        ("femme avec parapluie", "woman umbrella"),
        ("feux d'artifice", "fireworks"),
        ("un perro en la playa", "dog beach"),
        ("árboles verdes", "tree green"),
        ("arbol", "tree"),
        ("una tienda de campaña", "tent"),
        ("沙滩上的狗", "beach dog"),
        ("狗和猫", "dog cat"),
    ],
)
def test_german_french_spanish_and_chinese_are_translated(
    reader: QueryReader, query: str, english: str
) -> None:
    read = reader.read(query)
    assert read.english == english
    assert read.not_understood == ()


@pytest.mark.parametrize(
    "query",
    [
        "a dog on the beach",
        "two skateboarders",
        "kind dog",
        "lit candles",
        "a man in a tie",
        "pastel colours",
        "stop sign",
        "giraffe",
        "a foggy skatepark",
        "see the old boot",
        "my son and a con man",
    ],
)
def test_english_is_left_as_it_is(reader: QueryReader, query: str) -> None:
    read = reader.read(query)
    assert read.english == query
    assert read.not_understood == ()


@pytest.mark.parametrize(
    ("query", "english", "lost"),
    [
        ("asdfqwer", "", ("asdfqwer",)),
        ("dog asdfqwer", "dog", ("asdfqwer",)),
        ("собака на пляже", "", ("собака", "на", "пляже")),
        ("il cane sulla spiaggia", "", ("il", "cane", "sulla", "spiaggia")),
        ("犬と猫", "", ("犬", "と", "猫")),
        ("perro qwertz", "dog", ("qwertz",)),
        ("狗龘", "dog", ("龘",)),
    ],
)
def test_what_is_not_known_is_named_and_not_searched(
    reader: QueryReader, query: str, english: str, lost: tuple[str, ...]
) -> None:
    read = reader.read(query)
    assert read.english == english
    assert read.not_understood == lost


@pytest.mark.parametrize("query", ["", "   ", "the of", "photos", "?!", "und der"])
def test_a_query_without_a_picture_in_it_has_nothing_to_search(
    reader: QueryReader, query: str
) -> None:
    assert reader.read(query).english == ""


def test_words_are_named_as_they_were_typed(reader: QueryReader) -> None:
    read = reader.read("Ein HUND mit Zrxqv")
    assert read.understood == ("HUND",)
    assert read.not_understood == ("Zrxqv",)


def test_every_caption_word_of_ordinary_english_is_understood(
    reader: QueryReader, shared: Path
) -> None:
    lines = (shared / "data/captioned/queries.csv").read_text("utf-8").splitlines()[1:]
    words = {word.strip('."').lower() for line in lines for word in line.split(",")[2].split()}
    lost = {word for word in words if reader.read(word).not_understood}
    assert len(lost) < 0.03 * len(words), sorted(lost)


def test_the_glossary_translates_into_words_that_the_model_knows(reader: QueryReader) -> None:
    for table in load_glossary().entries.values():
        for english in set(table.values()) - {"-"}:
            assert not reader.read(f"the {english}").not_understood, english


@pytest.mark.parametrize(
    ("query", "english"),
    [
        ("Auto", "car"),
        ("ein rotes Auto", "red car"),
        ("auto", "car"),
        ("auto repair shop", "auto repair shop"),
        ("Kind", "child"),
        ("a kind dog", "a kind dog"),
        ("Leute", "person"),
        ("lit", "bed"),
        ("a lit candle", "a lit candle"),
        ("chaises", "chair"),
        ("four", "oven"),
        ("four dogs", "four dogs"),
        ("brosse à dents", "toothbrush"),
        ("bouche d'incendie", "fire hydrant"),
        ("micro-ondes", "microwave"),
        ("cerf-volant", "kite"),
        ("cepillo de dientes", "toothbrush"),
        ("Waschbecken", "sink"),
        ("Handtaschen", "handbag"),
        ("móvil", "cell phone"),
        ("剪刀", "scissors"),
        ("西兰花", "broccoli"),
    ],
)
def test_a_thing_is_known_in_each_language_also_where_english_has_the_word(
    reader: QueryReader, query: str, english: str
) -> None:
    assert reader.read(query).english == english


@pytest.fixture(scope="module")
def spelling_reader(shared_cache: Path) -> QueryReader:
    lexicon = Artefacts(shared_cache).path("lexicon.txt").read_text("utf-8")
    names = ThingReader(SILENT_WORDS).vocabulary
    return QueryReader(SentenceModel().rank, frozenset(lexicon.split()), names)


@pytest.mark.parametrize(
    ("query", "english", "told"),
    [
        ("bycicles", "bicycles", "bycicles (read as bicycles)"),
        ("a girrafe", "a giraffe", "girrafe (read as giraffe)"),
        ("elephnats", "elephants", "elephnats (read as elephants)"),
        ("keybord", "keyboard", "keybord (read as keyboard)"),
        ("red unbrella", "red umbrella", "unbrella (read as umbrella)"),
        ("two motorcicles", "two motorcycles", "motorcicles (read as motorcycles)"),
        ("skatebord", "skateboard", "skatebord (read as skateboard)"),
        ("zebars", "zebras", "zebars (read as zebras)"),
    ],
)
def test_a_misspelt_thing_is_read_as_it_was_meant_and_told(
    spelling_reader: QueryReader, query: str, english: str, told: str
) -> None:
    read = spelling_reader.read(query)
    assert read.english == english
    assert told in read.understood
    assert read.not_understood == ()


@pytest.mark.parametrize(
    "query", ["asdfqwer", "xqzt", "Bycicles", "qwertyuiopas", "zzzzzzz", "собака", "blorptang"]
)
def test_what_is_near_no_known_word_stays_not_understood(
    spelling_reader: QueryReader, query: str
) -> None:
    assert spelling_reader.read(query).not_understood == (query,)


@pytest.mark.parametrize(
    "query",
    ["a dog on the beach", "lit candles", "kind dog", "pastel house", "sandbox", "stoplight"],
)
def test_correct_words_are_left_alone(spelling_reader: QueryReader, query: str) -> None:
    read = spelling_reader.read(query)
    assert read.english == query
    assert not any("read as" in words for words in read.understood)


def test_distance_counts_slips() -> None:
    pairs = {
        ("bus", "bus"): 0,
        ("", "abc"): 3,
        ("hrose", "horse"): 1,
        ("ab", "ba"): 1,
        ("a", "b"): 1,
    }
    assert {pair: distance(*pair) for pair in pairs} == pairs
    assert distance("bycicles", "bicycles") == 2
    assert Speller(["horse", "house"]).nearest("hoxse") is None  # two are equally near
