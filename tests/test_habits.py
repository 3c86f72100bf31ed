"""Seasons and weeks as the person counts them: the same in searches, questions, plans, tools."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from PIL import Image

from photocraft_local import PhotocraftError, PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app import AskAnswer, SearchAnswer

TODAY = date(2024, 3, 15)
SATURDAY, SUNDAY, MONDAY = "2021-01-09", "2021-01-10", "2021-01-11"
JULY = "2021-07-10"


@pytest.fixture
def settings(tmp_path: Path, shared_cache: Path) -> Settings:
    """Of a library with a photo on each of the four days."""
    album = tmp_path / "album"
    album.mkdir()
    for number, day in enumerate((SATURDAY, SUNDAY, MONDAY, JULY)):
        picture = Image.new("RGB", (64, 48), (40 * number, 90, 160))
        exif = picture.getexif()
        exif.get_ifd(0x8769)[0x9003] = day.replace("-", ":") + " 12:00:00"
        picture.save(album / f"{day}.jpg", exif=exif)
    usual = Settings(library=tmp_path / "library", cache=shared_cache, encoder="null")
    with PhotoSearch(usual, today=TODAY) as photos:
        photos.index(album)
    return usual


@pytest.fixture
def usual(settings: Settings) -> Iterator[PhotoSearch]:
    with PhotoSearch(settings, today=TODAY) as photos:
        yield photos


@pytest.fixture
def southern(settings: Settings) -> Iterator[PhotoSearch]:
    values = {name: getattr(settings, name) for name in ("library", "cache", "encoder")}
    changed = Settings(**values, hemisphere="south", first_weekday="sunday")
    with PhotoSearch(changed, today=TODAY) as photos:
        yield photos


def days(found: AskAnswer | SearchAnswer) -> set[str]:
    taken = [each.photo.taken for each in found.photos]
    return {time.local.date().isoformat() for time in taken if time}


def test_a_search_takes_seasons_as_they_are_there(
    usual: PhotoSearch, southern: PhotoSearch
) -> None:
    assert days(usual.ask("photos from summer 2021")) == {JULY}
    assert days(southern.ask("photos from winter 2021")) == {JULY}
    assert days(southern.ask("photos from last winter, not in January")) == set()
    assert days(southern.search(when="in winter")) == {JULY}


def test_a_week_begins_where_it_does_for_the_person(
    usual: PhotoSearch, southern: PhotoSearch
) -> None:
    question = "the week of the first photo of 2021"
    assert days(usual.ask(question)) == {SATURDAY, SUNDAY}
    assert days(southern.ask(question)) == {SATURDAY}
    after = "the week after the first photo of 2021"
    assert days(usual.ask(after)) == {MONDAY}
    assert days(southern.ask(after)) == {SUNDAY, MONDAY}


def test_a_plan_and_a_trace_keep_them(southern: PhotoSearch) -> None:
    text = southern.plan("photos from winter 2021").text
    assert days(southern.ask(plan=text)) == {JULY}
    answer = southern.ask("photos from winter 2021")
    assert answer.trajectory is not None
    record = trajectory.load(answer.trajectory)
    assert (record.config["hemisphere"], record.config["first_weekday"]) == ("south", "sunday")
    assert days(southern.resume(answer.trajectory)) == {JULY}


@pytest.mark.parametrize("wrong", [{"hemisphere": "east"}, {"first_weekday": "someday"}])
def test_other_words_are_an_error_that_names_the_setting(wrong: dict[str, str]) -> None:
    with pytest.raises(PhotocraftError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]
