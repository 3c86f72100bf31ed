"""Zoom, then search by the part: the true loop and tools on real photos, a scripted model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tool_album import TODAY, Album, Call

from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.pictures import Picture
from photocraft_local.errors import ServerLost
from photocraft_local.imaging.pictures import jpeg_bytes
from photocraft_local.memory.memory import Memory
from photocraft_local.records import ToolCall
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.viewing import Viewing

RULE = PictureRule(32, 64 * 32**2, 1024 * 32**2)
PART = {"x": 100, "y": 40, "width": 200, "height": 180}


@pytest.fixture
def own(album: Album) -> Picture:
    return Picture("q1", album.library.photo(album.uid("cake.jpg")).paths[0], "ab" * 32)


def agent(
    context: ToolContext, own: Picture, tmp_path: Path, *script: Line
) -> tuple[Agent, ScriptedModel]:
    settings = replace(context.settings, library=tmp_path)
    memory = Memory.open(settings)
    context.memory, context.pictures = memory, {own.id: own.path}
    context.crops.clear()
    context.viewing = Viewing(RULE, most=4, tokens=2000)
    model = ScriptedModel(script)
    registry = Registry(standard_tools(), context)
    shown = {own.id: jpeg_bytes(context.viewing.view(_pixels(own.path), longest=448).pixels)}
    return Agent(model, registry, memory, settings, today=TODAY, shown=shown), model


def _pixels(path: bytes) -> Any:
    from photocraft_local.files.decode import decode_upright

    return decode_upright(path).pixels


def parts(messages: Any) -> list[str]:
    """The labels of all pictures of a prompt."""
    found: list[str] = []
    for one in messages:
        content = one["content"] if isinstance(one["content"], list) else []
        found += [part["uuid"] for part in content if part["type"] == "image_url"]
    return found


def test_zoom_then_search_by_the_part_then_answer_with_a_crop(
    context: ToolContext, album: Album, own: Picture, tmp_path: Path, call: Call
) -> None:
    uid = album.uid("cake.jpg")
    crop = call("zoom_in", uid=uid, **PART).data["uid"]  # the same each time
    proof = [{"constraint": "looks like this", "like": ["q1.c1"], "anchors": [uid]}]
    asker, model = agent(
        context, own, tmp_path,
        ToolCall("fetch_image", {"uid": "q1"}),
        ToolCall("zoom_in", {"uid": "q1", **PART}),
        ToolCall("search_photos", {"like": ["q1.c1"], "exact": True, "save_as": "alike"}),
        ToolCall("zoom_in", {"uid": uid, **PART}),
        ToolCall("compress_context", {"reason": "it is long"}),
        ToolCall("view_photos", {"photos": [crop, "q1.c1"]}),
        ToolCall("submit_answer", {"photos": [crop], "evidence": proof}),
    )  # fmt: skip
    answer = asker.ask("where else is this", pictures=(own,))
    assert answer.uids == (uid,)
    (evidence,) = answer.evidence[uid]
    assert evidence.met
    assert "q1.c1" in evidence.constraint or "q1.c1" in evidence.rule
    assert [parts(seen) for seen in model.seen] == [
        ["q1"],
        ["q1", "q1"],
        ["q1", "q1", "q1.c1"],
        ["q1", "q1", "q1.c1"],
        ["q1", "q1", "q1.c1", crop],
        ["q1"],  # compacted: the question's own stays
        ["q1", f"1. {crop}", "2. q1.c1"],
    ]
    summary = str(model.seen[5][-1]["content"])
    assert crop in summary
    assert "q1.c1" in summary
    trace = asker.last_trace
    assert trace
    text = trace.read_text("utf-8")
    assert "base64," not in text
    assert [step.observation.images for step in trajectory.load(trace).steps[1:2]] == [
        (("q1.c1", b""),)
    ]


def test_a_cut_episode_has_its_crops_again(
    context: ToolContext, own: Picture, tmp_path: Path
) -> None:
    zooms = [
        ToolCall("zoom_in", {"uid": "q1", **PART}),
        ToolCall("zoom_in", {"uid": "q1", **PART, "x": 0}),
        ToolCall("zoom_in", {"uid": "q1.c2", "x": 9, "y": 9, "width": 50, "height": 50}),
    ]
    asker, model = agent(context, own, tmp_path, *zooms, ServerLost("gone"))
    with pytest.raises(ServerLost):
        asker.ask("what is this", pictures=(own,))
    cut, trace = model.seen[-1], asker.last_trace
    assert trace
    answer = ToolCall("submit_answer", {"photos": [], "evidence": [], "text": "A cat."})
    asker, model = agent(
        context, own, tmp_path, ToolCall("view_photos", {"photos": ["q1.c3"]}), answer
    )
    assert asker.resume(trace).text == "A cat."
    assert model.seen[0] == cut  # bytes of pictures and all
    assert parts(model.seen[1])[-1] == "q1.c3"


def test_twenty_photos_where_a_prompt_takes_four_pictures(
    context: ToolContext, album: Album, own: Picture, tmp_path: Path
) -> None:
    uids = sorted(set(album.uids.values()))[:20]
    answer = ToolCall("submit_answer", {"photos": [], "evidence": [], "reason": "none is it"})
    asker, model = agent(context, own, tmp_path, ToolCall("view_photos", {"photos": uids}), answer)
    assert asker.ask("where else is this", pictures=(own,)).reason == "none is it"
    assert 1 < len(parts(model.seen[-1])) <= 1 + 4
