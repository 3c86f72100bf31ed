"""Which libraries the backbone needs, and that they stay off the network.

Looks without importing; whoever imports them calls ``prepare`` first. Loads no model.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from photocraft_local.errors import MissingExtraError

MODULES = ("torch", "torchvision", "transformers", "llguidance")
EXTRA = "transformers"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",  # it warns of each child process that is started later
}


def missing() -> str:
    """The first of ``MODULES`` that is not installed; "" if all are."""
    return next((name for name in MODULES if find_spec(name) is None), "")


def prepare(purpose: str = "the transformers backbone") -> None:
    """Before the first import of them: they read these variables only once.

    Raises MissingExtraError.
    """
    if absent := missing():
        raise MissingExtraError(absent, EXTRA, purpose)
    os.environ |= OFFLINE
