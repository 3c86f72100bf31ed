"""Logs of starts: each stage is told as it comes, and a failure has its cause and a way out."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.serving.vllm.startup import LogFollower, failure, stage_of

# As vLLM 0.32 writes them, shortened; those of a GPU by its own message texts.
LOG = """\
(APIServer pid=7) INFO 11-30 15:55:04 [api_utils.py:286] non-default args: {'model_tag': '/w'}
(APIServer pid=7) INFO 11-30 15:55:22 [model.py:733] Resolved architecture: Qwen3VLForConditional
(APIServer pid=7) WARNING 11-30 15:55:22 [vllm.py:1703] Enforce eager set, disabling torch.compile
(APIServer pid=7) INFO 11-30 15:55:23 [base.py:280] Multi-modal warmup completed in 0.232s
(EngineCore pid=9) INFO 11-30 15:55:39 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with
(Worker pid=12) INFO 11-30 15:55:59 [gpu_model_runner.py:68] Starting to load model /w...
Loading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<?, ?it/s]\r\
Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03,  1.02s/it]\r\
Loading safetensors checkpoint shards: 100% Completed | 4/4 [00:04<00:00,  1.02s/it]

(Worker pid=12) INFO 11-30 15:55:59 [default_loader.py:501] Loading weights took 4.01 seconds
(Worker pid=12) INFO 11-30 15:56:10 [backends.py:1] torch.compile takes 21.00 s in total
(EngineCore pid=9) INFO 11-30 15:56:00 [kv_cache_utils.py:2327] GPU KV cache size: 65,536 tokens
Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  50%|#####     | 33/67 [00:02<00:02]
(EngineCore pid=9) INFO 11-30 15:56:00 [core.py:402] init engine (profile, create kv cache) took 9 s
INFO:     Application startup complete.
"""


def test_stages_are_told_in_order_however_the_log_comes(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    follower = LogFollower(log)
    assert follower.read() == []  # no log yet
    told: list[str] = []
    data = LOG.encode()
    with log.open("wb") as file:
        for at in range(0, len(data), 37):
            file.write(data[at : at + 37])
            file.flush()
            told += follower.read()
    assert told == [
        "vLLM is loaded",
        "the model is known",
        "starting the engine",
        "reading the weights",
        "reading the weights (0 of 4 files)",
        "reading the weights (1 of 4 files)",
        "reading the weights (4 of 4 files)",
        "the weights are read",
        "compiling kernels, once",
        "a cache for 65,536 tokens",
        "recording CUDA graphs",
        "the engine is ready",
        "the server listens",
    ]


@given(st.text())
def test_no_line_can_harm(line: str) -> None:
    assert isinstance(stage_of(line), str)


@pytest.mark.parametrize(
    ("said", "code", "message", "hint"),
    [
        (
            "ValueError: Free memory on device cuda:0 (3.1/23.6 GiB) on startup is less than"
            " desired GPU memory utilization (0.9, 21.2 GiB).",
            1,
            "another program took GPU memory during the start (3.1/23.6 GiB are free)",
            "smaller row of weights.md",
        ),
        ("vllm: error: unrecognized arguments: --uds", 2, "option --uds", "vllm==0.32.0"),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
            1,
            "the GPU's memory ran out",
            "smaller row",
        ),
        (
            "ValueError: To serve at least one request, 9.0 GiB KV cache is needed, which is"
            " larger than the available KV cache memory (1.0 GiB).",
            1,
            "no room for the cache",
            "smaller row",
        ),
        ("OSError: [Errno 98] Address already in use", 1, "address is in use", "server_port"),
        (
            "RuntimeError: The NVIDIA driver on your system is too old (found version 12080).",
            1,
            "driver is too old",
            "580",
        ),
        ("RuntimeError: No CUDA GPUs are available", 1, "CUDA finds no GPU", "nvidia-smi"),
        ("OSError: [Errno 28] No space left on device: '/x'", 1, "disk is full", "free some"),
        ("ModuleNotFoundError: No module named 'flashinfer'", 1, "'flashinfer'", "[gpu]"),
        ("half a line", 137, "it was killed", "memory may have run out"),
        ("", 3, "it stopped with code 3", "see the log"),
        (
            "(EngineCore pid=9) ERROR [core.py:9] ValueError: no rope\n"
            "(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause"
            " above. Failed core proc(s): {}",
            1,
            "ValueError: no rope",
            "see the log",
        ),
    ],
)
def test_a_failure_has_its_cause_and_a_way_out(
    tmp_path: Path, said: str, code: int, message: str, hint: str
) -> None:
    log = tmp_path / "server.log"
    log.write_text(LOG + said, "utf-8")
    if not said:
        log.unlink()
    error = failure(log, code, "reading the weights")
    assert error.message.startswith("the model server ended while reading the weights: ")
    assert message in error.message
    assert "\n" not in error.message
    assert hint in error.hint
    assert str(log) in error.hint


def test_a_log_that_could_not_be_written_blames_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "server.log"
    log.touch()
    full = SimpleNamespace(f_bavail=0)
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    error = failure(log, 120, "starting vLLM")
    assert "the disk of its log is full" in error.message
    assert str(log) in error.hint
    log.write_text("torch.OutOfMemoryError: CUDA out of memory.")  # what it says comes first
    assert "GPU's memory" in failure(log, 1, "starting vLLM").message
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=1))
    log.write_text("")
    assert "stopped with code 120" in failure(log, 120, "starting vLLM").message
