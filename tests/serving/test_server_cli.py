"""``photocraft serve-model`` and the doctor's part on the model server, as commands."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server_parts import QWEN3_8B, install_smi, install_vllm, weights

from photocraft_local.app import doctor, doctor_server
from photocraft_local.app.findings import Finding
from photocraft_local.app.model_server import Serving, serve
from photocraft_local.serving.vllm import processes
from photocraft_local.serving.vllm.server import ManagedServer
from photocraft_local.settings import Settings

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

CARD = "0, GPU-1, NVIDIA GeForce RTX 4090, 24564, 24010, 8.9, 580.95.05, [N/A]"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{install_vllm(tmp_path / 'env')}:{os.environ['PATH']}")
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(tmp_path / "c"))
    monkeypatch.setenv("FAKE_VLLM", "")
    return weights(tmp_path / "w")


@contextmanager
def started(*words: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "photocraft_local", "serve-model", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def told(running: subprocess.Popen[str]) -> dict[str, Any]:
    assert running.stdout
    line = running.stdout.readline()
    assert line, running.stderr and running.stderr.read()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def errors(*words: str | Path) -> tuple[int, list[str]]:
    command = [sys.executable, "-m", "photocraft_local", "serve-model", "--quiet", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_stop(fake: Path, number: signal.Signals) -> None:
    with started("--weights", fake, "--json") as running:
        found = told(running)
        process = processes.Process.of(found["process"])
        assert process.runs()
        assert found["endpoint"].startswith("unix:/")
        assert (found["model"], found["window"]) == ("photocraft", 65536)
        running.send_signal(number)
        assert running.wait(20) == 0
        assert not processes.group_of(process)
        assert running.stderr
        lines = running.stderr.read().splitlines()
    assert lines[0] == "model server: checking weights and memory"
    assert lines[-1] == "model server: stopped"


def test_a_stop_during_the_start_ends_what_was_begun(
    fake: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "slow=60")
    with started("--weights", fake) as running:
        found: list[Path] = []
        assert processes.wait_until(
            lambda: bool(found.extend((tmp_path / "c").rglob("server.json")) or found), 20
        )
        server = json.loads(found[0].read_text("utf-8"))["server"]
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 130
    assert not processes.group_of(processes.Process(**server))
    assert not found[0].exists()


def test_a_crash_is_told_and_mended_but_not_for_ever(fake: Path) -> None:
    with started("--weights", fake, "--json") as running:
        seen = []
        for _ in range(3):
            seen.append(told(running)["process"])
            os.kill(seen[-1], signal.SIGKILL)
        assert running.wait(20) == 6
        assert running.stderr
        text = running.stderr.read()
    assert len(set(seen)) == 3
    assert text.count("starting it again") == 2
    assert "error: the model server ended while serving" in text


def test_a_server_that_a_question_starts_first_after_a_crash_is_stood_by(
    fake: Path, tmp_path: Path
) -> None:
    settings = Settings(cache=tmp_path / "c", weights=fake, server_start_seconds=60)
    stop, stages, ready = threading.Event(), list[str](), queue.Queue[Serving]()
    serving = threading.Thread(target=serve, args=(settings, stop, stages.append, ready.put))
    serving.start()
    try:
        first = ready.get(timeout=60).process
        with ManagedServer(settings) as question:
            with question.place.locked(60, lambda: None):
                os.kill(first, signal.SIGKILL)
                waits = "another photocraft is starting the server"
                assert processes.wait_until(lambda: waits in stages, 60)
                question._launch(question.place, stages.append)  # got there first
            assert ready.get(timeout=60).process == question.process.pid
            theirs = question.process.pid
        last = ready.get(timeout=60).process  # the question is over, and its server with it
        assert len({first, theirs, last}) == 3
    finally:
        stop.set()
        serving.join(60)
    assert not processes.group_of(processes.Process(last, 0))


def test_a_second_one_is_refused_and_names_the_first(fake: Path) -> None:
    with started("--weights", fake, "--json") as running:
        process = told(running)["process"]
        code, (error, hint) = errors("--weights", fake)
        assert code == 2
        assert f"served already, by process {process}" in error
        assert "questions use it" in hint
        assert processes.Process.of(process).runs()


def test_bad_input_is_one_line_and_a_way_out(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, (error, hint) = errors()
    assert (code, "setting weights" in error) == (2, True)
    code, (error, hint) = errors("--weights", tmp_path / "gone")
    assert (code, "does not exist" in error, "weights.md" in hint) == (6, True, True)
    code, (error, _) = errors("--weights", fake, "--port", "80")
    assert (code, "server_port" in error) == (2, True)
    monkeypatch.setenv("PHOTOCRAFT_BACKBONE_URL", "http://127.0.0.1:8000")
    code, (error, _) = errors("--weights", fake)
    assert (code, "that server is used" in error) == (2, True)
    monkeypatch.delenv("PHOTOCRAFT_BACKBONE_URL")
    install_smi(tmp_path / "env", "No devices were found", code=6)
    info = next((tmp_path / "env").rglob("*.dist-info"))
    info.rename(info.with_name("vllm-0.32.0.dist-info"))  # the build for GPUs
    code, (error, hint) = errors("--weights", fake)
    assert (code, "nvidia-smi finds no GPU" in error) == (6, True)
    monkeypatch.setenv("PATH", "/nowhere")
    code, (error, hint) = errors("--weights", fake)
    assert (code, "'vllm'" in error, "[gpu]" in hint) == (3, True, True)


def report(settings: Settings) -> dict[str, Finding]:
    checks = (doctor_server.gpus, doctor_server.server, doctor_server.proven)
    found = [finding for check in checks for finding in check(settings)]
    return {finding.name: finding for finding in found}


def test_the_doctor_derives_the_command_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "env"
    install_vllm(home, "0.32.0")
    install_smi(home, CARD, processes="4021, python3, 512")
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")
    folder = weights(tmp_path / "my model", sizes=QWEN3_8B, size=int(17.5e9), files=4)
    found = report(Settings(cache=tmp_path / "c", weights=folder))
    assert {finding.state for finding in found.values()} == {"ok"}
    assert "23.4 of 24.0 GiB free, compute capability 8.9" in found["gpu"].detail
    assert found["gpu memory"].detail == "held by python3 (process 4021): 512 MiB"
    assert found["weights"].detail.startswith("Qwen3-VL-8B-Instruct in ")
    command = found["model server command"].detail
    assert command.startswith(f"{home / 'bin/vllm'} serve '{folder}' --uds ")
    assert "--kv-cache-dtype fp8" in command
    assert "this GPU computes FP8" in found["why --kv-cache-dtype fp8"].detail
    assert "on a CPU alone" in found["proven"].detail
    assert "nothing ran on a GPU" in found["not proven"].detail
    assert not list((tmp_path / "c").rglob("server.json"))  # nothing was started


def test_the_doctor_says_what_a_machine_without_gpu_would_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(install_vllm(tmp_path / "env", "0.32.0")))
    folder = weights(tmp_path / "w", sizes=QWEN3_8B, size=int(17.5e9), files=4)
    found = report(Settings(cache=tmp_path / "c", weights=folder))
    assert found["gpu"].state == "ok"
    assert found["model server"].state == "fault"  # questions would go there
    assert "no NVIDIA GPU is there" in found["model server"].detail
    assert "GiB for a window of" in found["one GPU needs"].detail


def test_the_doctor_without_a_model_is_content(tmp_path: Path) -> None:
    found = report(Settings(cache=tmp_path))
    assert found["model server"].state == "ok"
    assert "the planner answers" in found["model server"].detail


def test_a_model_without_a_server_has_its_weights_looked_at(tmp_path: Path) -> None:
    folder = weights(tmp_path / "w")
    settings = Settings(cache=tmp_path / "c", weights=folder, backbone="transformers")
    found = report(settings)
    assert "model server" not in found
    assert (found["weights"].state, "whole" in found["weights"].detail) == ("ok", True)
    assert "nothing ran on a GPU" in found["not proven"].detail
    (folder / "tokenizer.json").unlink()
    found = report(settings)
    assert (found["weights"].state, bool(found["weights"].hint)) == ("fault", True)
    settings = Settings(cache=tmp_path / "c", weights=folder, backbone="gpt")
    (wrong,) = [one for one in doctor.examine(settings) if one.name == "backbones"]
    assert (wrong.state, "no backbone 'gpt'" in wrong.detail) == ("fault", True)


def test_another_version_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = install_vllm(tmp_path / "env", "0.40.1+cpu")
    monkeypatch.setenv("PATH", f"{home}:{os.environ['PATH']}")
    found = report(Settings(cache=tmp_path / "c", weights=weights(tmp_path / "w")))
    assert (found["vllm"].state, found["vllm"].detail) == (
        "warning",
        "vLLM 0.40.1; tested is 0.32.0",
    )


def test_the_doctor_asks_a_server_of_ones_own(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started("--weights", fake, "--json") as running:
        endpoint = told(running)["endpoint"]
        settings = Settings(cache=tmp_path / "c", backbone_url=endpoint)
        detail = report(settings)["model server"].detail
        assert detail == f"{endpoint} answers: photocraft, window of 65,536 tokens"
        managed = Settings(cache=tmp_path / "c", weights=fake)
        found = [f.detail for f in doctor_server.server(managed) if f.name == "model server"]
        assert found
        assert found[0].startswith("runs already: process ")
    settings = Settings(cache=tmp_path / "c", backbone_url="http://10.0.0.1:8000")
    refused = report(settings)["model server"]
    assert (refused.state, "not on this machine" in refused.detail) == ("fault", True)
