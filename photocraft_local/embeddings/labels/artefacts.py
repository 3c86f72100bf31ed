"""The encoder's derived files: made once, kept in the cache folder, checked by hash.

A build goes to a folder of its own and is renamed into place when complete, so a crash or a
second process never leaves half of one. Its name holds a fingerprint of everything that it was
made of: another package version, knowledge file or parameter is another folder.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels import sources
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
from photocraft_local.embeddings.labels.sentences import SentenceModel
from photocraft_local.embeddings.labels.torch_file import read_state_dict
from photocraft_local.errors import EncoderError
from photocraft_local.storage.atomic import sync

FORMAT = 2  # rises when the code that makes the files changes what they hold
POOLING = Pooling(temperature=1.5, whole_share=0.5, region=2)
_MANIFEST = "manifest.json"
_BUILDING = ".labels-"
_STALE_SECONDS = 86_400.0
_log = logging.getLogger(__name__)


def fingerprint() -> str:
    """Hex digest of all that the derived files depend on; reads no large file."""
    digest = hashlib.sha256(f"{FORMAT}{POOLING}{PHRASES}".encode())
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
        _log.info("building the embedded encoder in %s", self.folder)
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self._sweep()
            building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=self.folder.parent))
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

    def _sweep(self) -> None:
        """Remove what builds that were killed a day ago or earlier left behind."""
        for left in self.folder.parent.glob(f"{_BUILDING}*"):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)

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
    (folder / "classifier.onnx").write_bytes(build_model(LITE2, weights, POOLING))
    (folder / "lexicon.txt").write_text(" ".join(class_lexicon()), "utf-8")
    space = build_label_space(SentenceModel(), weights)
    np.savez(folder / "space.npz", **asdict(space))
    np.savez(folder / "text.npz", mean=space.mean, background=space.vectors(read_background()))
    manifest = {name: sources.file_sha256(folder / name) for name in _FILES}
    for name in _FILES:
        sync(folder / name)
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), "utf-8")
    sync(folder / _MANIFEST)


_FILES = ("classifier.onnx", "lexicon.txt", "space.npz", "text.npz")
