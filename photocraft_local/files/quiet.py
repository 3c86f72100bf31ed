"""Pillow's warnings kept inside: they are about files, and files speak through flags here.

``warnings.catch_warnings`` swaps the whole filter list and so races between threads; this adds
one filter for Pillow's modules while any thread is inside and takes only that one away again.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """No warning from Pillow's modules while the block runs, in any thread."""
    global _inside
    with _lock:
        _inside += 1
        warnings.filterwarnings("ignore", module=r"PIL(\..*)?$")
        added = warnings.filters[0]
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and added in warnings.filters:
                list.remove(warnings.filters, added)  # type: ignore[arg-type]
