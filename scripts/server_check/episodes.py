"""A small library of photos for the check, and whether the episodes on it are whole.

What random weights say is chance; that each call is valid, that each limit holds and that each
question ends is not.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.validate import problems

NUM_PHOTOS = 6
_KINDS = {".jpg", ".jpeg", ".png", ".heic"}


def make_library(folder: Path, cache: Path, photos: Path | None) -> int:
    """Indexes some photos of ``photos``, or drawn ones, into ``folder``; how many."""
    taken = folder.with_name("photos")
    taken.mkdir(parents=True)
    if photos is None:
        draw(taken)
    else:
        files = [f for f in sorted(photos.iterdir()) if f.suffix.lower() in _KINDS]
        for file in files[:NUM_PHOTOS]:
            shutil.copy(file, taken / file.name)
    with PhotoSearch(Settings(library=folder, cache=cache, encoder="null")) as search:
        search.index(taken)
        return search.status().num_photos


def draw(folder: Path) -> None:
    """Pictures of noise over a gradient, of several sizes; the same each time."""
    import numpy as np
    from PIL import Image

    for number in range(NUM_PHOTOS):
        generator = np.random.default_rng(number)
        height, width = 480 + 160 * (number % 3), 640 + 320 * (number % 2)
        slope = np.linspace(0, 200, width)[None, :, None]
        noise = generator.integers(0, 55, (height, width, 3))
        Image.fromarray((slope + noise).astype(np.uint8)).save(folder / f"drawn-{number}.jpg")


def judged(found: list[dict[str, Any]], max_turns: int) -> dict[str, Any]:
    """What is wrong with finished episodes (``faults``), and how they went."""
    schemas = {tool.name: tool.parameters for tool in standard_tools()}
    faults: list[str] = []
    steps = rejected = prompt = cached = 0
    for episode in found:
        if "trace" not in episode:
            faults.append(f"no answer: {episode.get('error')}")
            continue
        record = trajectory.load(Path(episode["trace"]))
        if record.status != "answered" or not (record.answer and _ends(episode)):
            faults.append(f"status {record.status}, no answer and no abstention")
        if len(record.steps) > max_turns + 2:
            faults.append(f"{len(record.steps)} steps")
        for step in record.steps:
            faults += problems(step.call.arguments, schemas[step.call.name], step.call.name)
        reasons = {str(entry["reason"]) for entry in record.rejected}
        faults += sorted(reasons & {"malformed call"})
        steps, rejected = steps + len(record.steps), rejected + len(record.rejected)
        prompt += sum(step.usage.prompt for step in record.steps)
        cached += sum(step.usage.cached for step in record.steps)
    return {
        "faults": faults,
        "episodes": len(found),
        "steps": steps,
        "rejected": rejected,
        "prompt_tokens": prompt,
        "cached_tokens": cached,
    }


def _ends(episode: dict[str, Any]) -> bool:
    return bool(episode["photos"] or episode["reason"])
