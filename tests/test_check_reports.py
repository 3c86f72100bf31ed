"""What the checks for lent machines report: whatever breaks one part, the others' findings come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def report(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(root / "scripts")
    from server_check.findings import Report

    return Report("a test")


def lacking(name: str) -> None:
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_part_that_breaks_ends_no_other(report: Any, capsys: pytest.CaptureFixture[str]) -> None:
    report.part("breaks", lambda: 1 / 0)
    report.part("lacks a package", lacking, "simplejpeg")
    report.part("lacks ours", lacking, "photocraft_kernels.crop_resize")
    report.part("goes on", lambda: report.check("a check", True, seen=Path("no kind of JSON's")))
    report.most_seconds = 0
    report.part("late", report.check, "a check", False)
    assert report.end() == 1
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    verdicts = {entry["check"]: entry["ok"] for entry in told["checks"]}
    assert verdicts == {
        "breaks": False,
        "lacks a package": None,
        "lacks ours": False,
        "a check": True,
        "late": None,
    }
    assert "ZeroDivisionError" in told["checks"][0]["error"]
    assert "not begun" in told["checks"][-1]["why"]
