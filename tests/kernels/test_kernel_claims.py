"""What scripts/gpu_check.sh says of the kernels: by their own benchmarks, here interpreted."""

from __future__ import annotations

import json
import os
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="TRITON ABSENT: no torch")
pytest.importorskip("triton", reason="TRITON ABSENT: no triton")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from model_check import crop_table, kernels
from server_check.findings import Report


def test_kernels_agree_interpreted_and_no_speed_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where this checkout is not installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'Editable' not in str(f)]\n"
    )
    places = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", places)
    report = Report("a test")
    kernels.check_kernels(report, "cpu")
    verdicts = {entry["check"]: entry for entry in report.checks}
    table = verdicts.pop("kernel crop_resize: every layout equals its reference")
    assert table["ok"], table
    assert table["cases"] == 24
    assert set(table["worst"]) == set(crop_table.KINDS)
    for name, claims in kernels.CLAIMS.items():
        told = verdicts.pop(f"kernel {name}: agrees with its peers")
        assert told["ok"], told
        assert told["how"] == "interpreted"
        for claim in claims:
            assert verdicts.pop(f"claim of {name}: {claim}")["ok"] is None
    assert not verdicts


def test_the_table_has_every_layout_and_kind() -> None:
    cases = set(crop_table.cases())
    for filter, patch, merge, copies in product(("bilinear", "bicubic"), (14, 16), (1, 2), (1, 2)):
        of_layout = [c for c in cases if (c.patch, c.merge, c.copies) == (patch, merge, copies)]
        assert filter in {case.filter for case in of_layout}
    for kind, is_planes in product(crop_table.KINDS, (True, False)):
        assert any(case.kind == kind and (case.patch == 0) is is_planes for case in cases)


def test_a_kernel_that_is_off_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    off = crop_table.TOLERANCE["float16"] * 2
    monkeypatch.setattr(crop_table, "differences", lambda *_: off)
    assert crop_table.main("cpu") == 1


def test_a_layout_that_does_not_compile_costs_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(case: crop_table.Case, *_: Any) -> float:
        if case.patch == 14:
            raise RuntimeError("ptxas failed")
        return 0.0

    monkeypatch.setattr(crop_table, "differences", fails)
    assert crop_table.main("cpu") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["cases"], len(told["wrong"]), told["left"]) == (16, 8, 0)
    assert "ptxas failed" in told["wrong"][0]["error"]
    monkeypatch.setattr(crop_table, "MOST_SECONDS", -1)
    assert crop_table.main("cpu") == 1
    assert json.loads(capsys.readouterr().out)["left"] == 24


FIGURES = {
    "crop_resize": {
        "share_of_copy_bandwidth": 0.6,
        "vs_interpolate_by_shape": 1.5,
        "vs_kornia_by_shape": None,
        "vs_processor_by_crop": 100.0,
    },
    "topk_similarity": {
        "times_of_floor": 3.1,
        "vs_torch": 1.2,
        "store_gather_times_of_floor": 3.0,
        "store_times_of_floor": None,
    },
}


def test_claims_are_decided_by_the_figures() -> None:
    held: dict[str, list[Any]] = {
        name: [decides(FIGURES[name]) for decides in claims.values()]
        for name, claims in kernels.CLAIMS.items()
    }
    assert held == {
        "crop_resize": [True, False, None, True],
        "topk_similarity": [False, True, True, None],
    }


def test_a_claim_that_does_not_hold_is_told_and_faults_nothing() -> None:
    report = Report("a test")
    kernels._tell(report, "a claim", False, "cuda", {"figure": 1})
    assert report.good
    assert report.checks == [{"check": "a claim", "ok": True, "holds": False, "figure": 1}]


def test_a_kernel_that_hangs_is_told_and_the_next_is_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, line in (("hangs", "import time; time.sleep(60)"), ("fails", "1 / 0")):
        (tmp_path / f"{name}.py").write_text(line)
    (tmp_path / "table.py").write_text("print('{}')")
    monkeypatch.setattr(kernels, "BENCHMARKS", tmp_path)
    monkeypatch.setattr(kernels, "TABLE", tmp_path / "table.py")
    monkeypatch.setattr(kernels, "MOST_SECONDS", 5)
    monkeypatch.setattr(kernels, "CLAIMS", {"hangs": {}, "fails": {}})
    report = Report("a test")
    kernels.check_kernels(report, "cpu")
    assert [entry["ok"] for entry in report.checks] == [True, False, False]
    assert "stopped after 5 s" in report.checks[1]["said"]
    assert "ZeroDivisionError" in report.checks[2]["said"]
