"""The encoder's derived files: made once, kept in the cache folder, checked by hash.

A build goes to a folder of its own and is renamed into place when complete, so a crash or a
second process never leaves half of one. Its name holds a fingerprint of everything that it was
made of: another package version, knowledge file or parameter is another folder.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels import sources
from photocraft_local.embeddings.labels.efficientnet import (
    LITE2,
    Pooling,
    build_model,
    expected_features,
)
from photocraft_local.embeddings.labels.label_space import (
    build_label_space,
    class_lexicon,
    data_text,
)
from photocraft_local.embeddings.labels.sentences import SentenceModel
from photocraft_local.embeddings.labels.torch_file import read_state_dict
from photocraft_local.errors import EncoderError

FORMAT = 1  # rises when the code that makes the files changes what they hold
POOLING = Pooling(temperature=1.5, whole_share=0.35, region=2)
_MANIFEST = "manifest.json"
_log = logging.getLogger(__name__)


def fingerprint() -> str:
    """Hex digest of all that the derived files depend on; reads no large file."""
    facts = [str(FORMAT), repr(POOLING), data_text("scenes.tsv")]
    facts += [source.sha256 for source in sources.ALL]
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()


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

    def array(self, name: str) -> NDArray[np.float32]:
        return np.asarray(np.load(self.path(name), allow_pickle=False), np.float32)

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
        _log.info("building the embedded encoder in %s", self.folder)
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            building = Path(tempfile.mkdtemp(prefix=".labels-", dir=self.folder.parent))
            try:
                _write_all(building)
                self._install(building)
            finally:
                shutil.rmtree(building, ignore_errors=True)
        except OSError as exc:
            raise EncoderError(
                f"the embedded encoder cannot be written to {self.folder.parent}: {exc}",
                hint="free some space (60 MB), or set another folder with PHOTOCRAFT_CACHE",
            ) from exc
        self._checked.clear()

    def _install(self, building: Path) -> None:
        """Rename into place; a damaged build is moved away, a good one of a rival is kept."""
        if (self.folder / _MANIFEST).is_file() and all(map(self._intact, _FILES)):
            return
        if self.folder.exists():
            self.folder.rename(building / "damaged")
        try:
            building.rename(self.folder)
        except OSError:
            if not all(map(self._intact, _FILES)):
                raise
        shutil.rmtree(self.folder / "damaged", ignore_errors=True)


def _write_all(folder: Path) -> None:
    weights = read_state_dict(sources.CLASSIFIER.checked())
    _write(folder / "classifier.onnx", build_model(LITE2, weights, POOLING))
    space = build_label_space(SentenceModel(), weights)
    arrays = {
        "mean.npy": space.mean,
        "classes.npy": space.classes,
        "ridge.npy": space.ridge,
        "features.npy": expected_features(weights),
    }
    for name, array in arrays.items():
        with (folder / name).open("wb") as stream:
            np.save(stream, array)
    (folder / "lexicon.txt").write_text(" ".join(class_lexicon()), "utf-8")
    manifest = {name: sources.file_sha256(folder / name) for name in _FILES}
    for name in _FILES:
        _sync(folder / name)
    _write(folder / _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())


_FILES = (
    "classifier.onnx",
    "mean.npy",
    "classes.npy",
    "ridge.npy",
    "features.npy",
    "lexicon.txt",
)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
