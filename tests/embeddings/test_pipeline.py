"""The pipeline gives each photo one right vector, whatever breaks on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.embeddings.encoder import Pixels, Vectors
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import IndexReport, ahead, index_pending
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.errors import EncoderError, MissingExtraError, StorageFull
from photocraft_local.files.decode import decode_upright
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "photos"
    made.mkdir()
    return made


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    settings = Settings(library=tmp_path / "library")
    with Library.open(settings.library, create=True, settings=settings) as opened:
        yield opened


def shoot(folder: Path, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        colour = (number * 53 % 256, number * 29 % 256, number * 17 % 256)
        Image.new("RGB", (64, 48), colour).save(folder / f"{number:04}.jpg", comment=f"{number}")


def space_of(library: Library, encoder: NullEncoder) -> VectorSpace:
    return VectorSpace.open(
        library.spaces_folder / encoder.spec.space_id, encoder.spec, create=True
    )


def run(
    library: Library, folder: Path, encoder: NullEncoder | None = None, **options: int
) -> tuple[IndexReport, VectorSpace]:
    encoder = encoder or NullEncoder()
    sync(library, [os.fsencode(folder)])
    space = space_of(library, encoder)
    return index_pending(library, space, encoder, **options), space  # type: ignore[arg-type]


def assert_right_vectors(library: Library, space: VectorSpace) -> None:
    """Each present photo has one row, and it is that of its own pixels."""
    rows = {int(photo_id): row for row, photo_id in enumerate(space.photo_ids)}
    assert len(rows) == len(space)
    encoder = NullEncoder()
    for photo in library.photos():
        pixels = decode_upright(photo.paths[0], short_side=encoder.spec.decode_side).pixels
        expected = encoder.encode_images([pixels])[0]
        np.testing.assert_allclose(space.vectors[rows[photo.photo_id]], expected, atol=1e-3)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_every_photo_gets_its_own_vector_in_order(
    library: Library, folder: Path, batch_size: int
) -> None:
    shoot(folder, 40)
    seen: list[tuple[int, int | None]] = []
    sync(library, [os.fsencode(folder)])
    space = space_of(library, NullEncoder())
    report = index_pending(
        library,
        space,
        NullEncoder(),
        workers=3,
        batch_size=batch_size,
        progress=lambda stage, done, total: seen.append((done, total)),
    )
    assert (report.indexed, report.skipped, report.problems) == (40, 0, ())
    assert space.photo_ids.tolist() == sorted(library.present_ids().tolist())
    assert_right_vectors(library, space)
    assert seen[0] == (0, 40)
    assert seen[-1] == (40, 40)


def test_real_photos_of_every_format(library: Library, shared: Path) -> None:
    report, space = run(library, shared / "data" / "odd")
    assert report.indexed == library.count() == len(space)
    assert report.indexed >= 38
    assert_right_vectors(library, space)
    flags = {Path(os.fsdecode(p.paths[0])).name: p.flags for p in library.photos()}
    assert "truncated" in flags["trunc_half.jpg"]


def test_a_second_run_does_only_what_is_new(library: Library, folder: Path) -> None:
    shoot(folder, 5)
    run(library, folder)
    assert run(library, folder)[0].indexed == 0
    shoot(folder, 3, start=5)
    report, space = run(library, folder)
    assert report.indexed == 3
    assert_right_vectors(library, space)


def test_moved_and_restored_photos_keep_their_vectors(
    library: Library, folder: Path, tmp_path: Path
) -> None:
    shoot(folder, 4)
    run(library, folder)
    (folder / "0000.jpg").rename(folder / "moved.jpg")
    (folder / "0001.jpg").rename(tmp_path / "kept.jpg")
    assert run(library, folder)[0].indexed == 0
    (tmp_path / "kept.jpg").rename(folder / "back.jpg")
    report, space = run(library, folder)
    assert (report.indexed, len(space), library.count()) == (0, 4, 4)
    assert_right_vectors(library, space)


def broken_png(path: Path) -> None:
    """A header that reads well, and pixels that are no pixels."""
    Image.effect_noise((400, 300), 90).save(path)
    content = path.read_bytes()
    start = content.index(b"IDAT") + 4
    path.write_bytes(content[:start] + b"\xff" * 5000 + content[start + 5000 :])


def test_a_photo_that_cannot_be_decoded_is_reported_and_harms_no_other(
    library: Library, folder: Path
) -> None:
    shoot(folder, 9)
    broken_png(folder / "0004b.png")
    report, space = run(library, folder, batch_size=4)
    assert (report.indexed, report.skipped) == (9, 1)
    (skipped,) = library.skipped()
    assert (skipped.path, skipped.reason) == (os.fsencode(folder / "0004b.png"), "unreadable")
    assert "0004b.png" in skipped.message
    assert report.problems == (skipped,)
    assert library.count() == 9
    assert_right_vectors(library, space)
    assert run(library, folder)[0].problems == ()
    assert library.skipped() == [skipped]


class Picky(NullEncoder):
    """Raises for batches that hold a dark picture, and gives no unit vector for a bright one."""

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        if any(int(image.max()) < 40 for image in images):
            raise RuntimeError("too dark")
        vectors = super().encode_images(images)
        vectors[[int(image.min()) > 220 for image in images]] = np.nan
        return vectors


def test_a_photo_that_breaks_the_encoder_leaves_its_batch_alone(
    library: Library, folder: Path
) -> None:
    shoot(folder, 6, start=30)
    Image.new("RGB", (40, 30), (5, 5, 5)).save(folder / "dark.png")
    Image.new("RGB", (40, 30), (250, 250, 250)).save(folder / "white.png")
    report, space = run(library, folder, Picky(), batch_size=8)
    assert (report.indexed, report.skipped) == (6, 2)
    reasons = {Path(os.fsdecode(s.path)).name: s for s in library.skipped()}
    assert {s.reason for s in reasons.values()} == {"not-embedded"}
    assert "RuntimeError: too dark" in reasons["dark.png"].message
    assert "not of unit length" in reasons["white.png"].message
    assert_right_vectors(library, space)


class Broken(NullEncoder):
    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        raise RuntimeError("no engine")


class NotInstalled(NullEncoder):
    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        raise MissingExtraError("onnxruntime", "cpu", "embedding photos")


def test_a_broken_encoder_is_no_fault_of_the_photos(library: Library, folder: Path) -> None:
    shoot(folder, 3)
    with pytest.raises(EncoderError, match="no engine"):
        run(library, folder, Broken())
    with pytest.raises(MissingExtraError):
        run(library, folder, NotInstalled())
    assert library.skipped() == []
    report, space = run(library, folder)
    assert report.indexed == 3
    assert_right_vectors(library, space)


class Concurrent(NullEncoder):
    """Notes how many calls ran at once, and with how many pictures."""

    concurrency = 2
    is_loaded = False

    def __init__(self) -> None:
        self.running = self.most = 0
        self.sizes: set[int] = set()
        self.cores = min(2, len(os.sched_getaffinity(0)))
        self.changed = threading.Condition()

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        with self.changed:
            self.running += 1
            self.most = max(self.most, self.running)
            self.sizes.add(len(images))
            self.changed.notify_all()
            if not self.is_loaded:  # as a model that is built in the first call
                assert not self.changed.wait(0.1)
                assert self.running == 1
                self.is_loaded = True
            else:
                self.changed.wait_for(lambda: self.most == self.cores, timeout=30)
            self.running -= 1
        return super().encode_images(images)


def test_an_encoder_that_allows_it_runs_on_several_cores(library: Library, folder: Path) -> None:
    shoot(folder, 37)
    encoder = Concurrent()
    report, space = run(library, folder, encoder, batch_size=16)
    assert encoder.most == encoder.cores
    assert encoder.sizes == ({2, 1} if encoder.cores == 2 else {16, 5})
    assert report.indexed == 37
    assert space.photo_ids.tolist() == sorted(library.present_ids().tolist())
    assert_right_vectors(library, space)


def test_the_first_photo_may_break_the_encoder(library: Library, folder: Path) -> None:
    Image.new("RGB", (40, 30), (5, 5, 5)).save(folder / "0000-dark.png")
    shoot(folder, 3, start=30)
    report, _ = run(library, folder, Picky(), batch_size=1)
    assert (report.indexed, report.skipped) == (3, 1)
    Image.new("RGB", (40, 30), (6, 5, 5)).save(folder / "dark-too.png")
    report, _ = run(library, folder, Picky(), batch_size=1)
    assert (report.indexed, report.skipped) == (0, 1)
    assert len(library.skipped()) == 2


def test_a_file_that_vanishes_meanwhile_is_tried_again(library: Library, folder: Path) -> None:
    shoot(folder, 3)
    sync(library, [os.fsencode(folder)])
    content = (folder / "0001.jpg").read_bytes()
    (folder / "0001.jpg").unlink()
    space = space_of(library, NullEncoder())
    report = index_pending(library, space, NullEncoder())
    assert (report.indexed, report.skipped) == (2, 1)
    assert report.problems[0].path == os.fsencode(folder / "0001.jpg")
    assert library.skipped() == []
    (folder / "0001.jpg").write_bytes(content)
    assert index_pending(library, space, NullEncoder()).indexed == 1
    assert_right_vectors(library, space)


def test_another_path_is_taken_where_the_first_is_gone(library: Library, folder: Path) -> None:
    shoot(folder, 1)
    shutil.copy(folder / "0000.jpg", folder / "copy.jpg")
    sync(library, [os.fsencode(folder)])
    (folder / "0000.jpg").unlink()
    report = index_pending(library, space_of(library, NullEncoder()), NullEncoder())
    assert (report.indexed, report.skipped) == (1, 0)


def test_offline_photos_wait(library: Library, folder: Path, tmp_path: Path) -> None:
    shoot(folder, 2)
    sync(library, [os.fsencode(folder)])
    folder.rename(tmp_path / "away")
    sync(library)
    space = space_of(library, NullEncoder())
    report = index_pending(library, space, NullEncoder())
    assert (report.indexed, report.skipped, len(space)) == (0, 0, 0)
    (tmp_path / "away").rename(folder)
    assert run(library, folder)[0].indexed == 2


def test_look_ahead_is_bounded_and_order_kept() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    def slow_first(number: int) -> int:
        time.sleep(0.02 if number % 7 == 0 else 0)
        return number

    with ThreadPoolExecutor(4) as pool:
        for position, number in enumerate(ahead(pool, slow_first, numbers(), 5)):
            assert number == position
            assert len(taken) <= position + 1 + 5
    assert len(taken) == 50


class Interrupting(NullEncoder):
    """Presses Ctrl-C while the second batch is in the encoder."""

    def __init__(self) -> None:
        self.calls = 0

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        self.calls += 1
        if self.calls == 2:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.05)
        return super().encode_images(images)


def test_ctrl_c_stores_the_batch_in_flight_and_the_next_run_goes_on(
    library: Library, folder: Path
) -> None:
    shoot(folder, 40)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(library, folder, Interrupting(), batch_size=4)
    assert signal.getsignal(signal.SIGINT) is handler
    space = space_of(library, NullEncoder())
    assert 4 <= len(space) < 40
    assert len(space) % 4 == 0
    stored = len(space)
    report, space = run(library, folder)
    assert (report.indexed, len(space)) == (40 - stored, 40)
    assert_right_vectors(library, space)


def test_it_runs_outside_of_the_main_thread(library: Library, folder: Path) -> None:
    shoot(folder, 3)
    results: list[IndexReport] = []
    thread = threading.Thread(target=lambda: results.append(run(library, folder)[0]))
    thread.start()
    thread.join(60)
    assert results[0].indexed == 3


def test_a_full_drive_stops_it_and_loses_no_vector(tmp_path: Path, folder: Path) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", os.fspath(drive)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("FULL DISK NOT TESTED: cannot mount a tmpfs here")
    try:
        shoot(folder, 120)
        settings = Settings(library=drive / "library")
        with Library.open(settings.library, create=True, settings=settings) as library:
            sync(library, [os.fsencode(folder)])
            space = space_of(library, NullEncoder())
            filler = drive / "filler"
            facts = os.statvfs(drive)
            filler.write_bytes(bytes(facts.f_bavail * facts.f_frsize - 12_000))
            with pytest.raises(StorageFull):
                index_pending(library, space, NullEncoder(), batch_size=8)
            stored = space_of(library, NullEncoder()).photo_ids.tolist()
            assert 0 < len(stored) < 120
            filler.unlink()
            report, space = run(library, folder)
            assert report.indexed == 120 - len(stored)
            assert space.photo_ids.tolist()[: len(stored)] == stored
            assert_right_vectors(library, space)
    finally:
        subprocess.run(["umount", "-l", os.fspath(drive)], check=True)


def test_the_null_encoder_is_stable_and_honest() -> None:
    encoder = NullEncoder()
    red = np.full((5, 7, 3), (220, 30, 30), np.uint8)
    blue = np.full((5, 7, 3), (40, 70, 220), np.uint8)
    vectors = encoder.encode_images([red, blue])
    assert vectors.shape == (2, encoder.spec.dim)
    text = encoder.encode_text("A red sunset")
    assert text.vector is not None
    assert float(text.vector @ vectors[0]) > float(text.vector @ vectors[1])
    assert (text.understood, text.not_understood) == (("red",), ("a", "sunset"))
    assert encoder.encode_text("sunset").vector is None
    assert encoder.encode_images([]).shape == (0, encoder.spec.dim)
