"""What tests of whole questions share: a question with a known answer, names of answers, a cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.cli.commands.ask import Early

Photocraft = Any  # conftest.py's Run
Command = Callable[..., Any]  # conftest.py's command
ITALY = "photos from Italy in October 2008"  # three photos, all taken in Arezzo on one afternoon
THREE = ["ia_DSCN0010.jpg", "ia_DSCN0021.jpg", "ia_DSCN0042.jpg"]


def names(out: str) -> list[str]:
    return sorted(Path(photo["paths"][0]).name for photo in json.loads(out)["photos"])


def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as the first set is in hand."""

    def stop(self: Early, found: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Early, "candidates", stop)
