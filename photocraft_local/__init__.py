"""Private photo search on your own machine: a question in, the exact set of photos out.

``from photocraft_local import PhotoSearch, Settings`` is the Python API; everything else is
internal. Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from photocraft_local.app import PhotoSearch
    from photocraft_local.errors import PhotocraftError
    from photocraft_local.settings import Settings

__all__ = ["PhotoSearch", "PhotocraftError", "Settings", "__version__"]
__version__ = "0.1.0"

_HOMES = {
    "PhotoSearch": "photocraft_local.app",
    "PhotocraftError": "photocraft_local.errors",
    "Settings": "photocraft_local.settings",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
