"""What scripts/server_check judges by: it names episodes that are not whole, and reads counters."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.records import Answer, Observation, Step, ToolCall, Usage

GOOD = Step(
    1,
    ToolCall("filter_photos", {"where": "width > 0", "save_as": "all"}),
    Observation("filter_photos"),
    "",
    Usage(90, 64, 7),
)


@pytest.fixture
def check(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(root / "scripts"))
    import server_check.client
    import server_check.episodes
    import server_check.findings

    return server_check


def saved(folder: Path, *steps: Step, **more: Any) -> dict[str, Any]:
    record = Trajectory(question="q", today=date(2026, 1, 1), backbone="vllm tiny")
    record.steps, record.status, record.answer = list(steps), "answered", Answer((), reason="none")
    for name, value in more.items():
        setattr(record, name, value)
    folder.mkdir(exist_ok=True)
    return {"trace": str(record.save(folder)), "photos": 0, "reason": "none"}


def test_whole_episodes_have_no_fault_and_are_counted(check: Any, tmp_path: Path) -> None:
    rejected = {"before_step": 1, "reason": "no call", "call": None}
    found = [saved(tmp_path / "t", GOOD), saved(tmp_path / "t", GOOD, rejected=[rejected])]
    assert check.episodes.judged(found, 3) == {
        "faults": [],
        "episodes": 2,
        "steps": 2,
        "rejected": 1,
        "prompt_tokens": 180,
        "cached_tokens": 128,
    }


def test_each_kind_of_fault_is_named(check: Any, tmp_path: Path) -> None:
    wrong = replace(GOOD, call=ToolCall("filter_photos", {"were": "width > 0"}))
    malformed = {"before_step": 1, "reason": "malformed call", "call": None}
    bad: list[tuple[dict[str, Any], str]] = [
        ({"error": "the server is gone", "hint": ""}, "no answer: the server is gone"),
        (saved(tmp_path / "t", GOOD, status="running"), "status running"),
        (saved(tmp_path / "t", GOOD) | {"reason": ""}, "no answer and no abstention"),
        (saved(tmp_path / "t", *[GOOD] * 6), "6 steps"),
        (saved(tmp_path / "t", wrong), "were"),
        (saved(tmp_path / "t", GOOD, rejected=[malformed]), "malformed call"),
    ]
    for episode, said in bad:
        faults = check.episodes.judged([episode], 3)["faults"]
        assert any(said in fault for fault in faults), (said, faults)


def test_counters_of_several_label_sets_are_added_up(check: Any) -> None:
    text = (
        "# HELP vllm:num_requests_running Number of requests\n"
        'vllm:num_requests_running{engine="0"} 2.0\n'
        'vllm:num_requests_running{engine="1"} 1.0\n'
        "vllm:mm_cache_hits_total 3.0e+00\n"
        'other:thing{a="b"} 9.0\n'
    )
    found = {name: float(value) for name, value in check.client.COUNTER.findall(text)[1:]}
    assert found == {"num_requests_running": 1.0, "mm_cache_hits_total": 3.0}
    assert check.client.added_up(text)["num_requests_running"] == 3.0


def test_the_report_ends_with_json_and_an_exit_code(
    check: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    report = check.findings.Report("a check", facts={"device": "none"})
    report.check("one", True, seen=1)
    report.absent("two", "nothing to look at")
    assert report.end() == 0
    report.check("three", False)
    assert report.end() == 1
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["ok"] for entry in said] == [True, False]
    assert [entry["ok"] for entry in said[1]["checks"]] == [True, None, False]
    assert said[0]["device"] == "none"
