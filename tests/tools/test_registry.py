"""One door to all tools: schemas are stable bytes, bad calls come back with the way out."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest
from tool_album import Album, as_text

from photocraft_local.errors import MalformedCall, UnreadablePhoto, UsageError
from photocraft_local.records import Observation, Photo, ToolCall
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import present_path
from photocraft_local.tools.ports import Arguments, Tool
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.sets import PhotoSets
from photocraft_local.tools.standard import standard_tools

NAMES = [
    "around",
    "combine_sets",
    "compare_photos",
    "compress_context",
    "fetch_image",
    "filter_photos",
    "get_metadata",
    "list_events",
    "lookup",
    "plan",
    "recall",
    "search_photos",
    "submit_answer",
    "view_photos",
    "zoom_in",
]


def test_every_row_of_the_design_is_there(registry: Registry) -> None:
    assert registry.names() == NAMES


def test_schemas_are_the_same_bytes_in_any_order_of_tools(context: ToolContext) -> None:
    first = Registry(standard_tools(), context).schemas()
    second = Registry(reversed(standard_tools()), context).schemas()
    assert json.dumps(first) == json.dumps(second)
    assert [entry["name"] for entry in first] == NAMES
    assert list(first[0]) == sorted(first[0])
    first[0]["parameters"]["properties"].clear()
    assert Registry(standard_tools(), context).schemas() == second


@pytest.mark.parametrize("tool", standard_tools(), ids=lambda tool: tool.name)
def test_schemas_are_valid_strict_and_described(tool: Tool) -> None:
    assert isinstance(tool, Tool)
    jsonschema.Draft202012Validator.check_schema(dict(tool.parameters))
    assert tool.parameters["additionalProperties"] is False
    assert len(tool.description) > 80
    for name, part in tool.parameters["properties"].items():
        assert part.get("description"), name


def malformed(registry: Registry, tool: str, **arguments: object) -> MalformedCall:
    with pytest.raises(MalformedCall) as caught:
        registry.call(ToolCall(tool, dict(arguments)))
    return caught.value


def test_an_unknown_tool_is_answered_with_the_known_ones(registry: Registry) -> None:
    error = malformed(registry, "search_photo", text="dog")
    assert "'search_photo' (did you mean 'search_photos'?)" in error.message
    assert "view_photos" in error.hint
    odd = malformed(registry, "<|im_end|>\n" * 50)
    assert "<|" not in odd.message
    assert len(odd.message) < 200


def test_bad_arguments_are_named(registry: Registry) -> None:
    error = malformed(registry, "search_photos", txt="dog", top_k=0)
    assert "'txt' is not an argument (did you mean 'text'?)" in error.message
    assert "top_k is 0, 1 to 200 is allowed" in error.message
    assert "arguments of search_photos: any_text, exact, like" in error.hint
    assert "uid is missing" in malformed(registry, "zoom_in", x=1).message
    assert "21 items, 1 to 20" in malformed(registry, "view_photos", photos=["p1"] * 21).message
    claim = {"constraint": "so", "relation": {"unit": "fortnight", "of": "p1"}}
    nested = malformed(registry, "submit_answer", evidence=[claim]).message
    assert "evidence[0].relation.unit must be one of: day, week" in nested
    assert "evidence[0].relation.'of' is not an argument" in nested
    assert (
        "shift must be a whole number"
        in malformed(registry, "around", unit="day", shift=1.5).message
    )
    assert "top_k is 100000" in malformed(registry, "search_photos", text="a", top_k=10**5).message


class Failing:
    name = "failing"
    description = "fails"
    parameters = schema.arguments(bug=schema.flag("a bug"))

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        if arguments.get("bug"):
            raise KeyError("bug")
        raise UsageError("the thing is shut", hint="open it")


def test_a_failure_is_an_observation_and_a_bug_is_raised(context: ToolContext) -> None:
    registry = Registry([Failing()], context)
    seen = registry.call(ToolCall("failing"))
    assert not seen.ok
    assert seen.error == "the thing is shut; open it"
    with pytest.raises(KeyError):
        registry.call(ToolCall("failing", {"bug": True}))


def test_two_tools_of_one_name_are_refused(context: ToolContext) -> None:
    with pytest.raises(ValueError, match="two tools"):
        Registry([Failing(), Failing()], context)


def test_the_same_call_gives_the_same_bytes(registry: Registry) -> None:
    calls = [
        ToolCall("search_photos", {"text": "a cat", "top_k": 5}),
        ToolCall("filter_photos", {"where": "has_gps"}),
        ToolCall("list_events", {}),
    ]
    for call in calls:
        assert as_text(registry.call(call)) == as_text(registry.call(call))


def test_what_a_cut_episode_saw_is_put_back_as_it_was_or_said_to_be_gone(
    registry: Registry, context: ToolContext, album: Album, monkeypatch: pytest.MonkeyPatch
) -> None:
    uids = [album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21)]
    call = ToolCall("view_photos", {"photos": uids})
    seen = registry.call(call)
    kept = replace(seen, images=tuple((uid, b"") for uid, _ in seen.images))  # as a trace has it
    assert registry.put_back(call, kept) == seen
    saves = ToolCall("filter_photos", {"when": "October 2008", "save_as": "walk"})
    found = registry.call(saves)
    context.sets = PhotoSets()
    assert registry.put_back(saves, found) == found
    assert "walk" in context.sets
    failed = registry.call(ToolCall("filter_photos", {"where": "((", "save_as": "never"}))
    assert registry.put_back(saves, failed) is failed

    def away(photo: Photo) -> bytes:
        if photo.uid == uids[0]:
            raise UnreadablePhoto("its drive is not mounted")
        return present_path(photo)

    monkeypatch.setattr("photocraft_local.tools.photos.present_path", away)
    now = registry.put_back(call, kept)
    assert [uid for uid, _ in now.images] == uids[1:]
    assert "not mounted" in now.data["not_shown"][uids[0]]
