"""A managed server's life: start, one token, crash, restart, hang, kill.

``vllm`` is the fake one of fake_vllm.py; processes, signals, sockets and files are real.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from server_processes import gone, leftovers

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import health, processes
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.serving.vllm.server import ManagedServer
from photocraft_local.settings import Settings

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")


def test_it_starts_gives_a_token_and_leaves_nothing(
    server: ManagedServer, settings: Settings
) -> None:
    told: list[str] = []
    endpoint = server.ensure(told.append)
    assert endpoint.socket
    server.check()
    assert health.check(endpoint, 5) == health.Served(server.model, server.limits.window)
    assert told[0] == "checking weights and memory"
    assert told[-1] == "asking for a first token"
    process = server.process
    assert server.ensure() == endpoint  # still the same one
    assert server.process == process
    server.stop()
    assert gone(process, 0)
    assert leftovers(settings) == []
    with pytest.raises(ModelError, match="not started"):
        _ = server.endpoint


def test_all_of_it_is_closed_to_others(server: ManagedServer, settings: Settings) -> None:
    server.ensure()
    modes = {
        path.name: stat.S_IMODE(path.lstat().st_mode)
        for path in [server.place.folder, *server.place.folder.rglob("*")]
    }
    for name in ("socket", "server.json", "server.log", "lock"):
        assert modes.pop(name) == 0o600, name
    assert set(modes.values()) == {0o700}


def test_the_server_hears_of_no_setting_and_reaches_no_network(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHOTOCRAFT_LIBRARY", "/secret")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    server.ensure()
    lines = Path(f"/proc/{server.process.pid}/environ").read_bytes().split(b"\0")
    found = dict(line.decode().partition("=")[::2] for line in lines if line)
    assert not [text for text in (*found, *found.values()) if "secret" in text]
    assert {found[n] for n in ("https_proxy", "HTTP_PROXY", "ALL_PROXY")} == {"http://127.0.0.1:9"}
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        assert found[name] == "1"


def test_a_killed_server_is_started_again(server: ManagedServer, settings: Settings) -> None:
    server.ensure()
    first = server.process
    os.kill(first.pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not server.runs(), 5)
    server.ensure()
    assert server.process != first
    server.check()
    logs = sorted(path.name for path in server.place.folder.glob("server.log*"))
    assert logs == ["server.log", "server.log.1"]


def test_a_few_logs_are_kept(server: ManagedServer) -> None:
    for number in range(8):
        server.place.rotate_logs()
        server.place.log.write_text(str(number), "utf-8")
    kept = {path.name: path.read_text("utf-8") for path in server.place.folder.glob("*.log*")}
    assert kept == {"server.log": "7"} | {f"server.log.{k}": str(7 - k) for k in range(1, 5)}


@pytest.mark.parametrize("behaviour", ["engine", "engine stubborn"])
def test_the_whole_group_ends(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    monkeypatch.setattr("photocraft_local.serving.vllm.server.GRACE", 1.0)
    monkeypatch.setenv("FAKE_VLLM", behaviour)
    server.ensure()
    process = server.process
    assert len(processes.group_of(process)) == 2
    server.stop()
    assert gone(process, 0)


def test_what_the_dead_leader_left_of_its_group_is_ended(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "engine")
    server.ensure()
    process = server.process
    os.kill(process.pid, signal.SIGKILL)
    assert gone(process)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("torch.OutOfMemoryError:_CUDA_out_of_memory._Tried", "memory ran out"),
        ("vllm:_error:_unrecognized_arguments:_--uds", "does not know the option --uds"),
        ("ValueError:_No_available_memory_for_the_cache_blocks", "no room for the cache"),
        ("(EngineCore_pid=3)_ERROR_ValueError:_bad_rope", "ValueError: bad rope"),
        ("good_bye", "code 1: good bye"),
    ],
)
def test_a_start_that_fails_says_why_in_one_line(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.setenv("FAKE_VLLM", f"crash={text}")
    with pytest.raises(ModelError) as info:
        server.ensure()
    assert said in info.value.message
    assert "while the model is known" in info.value.message
    assert "\n" not in info.value.message
    assert str(server.place.log) in info.value.hint
    assert not server.runs()


def test_a_start_that_takes_too_long_is_ended(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "slow=60")
    hasty = Settings(cache=settings.cache, weights=settings.weights, server_start_seconds=1.0)
    with ManagedServer(hasty) as server, pytest.raises(ModelError, match=r"not ready after 1 s"):
        server.ensure()
    assert leftovers(settings) == []


@pytest.mark.parametrize(
    ("behaviour", "said"), [("silent", "does not answer in time"), ("broken", "gave code 500")]
)
def test_a_server_that_listens_but_does_not_work_is_found_out(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch, behaviour: str, said: str
) -> None:
    monkeypatch.setattr("photocraft_local.serving.vllm.server._FIRST_TOKEN_SECONDS", 1.0)
    monkeypatch.setenv("FAKE_VLLM", behaviour)
    with pytest.raises(ModelError, match=said):
        server.ensure()
    assert not server.runs()


def test_a_server_that_hangs_is_started_anew(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("photocraft_local.serving.vllm.server.GRACE", 1.0)
    server.ensure()
    first = server.process
    os.kill(first.pid, signal.SIGSTOP)
    with pytest.raises(ModelError, match="in time"):
        server.check(0.5)
    monkeypatch.setattr("photocraft_local.serving.vllm.server.TOKEN_SECONDS", 0.5)
    server.recover()
    server.check()
    assert gone(first, 0)


@pytest.mark.parametrize("behaviour", ["engine", "engine stubborn"])
def test_without_its_keeper_a_server_is_ended_and_started_anew(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    monkeypatch.setattr("photocraft_local.serving.vllm.record.GRACE", 1.0)
    monkeypatch.setattr("photocraft_local.serving.vllm.server.GRACE", 1.0)  # the second one's end
    monkeypatch.setenv("FAKE_VLLM", behaviour)
    server.ensure()
    first = server.process
    record = ServerRecord.read(server.place.record)
    assert record
    os.kill(record.keeper.pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not server.runs(), 5)
    server.ensure()
    assert gone(first, 0)
    assert server.owned
    server.check()


@pytest.mark.parametrize("whom", ["server", "keeper"])
def test_what_a_killed_server_put_aside_goes_with_it(server: ManagedServer, whom: str) -> None:
    server.ensure()
    record = ServerRecord.read(server.place.record)
    assert record
    (first,) = server.place.scratch.iterdir()
    os.kill({"server": record.server, "keeper": record.keeper}[whom].pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not server.runs(), 5)
    server.ensure()
    (second,) = server.place.scratch.iterdir()
    assert first != second
    server.stop()
    assert not server.place.scratch.exists()


def test_a_helper_may_tidy_up_after_the_killed(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own frees shared memory when its siblings are gone; killed with them, it cannot."""
    monkeypatch.setenv("FAKE_VLLM", "engine tidier")
    server.ensure()
    process = server.process
    os.kill(process.pid, signal.SIGKILL)
    assert gone(process)
    assert (server.place.media / "tidied").exists()


