"""Published systems as presets: their tools by name, what their model sees, how they end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_disbench
import pytest

from photocraft_local import Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.benchmarking import Options, evaluate
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.ablation import NAMED_SETS
from photocraft_local.evaluation.disbench.layout import load
from photocraft_local.evaluation.disbench.presets import PRESETS
from photocraft_local.evaluation.disbench.views import KEPT_RESULTS, DirectView
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.results import ResultRow, row_of
from photocraft_local.evaluation.several import majority, of_runs
from photocraft_local.evaluation.submission import submission
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, ToolSchema
from photocraft_local.serving.chat_model import Reply as Said
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.tools.validate import check_schema


class Follows:
    """A backbone that makes the calls of a list; ``$N`` in them stands for the ids of the N-th
    result, so that nothing is known beforehand."""

    name = "follows"

    def __init__(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.calls = list(calls)
        self.seen: list[list[Message]] = []
        self.tools: list[set[str]] = []
        self.results: list[list[str]] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Said:
        self.seen.append(list(messages))
        self.tools.append({tool["name"] for tool in tools})
        last = [message for message in messages if message["role"] == "tool"]
        if last:
            rows = json.loads(last[-1]["content"])["result"].get("photos", [])
            ids = [str(row.get("photo_id") or row["uid"]) for row in rows if isinstance(row, dict)]
            self.results.append(ids)
        name, arguments = self.calls.pop(0)
        filled = {
            key: self.results[int(value[1:])] if str(value).startswith("$") else value
            for key, value in arguments.items()
        }
        return Said("", ToolCall(name, filled))


MAY = 'time >= "2012-05-01" and time < "2012-06-01" and match_address(address, "Lisbon")'


@pytest.fixture(scope="module")
def data(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_disbench.made(shared, tmp_path_factory.mktemp("data") / "set", num_users=1)
    lines = (folder / "queries.jsonl").read_text().splitlines()
    (folder / "queries.jsonl").write_text(lines[0] + "\n")  # "photos taken in May 2012"
    return folder


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


def ran(
    data: Path, libraries: Path, cache: Path, tmp_path: Path, preset: str, model: Follows
) -> ResultRow:
    settings = Settings(library=tmp_path / "l", cache=cache, memory_folder=tmp_path / "m",
                        encoder="labels")  # fmt: skip
    options = Options(preset=preset, libraries=libraries, model=lambda: model)
    _, rows = evaluate(load(data), settings, options, tmp_path / "run")
    assert not model.calls, "the model was not asked for all of its calls"
    return rows[0]


def test_imageseeker(data: Path, libraries: Path, shared_cache: Path, tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("ImageSearch", {"text": "person", "top_k": 3, "save_as": "people"}),
        ("ImageSearch", {"photos": "$0", "top_k": 2, "search_within": "people"}),
        ("FilterMetadata", {"expression": MAY, "save_as": "may"}),
        ("GetMetadata", {"photos": "$2", "fields": ["time", "address"]}),
        ("ViewPhotos", {"photos": "$2"}),
        ("WebSearch", {"query": "Rua Augusta", "top_k": 1}),
        ("submit_answer", {"set": "may"}),
    ]
    model = Follows(calls)
    row = ran(data, libraries, shared_cache, tmp_path, "imageseeker", model)
    assert (row.em, row.status, row.turns, row.failure_class) == (1, "answered", 7, "")
    assert model.tools[0] == {"ImageSearch", "GetMetadata", "FilterMetadata", "ViewPhotos",
                              "WebSearch", "compress_context", "submit_answer"}  # fmt: skip
    assert len(model.results[0]) == 3
    assert set(model.results[1]) <= set(model.results[0])  # a subset was searched
    shown = [json.loads(m["content"]) for m in model.seen[-1] if m["role"] == "tool"]
    assert not any("state" in one for one in shown)  # nothing of our memory is seen
    facts = shown[3]["result"]["photos"][0]
    assert facts["time"] == "2012-05-04T09:30:00"
    assert facts["address"] == "Rua Augusta, Santa Maria Maior, Lisbon, Portugal"
    assert set(shown[0]["result"]["photos"][0]) == {"photo_id", "score"}
    assert model.seen[0][0]["content"].startswith("You find photos")
    assert "filter_photos" not in json.dumps(model.seen[0])


def test_lmm_searcher_blanks_old_results_and_keeps_their_ids(
    data: Path, libraries: Path, shared_cache: Path, tmp_path: Path
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("image_search", {"query": "person", "top_k": 4})]
    calls += [("image_search", {"query": f"dog {number}", "top_k": 3}) for number in range(7)]
    calls += [("submit_answer", {"photos": "$0"})]
    model = Follows(calls)
    row = ran(data, libraries, shared_cache, tmp_path, "lmm-searcher", model)
    assert model.tools[0] == {"image_search", "visual_search", "fetch_image", "zoom_in",
                              "WebSearch", "submit_answer"}  # fmt: skip
    assert len(row.predicted) == 4
    assert row.finished_by_itself
    results = [json.loads(m["content"]) for m in model.seen[-1] if m["role"] == "tool"]
    blanked = [one for one in results if one["result"] == "left out to save room"]
    assert len(results) - len(blanked) == KEPT_RESULTS
    assert blanked[0]["ids"] == model.results[0]


def test_lmm_searcher_fetches_and_zooms(
    data: Path, libraries: Path, shared_cache: Path, tmp_path: Path
) -> None:
    class Zooms(Follows):
        def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Said:
            said = super().complete(messages, tools)
            assert said.call is not None
            if isinstance(said.call.arguments.get("uid"), list):
                said.call.arguments["uid"] = said.call.arguments["uid"][0]
            return said

    model = Zooms(
        [
            ("image_search", {"query": "person", "top_k": 1}),
            ("fetch_image", {"uid": "$0"}),
            ("zoom_in", {"uid": "$0", "x": 0, "y": 0, "width": 64, "height": 64}),
            ("zoom_in", {"uid": "$0", "x": 0, "y": 0, "width": 99999, "height": 64}),
            ("submit_answer", {"photos": "$0"}),
        ]
    )
    row = ran(data, libraries, shared_cache, tmp_path, "lmm-searcher", model)
    assert row.tools == {"image_search": 1, "fetch_image": 1, "zoom_in": 2, "submit_answer": 1}
    told = [json.loads(m["content"]) for m in model.seen[-1] if m["role"] == "tool"]
    assert "error" in told[3]  # out of bounds is said, not clamped
    pictures = [m for m in model.seen[-1] if m["role"] == "user" and "image_url" in json.dumps(m)]
    assert len(pictures) == 2


def test_direct_is_one_turn_of_the_model(
    data: Path, libraries: Path, shared_cache: Path, tmp_path: Path
) -> None:
    model = Follows([("submit_answer", {"photos": []})])
    row = ran(data, libraries, shared_cache, tmp_path, "direct", model)
    assert len(model.seen) == 1
    assert model.tools == [{"submit_answer"}]
    assert row.tools == {"ImageSearch": 1, "ViewPhotos": 1, "GetMetadata": 1, "submit_answer": 1}
    assert sum("image_url" in json.dumps(message) for message in model.seen[0]) == 1
    assert "guessed" in row.reason


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_left_of_a_preset_can_be_offered(name: str) -> None:
    """Without any of its tools, and without named sets."""
    preset = PRESETS[name]
    for less in (NAMED_SETS, *[tool.name for tool in preset.tools(True, True)]):
        for tool in preset.lacking([less]).tools(True, True):
            check_schema(tool.parameters, f"{tool.name} without {less}")


def test_direct_leaves_a_summary_to_the_model() -> None:
    """Not to the calls that are made for it."""
    model = Follows([("write_memory", {"digest": "nothing yet"})])
    view = DirectView(model, "system", "dogs")
    tools = [{"name": "write_memory", "description": "", "parameters": {}}]
    said = view.complete([{"role": "system", "content": "ours"}], tools)
    assert said.call == ToolCall("write_memory", {"digest": "nothing yet"})
    assert model.tools == [{"write_memory"}]


def test_imageseeker_compresses_by_the_models_own_summary(
    data: Path, libraries: Path, shared_cache: Path, tmp_path: Path
) -> None:
    calls = [ToolCall("FilterMetadata", {"expression": MAY, "save_as": "may"})]
    calls += [ToolCall("ImageSearch", {"text": f"dog {n}", "top_k": 12}) for n in range(9)]
    calls += [ToolCall("compress_context", {"reason": "much was seen"})]
    calls += [ToolCall("submit_answer", {"set": "may"})]
    summary = {"digest": ["photos of May were filtered"], "session": "months work",
               "constraints": [], "confirmed": [], "rejected": [],
               "sets": [{"name": "may", "count": 3}], "sub_goal": "answer",
               "next_action": "submit may"}  # fmt: skip
    written = Said("", ToolCall("write_memory", summary))
    model = ScriptedModel(calls, window=6000, summaries=[written] * 9)
    settings = Settings(library=tmp_path / "l", cache=shared_cache, memory_folder=tmp_path / "m",
                        encoder="labels")  # fmt: skip
    options = Options(preset="imageseeker", libraries=libraries, model=lambda: model)
    _, rows = evaluate(load(data), settings, options, tmp_path / "run")
    assert (rows[0].em, rows[0].status) == (1, "answered")
    record = trajectory.load(tmp_path / "run" / rows[0].trace)
    assert record.compactions[0].plain is not None
    assert record.config["summary"] == "model"
    last = [str(message["content"]) for message in model.seen[-1]]
    assert any("photos of May were filtered" in text for text in last)
    assert not any("dog 0" in text for text in last)  # the turns themselves are gone


GOLD = EvalQuestion("q", "u", "?", frozenset({"a", "b"}), "intra-event")


def test_what_choosing_is_worth() -> None:
    reply = Reply(("a", "b"), runs=(("a", "b"), ("a",), ("c",)))
    row = row_of(GOLD, reply)
    told = of_runs([row])
    assert majority(reply.runs) == {"a"}
    assert majority([["a"], ["a", "b"], ["b", "a"]]) == {"a", "b"}
    assert (told["best"], told["chosen"]) == (1, 1)
    assert told["majority"] == pytest.approx(2 / 3)
    assert told["one"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert of_runs([replace(row, runs=())]) == {}


def test_a_submission_tells_queries_apart_by_id_alone() -> None:
    row = row_of(GOLD, Reply(("a",)))
    told = submission([row], {"track": "standard"})
    assert told == {"meta": {"track": "standard"}, "predictions": {"q": ["a"]}}
    with pytest.raises(EvaluationError, match="two libraries"):
        submission([row, replace(row, library="v")], {})
