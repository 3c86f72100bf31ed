"""One line of the doctor's report. Knows no check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``hint`` is the way out where ``state`` is not ok."""

    name: str
    state: State
    detail: str
    hint: str = ""