def test_a_stop_ends_a_restart_that_another_thread_is_at(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Ctrl-C does while the episode's own thread waits for the server to come back."""
    server.ensure()
    first = server.process
    monkeypatch.setenv("FAKE_VLLM", "slow=600")
    os.kill(first.pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not server.runs(), 5)
    told: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(server.recover, told.append) for _ in range(2)]
        assert processes.wait_until(lambda: "reading the weights" in told, 60)
        server.stop()
        for one in waiting:
            assert isinstance(one.exception(60), ModelError)
    assert not server.place.record.exists()
    monkeypatch.setenv("FAKE_VLLM", "")
    server.ensure()  # whoever asks anew gets one
    server.check()


def test_a_shared_server_that_goes_down_is_waited_for_and_replaced(
    server: ManagedServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM answers 500 for some seconds after its engine died."""
    with ManagedServer(settings) as other:
        server.ensure()
        other.ensure()
        assert (server.owned, other.owned) == (True, False)
        first, asked = server.process, []

        def check(endpoint: Endpoint, seconds: float) -> health.Served:
            asked.append(endpoint)
            if len(asked) == 1:
                raise ModelError("gave code 500")
            if len(asked) == 2:
                os.kill(first.pid, signal.SIGKILL)
                assert processes.wait_until(lambda: not server.runs(), 5)
                raise ModelError("no model server answers")
            return health.Served("photocraft", 1)

        monkeypatch.setattr("photocraft_local.serving.vllm.server.health.check", check)
        other.recover()
        assert other.process != first


@pytest.mark.parametrize("whom", ["server", "keeper"])
def test_a_server_that_goes_while_another_looks_at_it_is_replaced(
    server: ManagedServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, whom: str
) -> None:
    """The second photocraft found it running; it must not fail for that."""
    server.ensure()
    record = ServerRecord.read(server.place.record)
    assert record
    asked: list[Endpoint] = []
    honest = health.check

    def check(endpoint: Endpoint, seconds: float) -> health.Served:
        asked.append(endpoint)
        if len(asked) == 1:
            os.kill({"server": record.server, "keeper": record.keeper}[whom].pid, signal.SIGKILL)
            time.sleep(60)  # as one whose engine is dead, and whose connections are open
        return honest(endpoint, seconds)

    monkeypatch.setattr("photocraft_local.serving.vllm.server.health.check", check)
    with ManagedServer(settings) as other:
        other.ensure()
        assert other.owned
        assert other.process != record.server
        assert gone(record.server)


def test_many_that_lost_it_at_once_start_one_server(server: ManagedServer) -> None:
    server.ensure()
    first = server.process
    os.kill(first.pid, signal.SIGKILL)
    with ThreadPoolExecutor(8) as pool:
        endpoints = set(pool.map(lambda _: server.recover(), range(8)))
    assert endpoints == {server.endpoint}
    assert server.process != first
    logs = list(server.place.folder.glob("server.log*"))
    assert len(logs) == 2  # two starts in all
