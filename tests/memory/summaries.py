"""An episode that has not begun, steps for it that state all there is to state, and its S."""

from __future__ import annotations

import json
from typing import Any

from photocraft_local.memory.context import Context
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.memory import EpisodeMemory
from photocraft_local.records import Observation, Step, ToolCall


def unread() -> EpisodeMemory:
    record = EpisodeRecord(
        episode_id="20240506-070809-aaaaaa",
        started="2024-05-06T07:08:09+00:00",
        question="dogs",
        backbone="scripted",
    )
    return EpisodeMemory(Context("S", ["q"]), record)


def summary(one: EpisodeMemory) -> dict[str, Any]:
    text = str(one.messages()[2]["content"])
    read: dict[str, Any] = json.loads(text.split("\n", 1)[1])
    return read


def filtered(index: int, **more: Any) -> Step:
    call = ToolCall("filter_photos", {"when": f"June {1900 + index}", "save_as": f"set_{index}"})
    photos = [{"uid": f"p{index:03d}{n}"} for n in range(5)]
    seen = Observation("filter_photos", {"photos": photos, "count": index}, brief="5 photos")
    return Step(index, call, seen, **{"thought": f"thought {index}", **more})


def refused(index: int) -> Step:
    rows = [{"uid": f"r{index:03d}{n}", "constraint": "in June", "value": "May"} for n in (1, 2)]
    data = {"accepted": False, "unmet": rows, "unmet_photos": [row["uid"] for row in rows]}
    return Step(
        index,
        ToolCall("submit_answer", {}),
        Observation("submit_answer", data, error="not accepted"),
    )


def compared(index: int) -> Step:
    rows = [{"uid": f"c{index:03d}{n}", "probability": n / 2, "passes": bool(n)} for n in range(2)]
    call = ToolCall("compare_photos", {"question": "a dog?"})
    return Step(index, call, Observation("compare_photos", {"photos": rows, "count": 1}))


def viewed(index: int) -> Step:
    images = ((f"v{index:03d}", b"\x89PNG"),)
    seen = Observation(
        "view_photos", {"photos": [f"v{index:03d}"]}, images=images, brief="1 picture"
    )
    return Step(index, ToolCall("view_photos", {"photos": [f"v{index:03d}"]}), seen, "I look.")
