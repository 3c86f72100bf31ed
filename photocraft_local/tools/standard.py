"""The tools that come with the package. app.py hands them to the registry."""

from __future__ import annotations

from photocraft_local.tools.around import Around
from photocraft_local.tools.combine_sets import CombineSets
from photocraft_local.tools.compare_photos import ComparePhotos
from photocraft_local.tools.compress_context import CompressContext
from photocraft_local.tools.fetch_image import FetchImage
from photocraft_local.tools.filter_photos import FilterPhotos
from photocraft_local.tools.get_metadata import GetMetadata
from photocraft_local.tools.list_events import ListEvents
from photocraft_local.tools.lookup import Lookup
from photocraft_local.tools.plan import PlanTool
from photocraft_local.tools.ports import Tool
from photocraft_local.tools.recall import Recall
from photocraft_local.tools.search_photos import SearchPhotos
from photocraft_local.tools.submit_answer import SubmitAnswer
from photocraft_local.tools.view_photos import ViewPhotos
from photocraft_local.tools.zoom_in import ZoomIn


def standard_tools(*, episodic: bool = True) -> list[Tool]:
    """One of each, stateless: all state is in the ToolContext. Without episodic memory nothing
    would keep a plan."""
    tools: list[Tool] = [
        Around(),
        CombineSets(),
        ComparePhotos(),
        CompressContext(),
        FetchImage(),
        FilterPhotos(),
        GetMetadata(),
        ListEvents(),
        Lookup(),
        PlanTool(),
        Recall(),
        SearchPhotos(),
        SubmitAnswer(),
        ViewPhotos(),
        ZoomIn(),
    ]
    return [tool for tool in tools if episodic or tool.name != PlanTool.name]
