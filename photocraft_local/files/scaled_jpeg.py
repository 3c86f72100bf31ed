"""JPEG → RGB pixels at n/8 of the size by this package's C extension, where it can.

It takes what cameras write (baseline, 8 bits, YCbCr or grey, one scan without a fault) on
processors with AVX2, and refuses all else: libjpeg-turbo then decides what the file is worth. The
choice is made once and says why.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Path:
    """The way of this process, and why it is this one. ``hint`` is the way to better."""

    native: bool
    reason: str
    hint: str = ""

    @property
    def name(self) -> str:
        return "native" if self.native else "library"


@lru_cache(maxsize=1)
def chosen() -> Path:
    """The path of this process."""
    path = _choose()
    _log.info("JPEG files are scaled by the %s path: %s", path.name, path.reason)
    return path


def _choose() -> Path:
    try:
        from photocraft_local.files import _native
    except ImportError as exc:
        return Path(
            False,
            f"libjpeg-turbo, since the C extension cannot be used ({exc})",
            hint="a quarter slower, boxes out of files twice as slow; install a C compiler and"
            " Python's headers (Debian: apt-get install gcc python3-dev), then the package again",
        )
    if not _native.vectors():
        return Path(False, "libjpeg-turbo, since the C extension needs AVX2 and BMI2")
    return Path(True, f"the C extension, {_native.vectors()} vector code; the rest libjpeg-turbo")


def decode_scaled(
    data: memoryview, buffer: memoryview, size: tuple[int, int], eighths: int
) -> NDArray[np.uint8] | None:
    """Pixels (height, width, 3) in ``buffer``, which has just their bytes; ``size`` is
    (width, height), rounded up. None: the file is not for it. Runs without the GIL.

    Beside libjpeg-turbo the picture is nearer to the full one at 1/8, 2/8 and 4/8: of a block all
    frequencies below the new limit are kept and none above.
    """
    if not chosen().native:
        return None
    from photocraft_local.files import _native

    width, height = size
    refused = _native.decode(data, buffer, height, width, eighths)
    if refused:
        _log.debug("a JPEG goes to libjpeg-turbo: %s", refused)
        return None
    return np.frombuffer(buffer, np.uint8).reshape(height, width, 3)
