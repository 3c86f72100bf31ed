"""A model that cannot be used: each command says in one line what it is and how to mend it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

from server_parts import QWEN3_8B, install_smi, install_vllm, weights, write_json

from photocraft_local.cli.main import main

Photocraft = Any  # conftest.py's Run

SHARD = "model-00002-of-00003.safetensors"


@pytest.fixture(scope="module")
def library(photocraft: Photocraft, small_library: Callable[[int], Path]) -> Iterator[Path]:
    """A library that every test must leave as it was, without a trace of an episode."""
    path = small_library(3)

    def stored() -> tuple[str, str]:
        lists = (photocraft(name, "--json", "--library", path) for name in ("list", "status"))
        return tuple(done.out for done in lists)

    before = stored()
    assert before[0].count("\n") == 3
    yield path
    assert stored() == before
    assert not list(path.rglob("traces/*"))


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment of a machine with this vLLM and these GPUs, as nvidia-smi prints them."""

    def made(vllm: str = "0.32.0+cpu", gpus: str = "", code: int = 0) -> dict[str, str]:
        home = tmp_path / "env"
        (home / "bin").mkdir(parents=True)
        if vllm:
            install_vllm(home, vllm)
        if gpus:
            install_smi(home, gpus, code)
        return {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "PHOTOCRAFT_CACHE": str(tmp_path / "c")}

    return made


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)


FOLDERS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a Llama": (
        lambda f: write_json(f / "config.json", {"model_type": "llama"}),
        "'llama', which is no known backbone",
        "weights.md",
    ),
    "an older Qwen": (
        lambda f: write_json(f / "config.json", {"model_type": "qwen2_vl"}),
        "'qwen2_vl', which is no known backbone",
        "Qwen2.5-VL",
    ),
    "a Qwen without eyes": (
        lambda f: write_json(f / "config.json", {"model_type": "qwen3", "hidden_size": 4096}),
        "'qwen3', which is no known backbone",
        "Qwen3-VL",
    ),
    "a truncated shard": (lambda f: cut(f / SHARD), f"{SHARD} is truncated", f"copy {SHARD} again"),
    "a missing shard": (lambda f: (f / SHARD).unlink(), f"{SHARD} is missing", "weights.md"),
    "no tokenizer": (
        lambda f: (f / "tokenizer.json").unlink(),
        "tokenizer.json is missing",
        "lists every file",
    ),
    "half a tokenizer": (
        lambda f: (f / "tokenizer.json").write_text('{"model": '),
        "tokenizer.json cannot be read",
        "copy it again",
    ),
    "no processor": (
        lambda f: (f / "preprocessor_config.json").unlink(),
        "preprocessor_config.json is missing",
        "lists every file",
    ),
    "no template": (
        lambda f: write_json(f / "tokenizer_config.json", {}),
        "has no chat template",
        "lists every file",
    ),
}


EVERYWHERE = ("a Llama", "a truncated shard", "no template")  # one check serves all commands


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_cannot_be_used(
    photocraft: Photocraft,
    library: Path,
    machine: Callable[..., dict[str, str]],
    tmp_path: Path,
    name: str,
) -> None:
    spoil, said, way = FOLDERS[name]
    folder = weights(tmp_path / "w", files=3)
    spoil(folder)
    env = machine()
    options = ("--quiet", "--weights", folder)
    commands: list[tuple[Any, ...]] = [("ask", "dogs", "--library", library)]
    commands += [("serve-model",)] * (name in EVERYWHERE)
    for words in commands:
        done = photocraft(*words, *options, env=env)
        assert (done.code, done.out) == (6, ""), done.err
        assert said in done.error
        assert str(folder) in done.error
        assert way in done.error
    assert not list((tmp_path / "c").rglob("server.json"))
    if name in EVERYWHERE:
        _doctor_says(photocraft, said, way, env | {"PHOTOCRAFT_WEIGHTS": str(folder)})


def _doctor_says(photocraft: Photocraft, said: str, way: str, env: dict[str, str]) -> None:
    done = photocraft("doctor", "--json", env=env)
    faults = [row for row in done.json_lines() if row["check"] == "model server"]
    assert (done.code, [row["state"] for row in faults]) == (1, ["fault"]), done.out
    assert said in faults[0]["detail"]
    assert way in faults[0]["hint"]


def test_a_name_of_a_hub_is_no_folder_and_nothing_is_fetched(
    photocraft: Photocraft, library: Path, machine: Callable[..., dict[str, str]]
) -> None:
    name, env = "Qwen/Qwen3-VL-8B-Instruct", machine()
    for words, code in (
        (("ask", "dogs", "--library", library, "--weights", name), 6),
        (("serve-model", "--quiet", "--weights", name), 6),
        (("weights", "verify", name), 2),
        (("weights", "manifest", name), 2),
    ):
        done = photocraft(*words, env=env)
        assert done.code == code
        assert name in done.error
        assert "nothing is fetched" in done.error
        assert "weights.md" in done.error


