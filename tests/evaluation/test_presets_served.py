"""Each preset driven over HTTP by a scripted model server, as whole commands: which tools and which
messages reach the server, and that its own usage stands in the figures."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_disbench
import pytest

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

sys.path.append(str(Path(__file__).resolve().parent.parent / "serving"))

from played_api import Handler, PlayedServer, num_pictures, played, says

from photocraft_local.agent import trajectory
from photocraft_local.cli.main import main
from photocraft_local.evaluation.results import RunFolder

MAY = 'time >= "2012-05-01" and time < "2012-06-01" and match_address(address, "Lisbon")'
SEARCH = {"text", "photos", "top_k", "save_as", "search_within"}
WEB, ZOOM = {"query", "top_k"}, {"uid", "x", "y", "width", "height"}
# systems.md names them; what ends an episode and asks for compression has no published schema.
SCHEMAS: dict[str, dict[str, set[str]]] = {
    "imageseeker": {
        "ImageSearch": SEARCH,
        "GetMetadata": {"photos", "fields"},
        "FilterMetadata": {"expression", "save_as", "filter_within"},
        "ViewPhotos": {"photos"},
        "WebSearch": WEB,
        "compress_context": {"reason"},
        "submit_answer": {"photos", "set"},
    },
    "lmm-searcher": {
        "image_search": {"query", "top_k"},
        "visual_search": {"uid", "top_k"},
        "fetch_image": {"uid"},
        "zoom_in": ZOOM,
        "WebSearch": WEB,
        "submit_answer": {"photos"},
    },
    "direct": {"submit_answer": {"photos"}},
}
BEGINS = {
    "imageseeker": "You find photos in one person's library.",
    "lmm-searcher": "You find photos in one person's library.",
    "direct": "You find photos in one person's library.",
    "photocraft": "You find photos in one person's private library.",
}


def tools_of(body: dict[str, Any]) -> dict[str, set[str]]:
    """Name → arguments, as the system text tells the model."""
    lines = [line for line in texts_of(body)[0].splitlines() if line.startswith('{"type":"func')]
    told = [json.loads(line)["function"] for line in lines]
    return {one["name"]: set(one["parameters"]["properties"]) for one in told}


def allowed(body: dict[str, Any]) -> set[str]:
    """The calls that the reply's grammar lets through."""
    return set(re.findall(r'"const": "(\w+)"', json.dumps(body["response_format"])))


def texts_of(body: dict[str, Any]) -> list[str]:
    return [
        content
        if isinstance(content, str)
        else "".join(part.get("text", "") for part in content if part["type"] == "text")
        for content in (message["content"] for message in body["messages"])
    ]


def ids_of(body: dict[str, Any]) -> list[str]:
    """Of the newest result that lists photos."""
    results = re.findall(r'^\{.*"photos".*\}$', "\n".join(texts_of(body)[2:]), re.MULTILINE)
    rows = [json.loads(text).get("result", {}).get("photos", []) for text in results]
    last = next(row for row in reversed(rows) if row)
    return [one if isinstance(one, str) else one.get("photo_id") or one["uid"] for one in last]


def call(name: str, **arguments: object) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})


def drives(preset: str, empty: bool = False) -> Callable[[Handler, dict[str, Any]], None]:
    """The script of a preset: what it says depends on the number of its own turns alone."""

    def turn(handler: Handler, body: dict[str, Any]) -> None:
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        says(_said(preset, turns, body, empty))(handler, body)

    return turn


def _said(preset: str, turns: int, body: dict[str, Any], empty: bool) -> str:
    if empty or preset == "direct":
        given = {"evidence": [], "reason": "none"} if preset == "photocraft" else {}
        return call("submit_answer", photos=[], **given)
    if preset == "imageseeker":
        wanted = [
            call("FilterMetadata", expression=MAY, save_as="may"),
            call("ImageSearch", text="person", top_k=3, search_within="may"),
        ]
        return wanted[turns] if turns < 2 else call("submit_answer", set="may")
    if preset == "lmm-searcher":
        if turns < 6:
            return call("image_search", query=f"person {turns}", top_k=3)
        if turns == 6:
            return call("fetch_image", uid=ids_of(body)[0])
        return call("submit_answer", photos=ids_of(body)[:1])
    if not turns:
        return call("filter_photos", where='date == "2012-05"', save_as="may")
    return call("submit_answer", set="may", evidence=[{"constraint": "May", "when": "May 2012"}])


