"""Where a server listens: stale and long sockets, ports with a secret, a server of one's own."""

from __future__ import annotations

import os
import signal
import socket
import stat
from pathlib import Path

import pytest
from server_processes import free_port

from photocraft_local.errors import MissingExtraError, ModelError, SettingsError, UsageError
from photocraft_local.serving.endpoint import LONGEST_SOCKET_PATH, Endpoint
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.client import ChatClient
from photocraft_local.serving.vllm.server import ManagedServer, OutsideServer, make_server
from photocraft_local.settings import Settings

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")


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
