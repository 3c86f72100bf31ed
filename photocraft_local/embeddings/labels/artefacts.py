"""The encoder's derived files: made once, kept in the cache folder, checked by hash.

A build goes to a folder of its own and is renamed into place when complete, so a crash never
leaves half of one; a lock lets one process build while the others wait for what it makes. The
folder's name holds a fingerprint of everything that it was made of: another package version,
knowledge file or parameter is another folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.detector import build_detector
from photocraft_local.embeddings.labels.efficientnet import (
    LITE2,
    Pooling,
    build_model,
)
from photocraft_local.embeddings.labels.label_space import (
    build_label_space,
    class_lexicon,
    data_bytes,
    read_background,
)
from photocraft_local.embeddings.labels.looks import PHRASES
from photocraft_local.embeddings.labels.objects import class_numbers
from photocraft_local.embeddings.labels.sentences import SentenceModel
from photocraft_local.embeddings.labels.tensorflow_file import read_constants
from photocraft_local.embeddings.labels.torch_file import read_state_dict
from photocraft_local.errors import EncoderError
from photocraft_local.storage.atomic import sync

FORMAT = 4  # rises when the code that makes the files changes what they hold
POOLING = Pooling(temperature=1.5, whole_share=0.5, region=2)
_MANIFEST = "manifest.json"
_BUILDING = ".labels-"
_LOCK = "labels.lock"
_log = logging.getLogger(__name__)


def fingerprint() -> str:
    """Hex digest of all that the derived files depend on; reads no large file."""
    digest = hashlib.sha256(f"{FORMAT}{POOLING}{PHRASES}{class_numbers()}".encode())
    for source in sources.ALL:
        digest.update(bytes.fromhex(source.sha256))
    for name in ("scenes.tsv", "background.npz"):
        digest.update(hashlib.sha256(data_bytes(name)).digest())
    return digest.hexdigest()


class Artefacts:
    """Reads the derived files of one cache folder; builds them first if they are not there."""

    def __init__(self, cache: Path) -> None:
        self.folder = cache / f"labels-{fingerprint()[:16]}"
        self._checked: set[str] = set()

    def path(self, name: str) -> Path:
        """A derived file whose bytes are those that the build wrote.

        Raises:
            MissingExtraError: a package to build it from is not installed.
            EncoderError: it cannot be built or written.
        """
        if name not in self._checked:
            if not self._intact(name):
                self._build()
            self._checked.add(name)
        return self.folder / name

    def prepare(self) -> bool:
        """Build what is missing or damaged; True if anything was."""
        if all(map(self._intact, _FILES)):
            self._checked.update(_FILES)
            return False
        self._build()
        return True

    def arrays(self, name: str) -> dict[str, NDArray[np.float32]]:
        """The arrays of a derived ``.npz`` file by name."""
        with np.load(self.path(name), allow_pickle=False) as stored:
            return {key: np.asarray(stored[key], np.float32) for key in stored.files}

    def _intact(self, name: str) -> bool:
        try:
            expected = json.loads((self.folder / _MANIFEST).read_bytes())[name]
            intact = bool(sources.file_sha256(self.folder / name) == expected)
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError, TypeError):
            intact = False
        if not intact:
            _log.warning("%s is damaged; it is built anew", self.folder / name)
        return intact

    def _build(self) -> None:
        cache = self.folder.parent
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with _locked(cache / _LOCK):
                if not all(map(self._intact, _FILES)):
                    self._build_alone()
        except OSError as exc:
            raise EncoderError(
                f"the embedded encoder cannot be written to {cache}: {exc}",
                hint="free some space (150 MB), or set another folder with PHOTOCRAFT_CACHE",
            ) from exc
        self._checked.clear()

    def _build_alone(self) -> None:
        """Build and rename into place; a damaged build, and what a killed one left, goes."""
        _log.info("building the embedded encoder in %s", self.folder)
        for left in self.folder.parent.glob(f"{_BUILDING}*"):
            shutil.rmtree(left, ignore_errors=True)
        building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=self.folder.parent))
        try:
            _write_all(building)
            if self.folder.exists():
                self.folder.rename(building / "damaged")
            building.rename(self.folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        shutil.rmtree(self.folder / "damaged", ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One holder at a time, over threads and processes; the lock dies with its holder."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _write_all(folder: Path) -> None:
    weights = read_state_dict(sources.CLASSIFIER.checked())
    (folder / "classifier.onnx").write_bytes(build_model(LITE2, weights, POOLING))
    detector = build_detector(read_constants(sources.DETECTOR.checked()), class_numbers())
    (folder / "detector.onnx").write_bytes(detector)
    (folder / "lexicon.txt").write_text(" ".join(class_lexicon()), "utf-8")
    space = build_label_space(SentenceModel(), weights)
    np.savez(folder / "space.npz", **asdict(space))
    np.savez(folder / "text.npz", mean=space.mean, background=space.vectors(read_background()))
    manifest = {name: sources.file_sha256(folder / name) for name in _FILES}
    for name in _FILES:
        sync(folder / name)
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), "utf-8")
    sync(folder / _MANIFEST)


_FILES = ("classifier.onnx", "detector.onnx", "lexicon.txt", "space.npz", "text.npz")
