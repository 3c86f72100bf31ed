"""Places that the person named: what may be a name, how they are kept, that nothing loses them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from small_album import Album, Indexer

from photocraft_local.errors import UsageError
from photocraft_local.library.folder import DATABASE
from photocraft_local.library.library import Library
from photocraft_local.places.named import NamedPlace, named_place
from photocraft_local.settings import Settings

HOME = named_place("home", 38.7139, -9.1394)


def test_named_places_are_kept_by_name(library: Library) -> None:
    library.named_places.add(named_place("  The   Cabin ", 38.8, -9.4, 1.5))
    library.named_places.add(HOME)
    assert library.named_places.list() == [HOME, NamedPlace("The Cabin", 38.8, -9.4, 1.5)]
    assert library.named_places.remove("the cabin") == "The Cabin"
    assert library.named_places.list() == [HOME]


@pytest.mark.parametrize("again", ["home", "HOME", " Home ", "hòme"])
def test_a_name_is_given_once(library: Library, again: str) -> None:
    library.named_places.add(HOME)
    with pytest.raises(UsageError, match="already a place named 'home'") as error:
        library.named_places.add(named_place(again, 1, 1))
    assert "photocraft places remove" in error.value.hint
    assert library.named_places.list() == [HOME]


def test_removing_what_is_not_there_names_what_is(library: Library) -> None:
    with pytest.raises(UsageError, match="no place of yours is named 'work'"):
        library.named_places.remove("work")
    library.named_places.add(HOME)
    with pytest.raises(UsageError) as error:
        library.named_places.remove("work")
    assert "home" in error.value.hint


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "no letter"),
        ("  ", "no letter"),
        ("2021", "no letter"),
        ("!?", "no letter"),
        ("a\x1b[31mb", "control character"),
        ("a\u202eb", "control character"),
        ("x" * 61, "61 characters"),
        ("in", "meaning of its own"),
        ("The", "meaning of its own"),
        ("January", "meaning of its own"),
        ("north of", "meaning of its own"),
    ],
)
def test_what_cannot_be_a_name(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        named_place(name, 1, 1)
    assert error.value.hint
    assert error.value.message.isprintable()


@pytest.mark.parametrize(
    "name", ["grandma's", "Oma & Opa", "奶奶家", "Büro 2", "x", "'; DROP TABLE"]
)
def test_what_can_be_a_name(library: Library, name: str) -> None:
    library.named_places.add(named_place(name, 1, 1))
    assert [place.name for place in library.named_places.list()] == [name]


@pytest.mark.parametrize(
    ("latitude", "longitude", "radius", "message"),
    [
        (90.1, 0, 1, "latitude of 90.1"),
        (-91, 0, 1, "latitude"),
        (0, 180.5, 1, "longitude of 180.5"),
        (float("nan"), 0, 1, "latitude of nan"),
        (0, float("inf"), 1, "longitude"),
        (0, 0, 0, "radius is 0 km"),
        (0, 0, -1, "radius"),
        (0, 0, 201, "radius is 201 km"),
        (0, 0, float("nan"), "radius"),
    ],
)
def test_what_cannot_be_a_position(
    latitude: float, longitude: float, radius: float, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as error:
        named_place("home", latitude, longitude, radius)
    assert "goes from" in error.value.hint


def test_nothing_but_remove_loses_them(library: Library, album: Album, index: Indexer) -> None:
    album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    index()
    library.named_places.add(HOME)
    first = next(iter(library.photos()))
    library.forget(first.uid)
    library.remove_root(os.fsencode(album.folder))
    library.compact()
    index()
    assert library.named_places.list() == [HOME]


def test_a_library_of_the_version_before_gets_the_table(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    settings = Settings(library=folder)
    with Library.open(folder, create=True, settings=settings) as library:
        generation = library.generation()
    older = sqlite3.connect(folder / DATABASE)  # as it was before the second migration
    older.execute("DROP TABLE named_places")
    older.execute("DELETE FROM migrations WHERE name = '_m0002_named_places'")
    older.commit()
    older.close()
    with Library.open(folder, settings=settings) as library:
        assert library.generation() == generation
        assert library.named_places.list() == []
        library.named_places.add(HOME)
    with Library.open(folder, settings=settings) as library:
        assert library.named_places.list() == [HOME]


def test_naming_a_place_makes_a_new_generation(library: Library) -> None:
    before = library.generation()
    library.named_places.add(HOME)
    assert library.generation() > before