@pytest.fixture(scope="module")
def data(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_disbench.made(shared, tmp_path_factory.mktemp("data") / "set", num_users=1)
    lines = (folder / "queries.jsonl").read_text().splitlines()
    (folder / "queries.jsonl").write_text(lines[0] + "\n" + lines[3] + "\n")  # may, ever
    return folder


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture
def evaluated(
    data: Path,
    libraries: Path,
    shared_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., dict[str, Any]]:
    """Runs the command against a server; gives the object of ``--json``."""
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(tmp_path / "memory"))
    monkeypatch.setenv("PHOTOCRAFT_VERIFY", "false")
    monkeypatch.setenv("PHOTOCRAFT_SKILLS", "false")

    def run(server: PlayedServer, preset: str, *more: str, out: str = "run") -> dict[str, Any]:
        command = ["eval", "disbench", str(data), "--preset", preset, "--encoder", "labels"]
        command += ["--backbone-url", f"unix:{server.endpoint.socket}", "--json", *more]
        command += ["--out", str(tmp_path / out), "--libraries", str(libraries)]
        code = main(command)
        told = capsys.readouterr()
        assert code == 0, told.err
        report: dict[str, Any] = json.loads(told.out)
        return report

    return run


def asked(server: PlayedServer) -> list[dict[str, Any]]:
    return [body for body in server.seen if "response_format" in body]


@pytest.mark.parametrize("preset", ["imageseeker", "lmm-searcher", "direct", "photocraft"])
def test_tools_messages_and_usage(
    evaluated: Callable[..., dict[str, Any]], tmp_path: Path, preset: str
) -> None:
    with played(always=drives(preset), at=tmp_path / "s") as server:
        told = evaluated(server, preset)
        bodies = asked(server)
    rows = RunFolder.load(tmp_path / "run").sorted_rows()
    assert {row.status for row in rows} == {"answered"}
    if preset in ("imageseeker", "photocraft"):
        assert next(row for row in rows if row.question == "0-may").em == 1
    for body in bodies:
        assert texts_of(body)[0].startswith(BEGINS[preset])
        if preset in SCHEMAS:
            assert tools_of(body) == SCHEMAS[preset]
            assert allowed(body) == set(SCHEMAS[preset])
        else:
            assert "list_events" not in tools_of(body)  # Standard: there are no events
    cost = told["figures"]["cost"]
    assert cost["prompt_tokens"] == 90 * len(bodies)  # what the server said, each time
    assert cost["cached_share"] == pytest.approx(64 / 90, abs=1e-4)
    assert cost["generated_tokens"] == 7 * len(bodies)
    assert all(row.seconds > 0 for row in rows)
    if preset == "direct":
        assert [num_pictures(body) for body in bodies] == [12, 12]  # all that was found
        assert len(bodies) == 2  # one turn a question
    if preset == "lmm-searcher":
        blanked = [body for body in bodies if "left out to save room" in "".join(texts_of(body))]
        assert len(blanked) == 4  # from the sixth result on, of two questions
        assert num_pictures(bodies[-1]) == 1


