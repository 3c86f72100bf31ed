"""What nvidia-smi says: whole machines, odd cards, broken drivers, hidden and split GPUs.

The outputs are laid out as the program prints them for the fields that are asked.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from server_parts import install_smi, script

from photocraft_local.serving.vllm.gpus import GpuReport, find_gpus, memory_users

MIB = 1 << 20
CONSUMER = (
    "0, GPU-8f3c0f5e-5a5b-11ee-8c99-0242ac120002, NVIDIA GeForce RTX 4090, 24564, 23028, 8.9,"
    " 580.95.05, [N/A]"
)
PAIR = "\n".join(
    f"{index}, GPU-{uuid}-aaaa-bbbb-cccc-000000000000, NVIDIA GeForce RTX 3090, 24576, {free}, 8.6,"
    " 580.95.05, [N/A]"
    for index, uuid, free in ((0, "1" * 8, 24111), (1, "2" * 8, 1204))
)
DATACENTRE = (
    "0, GPU-33333333-aaaa-bbbb-cccc-000000000000, NVIDIA H200, 143771, 143005, 9.0, 580.65.06,"
    " Disabled"
)
SPLIT = DATACENTRE.replace("Disabled", "Enabled")
UNIFIED = (
    "0, GPU-44444444-aaaa-bbbb-cccc-000000000000, NVIDIA GB10, [N/A], [N/A], 12.1, 580.95.05, [N/A]"
)


def found(home: Path, text: str, code: int = 0, visible: str | None = None) -> GpuReport:
    environment = {"PATH": f"{install_smi(home, text, code)}:{os.environ['PATH']}"}
    if visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
    return find_gpus(environment)


def test_a_card_with_its_memory_and_capability(tmp_path: Path) -> None:
    (gpu,) = found(tmp_path, CONSUMER).gpus
    assert (gpu.index, gpu.name) == (0, "NVIDIA GeForce RTX 4090")
    assert (gpu.total, gpu.free) == (24564 * MIB, 23028 * MIB)
    assert (gpu.capability, gpu.driver, gpu.mig) == ((8, 9), "580.95.05", False)
    (gpu,) = found(tmp_path, DATACENTRE).gpus
    assert gpu.capability == (9, 0)
    (gpu,) = found(tmp_path, UNIFIED).gpus
    assert (gpu.total, gpu.free, gpu.capability) == (0, 0, (12, 1))


@pytest.mark.parametrize(
    ("visible", "indices"),
    [
        (None, [0, 1]),
        ("1", [1]),
        ("1,0", [1, 0]),
        ("0,7,1", [0]),
        ("GPU-2222", [1]),
        ("0,0", [0]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
    ],
)
def test_cuda_visible_devices_is_followed(
    tmp_path: Path, visible: str | None, indices: list[int]
) -> None:
    report = found(tmp_path, PAIR, visible=visible)
    assert [gpu.index for gpu in report.gpus] == indices
    assert bool(report.problem) == (not indices)
    if not indices:
        assert "CUDA_VISIBLE_DEVICES" in report.problem


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("No devices were found", 6, "finds no GPU"),
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make"
            " sure that the latest NVIDIA driver is installed and running.",
            9,
            "failed (code 9): NVIDIA-SMI has failed",
        ),
        ("Failed to initialize NVML: Driver/library version mismatch", 18, "version mismatch"),
        ('Field "compute_cap" is not a valid field to query.', 2, "driver is too old"),
        (SPLIT, 0, "is split (MIG)"),
        ("", 0, "gives no usable GPU"),
        ("something, else", 0, "not understood: something, else"),
        (CONSUMER.replace("24564", "many"), 0, "not understood"),
    ],
)
def test_each_trouble_is_a_line_with_a_way_out(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    report = found(tmp_path, text, code)
    assert report.gpus == ()
    assert said in report.problem
    assert "\n" not in report.problem
    assert report.hint


def test_no_program_and_one_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no NVIDIA GPU" in find_gpus({"PATH": str(tmp_path)}).problem
    monkeypatch.setattr("photocraft_local.serving.vllm.gpus._SECONDS", 0.2)
    script(tmp_path / "nvidia-smi", "#!/bin/sh\nexec sleep 30\n")
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert "no answer within" in find_gpus(environment).problem
    script(tmp_path / "nvidia-smi", "#!/no/such/shell\n")
    assert "failed" in find_gpus(environment).problem


def test_who_holds_the_memory(tmp_path: Path) -> None:
    processes = "4021, /usr/bin/python3, 9120\n99, /opt/x/game, 12000\n7, [Not Found], [N/A]"
    home = install_smi(tmp_path, CONSUMER, processes=processes)
    environment = {"PATH": f"{home}:{os.environ['PATH']}"}
    assert memory_users(environment) == [
        "game (process 99): 12,000 MiB",
        "python3 (process 4021): 9,120 MiB",
    ]
    assert memory_users({"PATH": "/nowhere"}) == []
