"""The Python API on real photos: ``PhotoSearch`` from an empty folder to an answer."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from photocraft_local import PhotoSearch, Settings
from photocraft_local.errors import (
    EncoderError,
    LibraryNotFound,
    NoVectors,
    QuestionNotUnderstood,
    UnknownPhoto,
    UsageError,
)


@pytest.fixture
def settings(tmp_path: Path, shared_cache: Path) -> Settings:
    return Settings(library=tmp_path / "library", cache=shared_cache, encoder="null")


@pytest.fixture
def photos(shared: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    names = ("DSCN0010", "DSCN0021", "DSCN0042", "no_exif")
    for name in names:
        shutil.copy(shared / "data" / "exif" / f"ia_{name}.jpg", folder)
    return folder


def test_nothing_is_made_before_the_first_index(settings: Settings) -> None:
    with PhotoSearch(settings) as search, pytest.raises(LibraryNotFound):
        search.status()
    assert not settings.library.exists()


def test_indexing_twice_changes_nothing_and_embeds_nothing(
    settings: Settings, photos: Path
) -> None:
    stages: list[str] = []
    with PhotoSearch(settings) as search:
        first = search.index(photos, progress=lambda stage, done, total: stages.append(stage))
        second = search.index(photos)
        third = search.index()
    assert (first.added, first.embedded, first.num_photos) == (4, 4, 4)
    assert "embed" in stages
    for again in (second, third):
        assert (again.added, again.embedded, again.unchanged) == (0, 0, 4)


def test_a_search_sees_what_was_indexed_after_the_one_before(
    settings: Settings, photos: Path, shared: Path
) -> None:
    with PhotoSearch(settings) as search:
        search.index(photos)
        assert len(search.search("green", top_k=99)) == 4
        shutil.copy(shared / "data" / "exif" / "me_Apple iPhone 4.jpg", photos)
        search.index(photos)
        assert len(search.search("green", top_k=99)) == 5
        (photos / "ia_no_exif.jpg").unlink()
        search.index(photos)
        found = search.search("green", top_k=99)
        assert len(found) == 4
        assert all("no_exif" not in str(f.photo.paths[0]) for f in found.photos)


def test_filters_hold_exactly_and_are_echoed(settings: Settings, photos: Path) -> None:
    with PhotoSearch(settings) as search:
        search.index(photos)
        found = search.search(after="2008-10-22T16:30", before="2008-11", near="Arezzo", km=5)
        assert [Path(f.photo.paths[0].decode()).name for f in found.photos] == [
            "ia_DSCN0021.jpg",
            "ia_DSCN0042.jpg",
        ]
        assert found.cutoff is None
        assert found.matches == found.photos
        assert "Arezzo" in found.filter
        assert "2008-10-22T16:30" in found.filter
        italy = 'country == "Italy"'
        looked = search.search("grey", after="2008-10-22T16:30", where=italy, top_k=99)
        assert {f.photo.uid for f in looked.photos} == {f.photo.uid for f in found.photos}
        assert looked.num_candidates == 2


def test_words_for_time_are_read_against_the_stated_today(settings: Settings, photos: Path) -> None:
    with PhotoSearch(settings, today=date(2009, 5, 1)) as search:
        search.index(photos)
        assert len(search.search(when="last year")) == 3
    with PhotoSearch(settings, today=date(2011, 5, 1)) as search:
        assert len(search.search(when="last year")) == 0


def test_like_takes_a_uid_a_crop_and_a_path(settings: Settings, photos: Path) -> None:
    with PhotoSearch(settings) as search:
        search.index(photos)
        uid = next(p.uid for p in search.list() if b"0042" in p.paths[0])
        for example in (uid, photos / "ia_DSCN0042.jpg"):
            assert search.search(like=[example], top_k=1).photos[0].photo.uid == uid
        with pytest.raises(UnknownPhoto):
            search.search(like=["nothing"])


def test_one_example_and_one_unwanted_look_need_no_list(settings: Settings, photos: Path) -> None:
    """A bare text would otherwise be taken apart into its letters."""
    with PhotoSearch(settings) as search:
        search.index(photos)
        uid = next(p.uid for p in search.list() if b"0042" in p.paths[0])
        for example in (uid, photos / "ia_DSCN0042.jpg"):
            assert search.search(like=example) == search.search(like=[example])
        assert search.search(not_text="dog") == search.search(not_text=["dog"])


def test_an_answer_holds_whole_photos_evidence_and_its_trajectory(
    settings: Settings, photos: Path
) -> None:
    seen: list[Any] = []
    with PhotoSearch(settings) as search:
        search.index(photos)
        answer = search.ask("photos from Arezzo in October 2008", on_step=seen.append)
        assert len(answer) == 3
        assert all(piece.met for photo in answer.photos for piece in photo.evidence)
        assert tuple(seen) == answer.steps
        assert answer.trajectory is not None
        assert answer.trajectory.is_file()
        assert [record.question for record in search.memory.episodes.list()] == [answer.question]
        empty = search.ask("photos from Arezzo in 1999")
        assert (len(empty), bool(empty.text or empty.reason)) == (0, True)
        with pytest.raises(QuestionNotUnderstood):
            search.ask("how do I bake bread?")


def test_forget_takes_traces_and_memories_too(settings: Settings, photos: Path) -> None:
    with PhotoSearch(settings) as search:
        search.index(photos)
        answer = search.ask("photos from Arezzo in October 2008")
        uid = answer.photos[0].photo.uid
        assert search.forget(uid) == uid
        assert search.memory.list("episodes") == []
        assert {skill.origin for skill in search.memory.skills.list()} == {"seed"}
        assert answer.trajectory is not None
        assert not answer.trajectory.exists()
        with pytest.raises(UnknownPhoto):
            search.show(uid)
        assert len(search.ask("photos from Arezzo in October 2008")) == 2


def test_asking_for_fewer_than_one_photo_is_refused(settings: Settings, photos: Path) -> None:
    with PhotoSearch(settings) as search:
        search.index(photos)
        with pytest.raises(UsageError, match="at least 1"):
            search.search("red", top_k=0)


def test_after_close_the_next_call_opens_the_library_again(
    settings: Settings, photos: Path
) -> None:
    search = PhotoSearch(settings)
    search.index(photos)
    search.close()
    assert search.status().num_photos == 4
    search.close()


def test_what_metadata_decides_opens_neither_vectors_nor_encoder(
    settings: Settings, photos: Path, tmp_path: Path
) -> None:
    with PhotoSearch(settings) as search:
        search.index(photos)
    shutil.rmtree(settings.library / "spaces")
    elsewhere = replace(settings, encoder=str(tmp_path / "no-such-encoder"))
    picture = photos / "ia_DSCN0010.jpg"
    for one in (settings, elsewhere):
        with PhotoSearch(one) as search:
            assert len(search.ask("photos from 2008")) == 3
            assert len(search.ask("the first two photos taken with a Nikon")) == 2
            assert search.ask("where was this", pictures=[picture]).text.startswith("Arezzo, Italy")
            assert search.ask("how many days was I in Italy in 2008").text.startswith("1 day: ")
    for question in ("a dog", "photos from 2008 without people", "the day after the wedding"):
        with PhotoSearch(settings) as search, pytest.raises(NoVectors, match="embedded"):
            search.ask(question)
        with PhotoSearch(elsewhere) as search, pytest.raises(EncoderError):
            search.ask(question)
