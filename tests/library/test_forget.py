"""Forgetting leaves no trace of a photo; compaction gives back what deleted photos held."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_album import Album, Indexer

from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.errors import UnknownPhoto
from photocraft_local.library.forget import Forgotten, remember
from photocraft_local.library.library import Library


def embedded(library: Library) -> VectorSpace:
    encoder = NullEncoder()
    folder = library.spaces_folder / encoder.spec.space_id
    space = VectorSpace.open(folder, encoder.spec, create=True)
    index_pending(library, space, encoder, workers=1)
    return space


def test_a_forgotten_photo_leaves_no_trace_and_does_not_come_back(
    index: Indexer, album: Album
) -> None:
    library = index.library
    path = album.shoot("secret-name.jpg", 1, at="2020-01-01T10:00:00")
    album.shoot("b.jpg", 2)
    index()
    space = embedded(library)
    photo = index.by_name()["secret-name.jpg"]
    row = space.photo_ids.tolist().index(photo.photo_id)
    crop = library.crop(library.add_crop(photo.uid, (0, 0, 5, 5), b"png"))
    told: list[Forgotten] = []
    library.forget_hooks.append(told.append)

    assert library.forget(photo.uid.upper()) == Forgotten(photo.uid, photo.photo_id)

    assert told == [Forgotten(photo.uid, photo.photo_id)]
    assert not crop.path.exists()
    space.refresh()
    assert photo.photo_id not in space.photo_ids
    assert not space.vectors[row].any()
    everything = b"".join(p.read_bytes() for p in library.path.rglob("*") if p.is_file())
    assert photo.uid.encode() not in everything
    assert path.exists()
    assert index().added == 0
    assert index.names() == ["b.jpg"]
    assert index.skipped() == {"secret-name.jpg": "forgotten"}
    path.rename(album.folder / "renamed.jpg")
    assert index().added == 0
    assert index.library.status().forgotten == 1
    with pytest.raises(UnknownPhoto):
        library.forget(photo.uid)


def test_a_wish_can_be_taken_back(index: Indexer, album: Album) -> None:
    path = album.shoot("a.jpg", 1)
    index()
    old = index.by_name()["a.jpg"]
    index.library.forget(old.uid)
    assert not remember(index.library, os.fsencode(album.shoot("b.jpg", 2)))
    assert remember(index.library, os.fsencode(path))
    assert index().added == 2
    new = index.by_name()["a.jpg"]
    assert new.uid == old.uid
    assert new.photo_id > old.photo_id


def test_one_crop_can_be_forgotten_alone(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    index()
    library = index.library
    (photo,) = library.photos()
    first = library.add_crop(photo.uid, (0, 0, 5, 5), b"png")
    second = library.add_crop(photo.uid, (0, 0, 6, 6), b"png")
    gone = library.crop(first).path
    library.forget(first)
    assert not gone.exists()
    assert library.crop(second).path.exists()
    assert library.count() == 1
    with pytest.raises(UnknownPhoto):
        library.forget(first)


def test_a_deleted_photo_can_be_forgotten(index: Indexer, album: Album) -> None:
    path = album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    index()
    uid = index.by_name()["a.jpg"].uid
    path.unlink()
    index()
    assert index.library.forget(uid).uid == uid
    assert index.library.status().missing == 0


_KILLED = """
import os, signal, sys
from pathlib import Path
from photocraft_local.library.library import Library
from photocraft_local.settings import Settings
def die(gone):
    os.kill(os.getpid(), signal.SIGKILL)
with Library.open(Path(sys.argv[1]), settings=Settings()) as library:
    library.forget_hooks.append(die)
    library.forget(sys.argv[2])
"""


def test_a_kill_in_the_middle_is_made_good_by_the_next_writer(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    index()
    embedded(index.library)
    photo = index.by_name()["a.jpg"]
    command = [sys.executable, "-c", _KILLED, os.fspath(index.library.path), photo.uid]
    assert subprocess.run(command, check=False).returncode == -9
    assert index.names() == ["b.jpg"]
    told: list[Forgotten] = []
    with Library.open(index.library.path, settings=index.library.settings) as library:
        library.forget_hooks.append(told.append)
        with library.write_lock():
            pass
        with library.write_lock():
            pass
    assert told == [Forgotten(photo.uid, photo.photo_id)]
    assert photo.photo_id not in embedded(index.library).photo_ids


def test_compaction_drops_only_what_is_gone(index: Indexer, album: Album) -> None:
    for number in range(4):
        album.shoot(f"{number}.jpg", number)
    index()
    library = index.library
    ids = {name: photo.photo_id for name, photo in index.by_name().items()}
    crop = library.crop(library.add_crop(index.by_name()["0.jpg"].uid, (0, 0, 5, 5), b"png"))
    assert len(embedded(library)) == 4
    (album.folder / "0.jpg").unlink()
    library.forget(index.by_name()["1.jpg"].uid)
    index()
    assert len(embedded(library)) == 4
    assert library.status().missing == 1

    done = library.compact()

    assert (done.photos, done.vectors) == (1, 2)
    space = embedded(library)
    np.testing.assert_array_equal(space.photo_ids, [ids["2.jpg"], ids["3.jpg"]])
    assert library.status().missing == 0
    assert not crop.path.exists()
    library.database.verify()
    again = library.compact()
    assert (again.photos, again.vectors) == (0, 0)


def test_compaction_keeps_photos_that_are_offline(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    index()
    embedded(index.library)
    album.folder.rename(tmp_path / "away")
    index.again()
    assert index.library.compact().photos == 0
    assert len(embedded(index.library)) == 1
