"""SIGKILL at random moments of the real command loses nothing and doubles nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_album import Album

from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.files.fingerprint import digest_file
from photocraft_local.library.library import Library
from photocraft_local.settings import Settings

_KILLS = 55
_PHOTOS_A_RUN = 40  # new ones before each run, so that there is always work to be killed in


@dataclass(frozen=True)
class State:
    """Vector bytes by digest of the indexed photos, and the number of rows of photos."""

    vectors: dict[str, bytes]
    num_photos: int


class Command:
    """``photocraft index`` as a person runs it."""

    def __init__(self, album: Path, library: Path, cache: Path) -> None:
        self.library = library
        self._arguments = [
            *(sys.executable, "-m", "photocraft_local.cli.main", "index", str(album)),
            *("--library", str(library), "--encoder", "null"),
        ]
        self._environment = os.environ | {
            "PHOTOCRAFT_CACHE": str(cache),
            "PHOTOCRAFT_BATCH_SIZE": "4",
        }

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._arguments,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def finish(self) -> float:
        """Run to the end; seconds."""
        start = time.monotonic()
        process = self.start()
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
        return time.monotonic() - start

    def kill_after(self, seconds: float) -> bool:
        """Whether it was still running when it was killed."""
        process = self.start()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), errors.decode()
        return process.returncode == -signal.SIGKILL

    def state(self) -> State:
        """What a reader sees; checks on the way that nothing is there twice."""
        if not (self.library / "library.db").exists():
            return State({}, 0)
        with Library.open(self.library, settings=Settings()) as library:
            library.database.verify()
            photos = list(library.photos())
            paths = [path for photo in photos for path in photo.paths]
            assert len(set(paths)) == len(paths)
            spec = NullEncoder().spec
            folder = library.spaces_folder / spec.space_id
            if not (folder / "header.json").exists():
                return State({}, len(photos))
            space = VectorSpace.open(folder, spec)
        ids = space.photo_ids.tolist()
        assert len(set(ids)) == len(ids)
        digests = {photo.photo_id: photo.digest for photo in photos}
        assert set(ids) <= digests.keys()
        vectors = {
            digests[photo_id]: space.vectors[row].tobytes() for row, photo_id in enumerate(ids)
        }
        assert len(vectors) == len(ids)
        return State(vectors, len(photos))


class Growing(Album):
    """An album that gets new photos before each run, and whose folder is renamed at times."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.count = 0
        self._base = self.shoot("base.jpg", 1).read_bytes()
        (folder / "base.jpg").unlink()

    def add(self, count: int) -> None:
        """JPEGs of one picture and different bytes: the reader stops at the end marker."""
        target = self.folder / f"{self.count // 200:03}"
        target.mkdir(exist_ok=True)
        for number in range(self.count, self.count + count):
            (target / f"{number:05}.jpg").write_bytes(self._base + b"%d" % number)
        self.count += count

    def rename(self) -> None:
        for folder in list(self.folder.iterdir()):
            folder.rename(folder.with_name(f"{folder.name}-moved-at-{self.count}"))


@pytest.mark.slow
def test_sigkill_at_random_moments_loses_nothing(tmp_path: Path, shared_cache: Path) -> None:
    album = Growing(tmp_path / "album")
    album.add(_PHOTOS_A_RUN)
    command = Command(album.folder, tmp_path / "first", shared_cache)
    command.finish()  # builds the gazetteer in the cache
    longest = Command(album.folder, tmp_path / "second", shared_cache).finish()

    command = Command(album.folder, tmp_path / "library", shared_cache)
    chance = random.Random(20240611)
    before = State({}, 0)
    kills = rows_grew = vectors_grew = 0
    for attempt in range(3 * _KILLS):
        if kills == _KILLS:
            break
        if attempt > 5:  # the first kills hit a library that is just being made
            album.add(_PHOTOS_A_RUN)
        if attempt % 12 == 11:
            album.rename()
        killed = command.kill_after(chance.uniform(0.05, longest))
        after = command.state()
        assert before.vectors.items() <= after.vectors.items()
        assert after.num_photos >= before.num_photos
        rows_grew += after.num_photos > before.num_photos
        vectors_grew += after.vectors.keys() > before.vectors.keys()
        kills += killed
        # Keep to the moments between start and end, however busy the machine is.
        if not killed:
            longest *= 0.85
        elif after == before:
            longest *= 1.06
        before = after
    assert kills == _KILLS
    assert rows_grew >= 5
    assert vectors_grew >= 5

    command.finish()
    end = command.state()
    assert before.vectors.items() <= end.vectors.items()
    files = [os.fsencode(path) for path in album.folder.rglob("*.jpg")]
    assert {digest_file(path) for path in files} == end.vectors.keys()
    assert end.num_photos == len(files) == album.count
    expected = _vector_of(files[0])
    for vector in end.vectors.values():
        np.testing.assert_allclose(np.frombuffer(vector, np.float16), expected, atol=1e-3)


def _vector_of(path: bytes) -> np.ndarray:
    with Image.open(os.fsdecode(path)) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    vector: np.ndarray = NullEncoder().encode_images([pixels])[0]
    return vector