def test_a_relative_path_counts_from_where_the_command_runs(
    photocraft: Photocraft,
    machine: Callable[..., dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights(tmp_path / "w", files=3)
    (tmp_path / "w" / SHARD).unlink()
    monkeypatch.chdir(tmp_path)
    done = photocraft("serve-model", "--quiet", "--weights", "w", env=machine())
    assert f"{tmp_path / 'w' / SHARD} is missing" in done.error


@contextmanager
def somebody_else() -> Iterator[None]:
    """No folder is closed to root, so root becomes another user for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_belongs_to_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, closed = weights(tmp_path / "w", files=3), weights(tmp_path / "closed")
    for above in (tmp_path, *tmp_path.parents[:2]):
        above.chmod(0o711)
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PHOTOCRAFT_LIBRARY", str(tmp_path / "library"))
    own = socket.socket(socket.AF_UNIX)
    own.bind(str(tmp_path / "own.sock"))
    own.listen()
    (tmp_path / "own.sock").chmod(0)
    table = [
        (["serve-model", "--quiet", "--weights", closed], 6, f"{closed} cannot be read"),
        (["serve-model", "--quiet", "--weights", closed / "in"], 6, "in cannot be read"),
        (["serve-model", "--quiet", "--weights", folder], 6, f"{SHARD} is unreadable"),
        (["weights", "verify", closed], 2, f"{closed} cannot be read"),
        (["weights", "verify", closed / "in"], 2, "in cannot be read"),
        (["weights", "manifest", closed], 2, f"{closed} cannot be read"),
    ]
    for words, *_ in table:  # what is needed is imported while it can be read
        main([str(word) for word in words if word != folder])
    main(["doctor"])
    capsys.readouterr()
    (folder / SHARD).chmod(0)
    closed.chmod(0)
    with own, somebody_else():
        for words, code, said in table:
            assert main([str(word) for word in words]) == code
            (error, hint), out = (lambda told: (told.err.splitlines(), told.out))(
                capsys.readouterr()
            )
            assert (out, error[:7], hint[:6]) == ("", "error: ", "hint: ")
            assert said in error
        monkeypatch.setenv("PHOTOCRAFT_BACKBONE_URL", f"unix:{tmp_path / 'own.sock'}")
        assert main(["doctor", "--json"]) == 1
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (row,) = [row for row in rows if row["check"] == "model server"]
    assert "Permission denied" in row["detail"]
    assert "another user's" in row["hint"]


SMALL = "0, GPU-1, NVIDIA GeForce RTX 3060, 12288, 3000, 8.6, 580.95.05, [N/A]"
OLD = "0, GPU-1, NVIDIA GeForce GTX 1080, 8192, 8000, 6.1, 580.95.05, [N/A]"
SPLIT = "0, GPU-1, NVIDIA H200, 143771, 143005, 9.0, 580.65.06, Enabled"
MACHINES: dict[str, tuple[dict[str, Any], int, str, str]] = {
    "no vllm": ({"vllm": ""}, 3, "'vllm', which is not installed", "photocraft-local[gpu]"),
    "no driver": ({"vllm": "0.32.0"}, 6, "nvidia-smi is not installed", "planner"),
    "no GPU": (
        {"vllm": "0.32.0", "gpus": "No devices were found", "code": 6},
        6,
        "nvidia-smi finds no GPU",
        "seated and powered",
    ),
    "a broken driver": (
        {"vllm": "0.32.0", "gpus": "Failed to initialize NVML: mismatch", "code": 18},
        6,
        "Failed to initialize NVML",
        "reboot",
    ),
    "too little memory": (
        {"vllm": "0.32.0", "gpus": SMALL},
        6,
        "Qwen3-VL-8B-Instruct needs",
        "smaller rows, e.g. Qwen3-VL-4B-Instruct",
    ),
    "too old a card": ({"vllm": "0.32.0", "gpus": OLD}, 6, "capability 6.1", "Turing"),
    "a split card": ({"vllm": "0.32.0", "gpus": SPLIT}, 6, "is split (MIG)", "backbone_url"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_that_cannot_run_it(
    photocraft: Photocraft,
    library: Path,
    machine: Callable[..., dict[str, str]],
    tmp_path: Path,
    name: str,
) -> None:
    made, code, said, way = MACHINES[name]
    folder = weights(tmp_path / "m", sizes=QWEN3_8B, size=int(17.5e9), files=4)
    env = machine(**made) | {"PHOTOCRAFT_BACKBONE": "vllm"}
    done = photocraft("serve-model", "--quiet", "--weights", folder, env=env)
    assert (done.code, done.out) == (code, ""), done.err
    assert said in done.error
    assert way in done.error
    _doctor_says(photocraft, said, way, env | {"PHOTOCRAFT_WEIGHTS": str(folder)})


def test_another_version_of_vllm_is_a_warning_and_told_at_the_start(
    photocraft: Photocraft, machine: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    folder, note = weights(tmp_path / "m"), "vLLM 0.40.1; tested is 0.32.0"
    env = machine("0.40.1+cpu")
    done = photocraft("doctor", "--json", "--weights", folder, env=env)
    (row,) = [row for row in done.json_lines() if row["check"] == "vllm"]
    assert (row["state"], row["detail"]) == ("warning", note)
    assert row["hint"]
    env["FAKE_VLLM"] = "crash=vllm:_error:_unrecognized_arguments:_--uds"
    done = photocraft("serve-model", "--weights", folder, env=env)
    assert done.code == 6
    assert f"model server: {note}\n" in done.err
    assert "error: the model server ended while" in done.err
    assert "does not know the option --uds\nhint: install the version that is tested" in done.err


def test_a_port_that_is_taken_or_out_of_range(
    photocraft: Photocraft, machine: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    folder, env = weights(tmp_path / "m"), machine()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = photocraft("serve-model", "--quiet", "--weights", folder, "--port", port, env=env)
        assert done.code == 2
        assert f"port {port} is in use by another program" in done.error
        assert f"backbone_url = http://127.0.0.1:{port}" in done.error
    for port in ("80", "99999", "-1"):
        done = photocraft("serve-model", "--weights", folder, "--port", port, env=env)
        assert done.code == 2
        assert "'server_port' is out of range" in done.error