def test_embeddings_alone_ask_no_model(
    evaluated: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    with played(at=tmp_path / "s") as server:
        told = evaluated(server, "embedding-only", "--top-k", "3")
        assert not server.seen
    assert told["figures"]["cost"]["cached_share"] is None
    rows = RunFolder.load(tmp_path / "run").sorted_rows()
    assert all(len(row.predicted) == 3 for row in rows)


@pytest.mark.parametrize("preset", ["imageseeker", "direct", "photocraft"])
def test_a_guess_is_codes_and_abstaining_stays_empty(
    evaluated: Callable[..., dict[str, Any]], tmp_path: Path, preset: str
) -> None:
    with played(always=drives(preset, empty=True), at=tmp_path / "s") as server:
        evaluated(server, preset, out="guess")
        evaluated(server, preset, "--on-doubt", "abstain", out="abstain")
    guessed = RunFolder.load(tmp_path / "guess").sorted_rows()
    empty = RunFolder.load(tmp_path / "abstain").sorted_rows()
    assert all(row.predicted and "guessed" in row.reason for row in guessed)
    assert not any(row.predicted for row in empty)


def test_an_open_library_offers_events_and_split_and_threads_reach_the_server(
    evaluated: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    with played(always=drives("photocraft"), at=tmp_path / "s") as server:
        more = ("--track", "open", "--split", "intra", "--concurrency", "2")
        told = evaluated(server, "photocraft", *more)
        assert "list_events" in tools_of(asked(server)[0])
    assert told["figures"]["all"]["num"] == 1
    assert told["identity"]["track"] == "open"


def test_runs_of_a_published_preset_are_voted_on(
    evaluated: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """The third of three runs finds nothing; two are a majority."""

    def turn(handler: Handler, body: dict[str, Any]) -> None:
        drives("imageseeker", empty=body.get("seed") == 3)(handler, body)

    with played(always=turn, at=tmp_path / "s") as server:
        told = evaluated(server, "imageseeker", "--runs", "3", "--split", "intra")
        bodies = asked(server)
    assert {(body.get("seed"), body["temperature"] > 0) for body in bodies} == {
        (None, False), (2, True), (3, True)
    }  # fmt: skip
    (row,) = RunFolder.load(tmp_path / "run").sorted_rows()
    assert row.em == 1
    assert [len(found) for found in row.runs] == [3, 3, 0]
    assert row.turns == 7
    assert row.prompt_tokens == 90 * len(bodies)
    assert told["runs"]["best"] == told["runs"]["majority"] == 1
    traces = sorted(path.name for path in (tmp_path / "run/traces").rglob("*.json"))
    assert traces == ["0-may.json", "0-may~run2.json", "0-may~run3.json"]
    record = trajectory.load(tmp_path / "run" / row.trace)
    assert record.answer is not None


def test_an_ablation_takes_each_tool_and_the_sets_from_what_the_model_is_told(
    data: Path,
    libraries: Path,
    tmp_path: Path,
    evaluated: Callable[..., dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The script filters where it may, else it gives up: what the filter is worth is the table."""
    del evaluated  # for its environment

    def turn(handler: Handler, body: dict[str, Any]) -> None:
        fields = tools_of(body)
        blind = "save_as" not in fields.get("FilterMetadata", ())
        drives("imageseeker", empty=blind)(handler, body)

    names = ["no-tool:FilterMetadata", "no-tool:WebSearch", "no-sets", "no-working"]
    with played(always=turn, at=tmp_path / "s") as server:
        command = ["eval", "ablation", str(data), "--preset", "imageseeker", "--encoder", "labels"]
        command += ["--backbone-url", f"unix:{server.endpoint.socket}", "--only", ",".join(names)]
        command += ["--on-doubt", "abstain", "--libraries", str(libraries), "--json"]
        assert main([*command, "--out", str(tmp_path / "out")]) == 0
        told = [tools_of(body) for body in asked(server)]
    rows = {row["variant"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert list(rows) == ["full", *names]
    f1 = {name: row["overall F1"] for name, row in rows.items()}
    assert f1["full"] == f1["no-tool:WebSearch"] == f1["no-working"] > 0
    assert f1["no-tool:FilterMetadata"] == f1["no-sets"] == 0
    assert rows["no-sets"]["F1 change"] == -f1["full"]
    offered = {frozenset(one) for one in told}
    whole = frozenset(SCHEMAS["imageseeker"])
    assert offered == {whole, whole - {"FilterMetadata"}, whole - {"WebSearch"}}
    assert {"expression"} in [one.get("FilterMetadata") for one in told]
