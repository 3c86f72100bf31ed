"""A managed server's life: start, one token, crash, restart, hang, kill, orphans, other users.

``vllm`` is the fake one of fake_vllm.py; processes, signals, sockets and files are real.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from server_parts import install_vllm, weights

from photocraft_local.errors import MissingExtraError, ModelError, SettingsError, UsageError
from photocraft_local.serving.endpoint import LONGEST_SOCKET_PATH, Endpoint
from photocraft_local.serving.vllm import health, processes
from photocraft_local.serving.vllm.client import ChatClient
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.serving.vllm.server import ManagedServer, OutsideServer, make_server
from photocraft_local.settings import Settings

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

Make = Callable[..., ManagedServer]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("PATH", f"{install_vllm(tmp_path / 'env')}:{os.environ['PATH']}")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("FAKE_VLLM", "")
    folder = weights(tmp_path / "w")
    return Settings(cache=tmp_path / "c", weights=folder, server_start_seconds=60)


@pytest.fixture
def server(settings: Settings) -> Iterator[ManagedServer]:
    with ManagedServer(settings) as made:
        yield made


def gone(process: processes.Process, seconds: float = 60) -> bool:
    """The process and all of its group."""
    return processes.wait_until(lambda: not processes.group_of(process), seconds)


def leftovers(settings: Settings) -> list[str]:
    """Files of running servers."""
    names = [path.name for path in (settings.cache / "server").rglob("*")]
    return [name for name in names if name in ("socket", "server.json", "tmp")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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


def test_a_stale_socket_is_removed_and_a_living_one_is_not(server: ManagedServer) -> None:
    path = server.place.folder / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        with pytest.raises(ModelError, match="did not record listens at"):
            server.ensure()
    assert path.is_socket()
    server.ensure()
    server.check()


def test_a_file_in_the_place_of_the_socket_is_not_removed(server: ManagedServer) -> None:
    path = server.place.folder / "socket"
    path.write_text("mine", "utf-8")
    with pytest.raises(ModelError, match="in the way"):
        server.ensure()
    assert path.read_text("utf-8") == "mine"


def test_a_long_path_gets_a_short_private_socket(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = tmp_path / "r"
    short.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    deep = tmp_path / ("x" * 60) / ("y" * 60)
    with ManagedServer(Settings(cache=deep, weights=settings.weights)) as server:
        path = server.ensure().socket
        assert path
        assert len(bytes(path)) <= LONGEST_SOCKET_PATH
        assert path.parent == short / f"photocraft-{os.getuid()}"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        server.check()
    assert not path.exists()
    path.parent.chmod(0o777)  # anybody could put a socket of theirs there
    server = ManagedServer(Settings(cache=deep, weights=settings.weights))
    with pytest.raises(UsageError, match="not a folder of yours alone"):
        server.ensure()


def test_a_port_of_loopback_needs_the_secret(settings: Settings) -> None:
    port = free_port()
    chosen = Settings(cache=settings.cache, weights=settings.weights, server_port=port)
    with ManagedServer(chosen) as server:
        endpoint = server.ensure()
        assert str(endpoint) == f"http://127.0.0.1:{port}"
        server.check()
        assert endpoint.token not in Path(f"/proc/{server.process.pid}/cmdline").read_text("utf-8")
        with pytest.raises(ModelError, match="code 401"):
            health.check(Endpoint.parse(str(endpoint)), 5)
        with ChatClient(endpoint, "") as client:
            assert client.models() == ["photocraft"]
        os.kill(server.process.pid, signal.SIGKILL)
        assert server.recover() == endpoint  # clients go on with the secret that they have
        with ManagedServer(chosen) as second:  # finds the secret in the record
            second.ensure()
            assert second.process == server.process
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        with pytest.raises(UsageError, match=f"port {port} is in use") as info:
            ManagedServer(chosen).ensure()
    assert "server_port" in info.value.hint


def test_a_server_of_ones_own_is_used_and_never_ended(
    server: ManagedServer, settings: Settings
) -> None:
    endpoint = server.ensure()
    outside = make_server(Settings(cache=settings.cache, backbone_url=str(endpoint)))
    assert isinstance(outside, OutsideServer)
    assert outside.ensure() == endpoint
    assert (outside.model, outside.limits.window) == ("photocraft", 65536)
    outside.stop()
    server.check()
    server.stop()
    with pytest.raises(ModelError, match="no model server answers at unix:"):
        outside.check()


def test_without_vllm_or_weights_it_says_what_to_install_and_set(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="setting weights"):
        ManagedServer(Settings(cache=settings.cache)).ensure()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingExtraError, match="vllm") as info:
        ManagedServer(settings).ensure()
    assert "[gpu]" in info.value.hint


def test_a_vllm_that_cannot_be_run_is_named(server: ManagedServer, tmp_path: Path) -> None:
    (tmp_path / "env/bin/vllm").write_text("#!/no/such/python\n", "utf-8")
    with pytest.raises(ModelError, match="ended while starting vLLM"):
        server.ensure()
