"""The composition root: ``PhotoSearch``, the only place that builds concrete classes.

Knows every layer below and nothing of the terminal. Heavy parts are built on first use.
"""

from __future__ import annotations

from photocraft_local.app.photo_search import PhotoSearch
from photocraft_local.app.results import (
    AnsweredPhoto,
    AskAnswer,
    AskedPlan,
    AskedRun,
    Candidates,
    FoundPhoto,
    IndexSummary,
    LibraryStatus,
    PhotoDetails,
    SearchAnswer,
)

__all__ = [
    "AnsweredPhoto",
    "AskAnswer",
    "AskedPlan",
    "AskedRun",
    "Candidates",
    "FoundPhoto",
    "IndexSummary",
    "LibraryStatus",
    "PhotoDetails",
    "PhotoSearch",
    "SearchAnswer",
]
