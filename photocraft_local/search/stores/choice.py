"""Which store searches a library, chosen once with the reason in words, and building it.

``auto`` takes the C extension where it was built and the processor has vector instructions for
it; else FAISS for a large library, else NumPy. A GPU and another machine are taken only where a
setting names them.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from dataclasses import dataclass

from photocraft_local.errors import (
    MissingExtraError,
    PhotocraftError,
    SettingsError,
    UsageError,
)
from photocraft_local.search.halves import Halves
from photocraft_local.search.stores.native import NativeStore, vector_code
from photocraft_local.search.stores.plain import PlainStore
from photocraft_local.search.stores.store import VectorStore
from photocraft_local.settings import VECTOR_STORES

log = logging.getLogger(__name__)

# Importing FAISS takes 0.2 s of CPU, as much as a hundred NumPy scans of 10k × 384. From 2**25
# elements (65k × 512) on, a NumPy scan takes 10 ms more than FAISS's, and a process that
# searches such a library has other costs of that size anyway.
_FAISS_FROM_ELEMENTS = 1 << 25
_BUILD = (
    "two to three times slower; install a C compiler and Python's headers (Debian: apt-get install"
    " gcc python3-dev), then the package again"
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The store's name, why it is this one, and the way to a faster one if there is any."""

    name: str
    reason: str
    hint: str = ""


def choose(wanted: str, num_elements: int) -> Choice:
    """The store for that many numbers. Raises UsageError for a name that is none, and
    MissingExtraError for one that is not installed."""
    if wanted not in VECTOR_STORES:
        raise UsageError(
            f"{wanted!r} is no vector store of this machine",
            hint=f"one of {', '.join(VECTOR_STORES)}",
        )
    choice = _automatic(num_elements) if wanted == "auto" else _asked_for(wanted)
    log.debug("exact search runs on %s: %s", choice.name, choice.reason)
    return choice


def make_store(wanted: str, vectors: Halves) -> VectorStore:
    """The store itself over the file's rows (n, dim). Raises as ``choose``, and SearchError where
    an engine cannot run here."""
    choice = choose(wanted, vectors.size)
    if choice.name == "native":
        return NativeStore(vectors, choice.reason)
    if choice.name == "faiss":
        from photocraft_local.search.stores.faiss_cpu import FaissStore

        return FaissStore(vectors, choice.reason)
    if choice.name == "faiss-gpu":
        from photocraft_local.search.stores.faiss_gpu import FaissGpuStore

        return FaissGpuStore(vectors, make_store("auto", vectors))
    return PlainStore(vectors, choice.reason)


def _asked_for(wanted: str) -> Choice:
    if wanted == "native" and vector_code() is None:
        raise SettingsError(
            "the C extension for vector search was not built with this installation",
            hint="set vector_store = 'auto'; or " + _BUILD.partition("; ")[2],
        )
    if wanted == "faiss" and not _faiss_is_there():
        raise MissingExtraError("faiss", "cpu", "the FAISS search engine")
    if wanted == "faiss-gpu":
        if not _faiss_is_there():
            raise MissingExtraError("faiss", "gpu", "vector search on a GPU")
        where = "on the GPU where a second copy has room"
        if importlib.util.find_spec("torch") is None:
            where = "on the host, since torch is not installed"
        return Choice(wanted, f"asked for; filtered rows are gathered {where}")
    return Choice(wanted, "asked for")


def _automatic(num_elements: int) -> Choice:
    code = vector_code()
    if code:
        return Choice("native", f"the C extension, {code}")
    if code is None:
        lack, hint = "the C extension was not built", _BUILD
    else:
        lack, hint = "this processor has no AVX2 for the C extension", ""
    if num_elements < _FAISS_FROM_ELEMENTS and not _faiss_is_loaded():
        why = "a library of this size is scanned faster than FAISS is imported"
        return Choice("numpy", f"{lack}; {why}", hint)
    if not _faiss_is_there():
        return Choice("numpy", f"{lack}, and FAISS is not installed (extra 'cpu')", hint)
    from photocraft_local.search.faiss_scan import load_faiss

    try:
        load_faiss()
    except PhotocraftError as fault:
        return Choice("numpy", f"{lack}, and {fault.message}", hint)
    return Choice("faiss", f"{lack}, and FAISS is installed", hint)


def _faiss_is_loaded() -> bool:
    return "faiss" in sys.modules


def _faiss_is_there() -> bool:
    return _faiss_is_loaded() or importlib.util.find_spec("faiss") is not None
