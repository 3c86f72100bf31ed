"""Whose server it is: it goes with its owner, others share it, what was left behind is ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from server_processes import gone, leftovers

from photocraft_local.errors import ModelError
from photocraft_local.serving.vllm import processes
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.serving.vllm.server import ManagedServer
from photocraft_local.settings import Settings

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")


def owner(settings: Settings, wait: str = "time.sleep(600)") -> subprocess.Popen[str]:
    """Another photocraft that has started a server; its line tells the server's number."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from photocraft_local.settings import Settings\n"
        "from photocraft_local.serving.vllm.server import ManagedServer\n"
        "cache, weights = map(Path, sys.argv[1:])\n"
        "server = ManagedServer(Settings(cache=cache, weights=weights))\n"
        "server.ensure()\n"
        "print(server.process.pid, flush=True)\n" + wait
    )
    words = [sys.executable, "-c", code, str(settings.cache), str(settings.weights)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_server_goes_with_its_owner_however_that_goes(
    settings: Settings, number: signal.Signals
) -> None:
    with owner(settings) as other:
        assert other.stdout
        process = processes.Process.of(int(other.stdout.readline()))
        other.send_signal(number)
        other.wait()
    assert gone(process)
    assert processes.wait_until(lambda: leftovers(settings) == [], 5)


def test_the_server_goes_with_an_owner_that_just_ends(settings: Settings) -> None:
    with owner(settings, wait="") as other:
        assert other.stdout
        process = processes.Process.of(int(other.stdout.readline()))
    assert gone(process)
    assert processes.wait_until(lambda: leftovers(settings) == [], 5)


def test_another_ones_server_is_used_and_left_alone(
    server: ManagedServer, settings: Settings
) -> None:
    with owner(settings) as other:
        assert other.stdout
        process = processes.Process.of(int(other.stdout.readline()))
        told: list[str] = []
        server.ensure(told.append)
        assert told[-1] == "using the server that runs already"
        assert server.process == process
        assert not server.owned
        assert server.limits.window == 65536
        server.stop()
        assert process.runs()
        server.ensure()
        other.kill()
        other.wait()
        assert processes.wait_until(lambda: not server.runs(), 5)
        server.ensure()  # its owner is gone: now it is ours
        assert server.owned
        assert server.process != process


def test_two_that_start_at_once_share_one_server(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, server: ManagedServer
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "slow=1")
    with owner(settings) as other:
        assert other.stdout
        lock = settings.cache / "server"
        assert processes.wait_until(lambda: bool(list(lock.rglob("server.json"))), 10)
        told: list[str] = []
        server.ensure(told.append)
        assert told == [
            "another photocraft is starting the server",
            "using the server that runs already",
        ]
        assert server.process.pid == int(other.stdout.readline())
        other.kill()


def orphan(settings: Settings) -> ServerRecord:
    """A server whose owner and keeper were killed at once."""
    with owner(settings) as other:
        assert other.stdout
        other.stdout.readline()
        (path,) = settings.cache.rglob("server.json")
        record = ServerRecord.read(path)
        assert record
        for process in (record.server, record.keeper):
            os.kill(process.pid, signal.SIGSTOP)  # so that neither sees the other go
        os.kill(record.keeper.pid, signal.SIGKILL)
        other.kill()
        other.wait()
    return record


def test_an_orphan_is_ended_by_the_next_start(server: ManagedServer, settings: Settings) -> None:
    record = orphan(settings)
    assert record.server.runs()
    assert not record.is_served()
    os.kill(record.server.pid, signal.SIGCONT)
    told: list[str] = []
    server.ensure(told.append)
    assert gone(record.server, 0)
    assert server.process != record.server


def test_a_process_that_only_has_the_number_is_let_live(
    server: ManagedServer, settings: Settings
) -> None:
    """Numbers are given again: after a restart of the machine, or in the course of a day."""
    server.ensure()
    text = server.place.record.read_text("utf-8")
    server.stop()
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as bystander:
        here = processes.Process.of(bystander.pid)
        older = {"pid": here.pid, "started": here.started - 1}
        same = {"pid": here.pid, "started": here.started}
        for party in (older, same):
            forged = json.loads(text) | dict.fromkeys(("server", "keeper", "owner"), party)
            server.place.record.write_text(json.dumps(forged), "utf-8")
            server.ensure()
            server.stop()
            assert here.runs()
        bystander.kill()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"run": 1}', "\xff\0"])
def test_a_damaged_record_is_no_record(server: ManagedServer, text: str) -> None:
    server.place.record.write_text(text, "latin-1")
    server.ensure()
    server.check()


def replace_config(folder: Path) -> None:
    text = (folder / "config.json").read_bytes()
    (folder / "new").write_bytes(text + b"\n")
    (folder / "new").replace(folder / "config.json")


def another_shard(folder: Path) -> None:
    (folder / "one-more.safetensors").write_bytes(b"")


def a_new_folder(folder: Path) -> None:
    folder.rename(folder.with_name("older"))
    shutil.copytree(folder.with_name("older"), folder, copy_function=shutil.copyfile)


@pytest.mark.parametrize("change", [replace_config, another_shard, a_new_folder])
def test_weights_that_were_replaced_are_not_asked_of_the_server_of_the_old_ones(
    server: ManagedServer, settings: Settings, change: Callable[[Path], None]
) -> None:
    server.ensure()
    assert settings.weights
    (settings.weights / "SHA256SUMS").write_text("")  # not read for a model
    with ManagedServer(settings) as other:
        other.ensure()
        assert not other.owned
    change(settings.weights)
    with ManagedServer(settings) as other:
        with pytest.raises(ModelError, match="changed since their server was started") as refused:
            other.ensure()
        assert f"process {os.getpid()}" in refused.value.hint
        assert server.runs()  # whoever asks it goes on
        server.stop()
        other.ensure()
        assert other.owned
