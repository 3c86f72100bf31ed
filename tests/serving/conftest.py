"""A machine with the played ``vllm``, and a server of it that ends with the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_parts import install_vllm, weights

from photocraft_local.serving.vllm.server import ManagedServer
from photocraft_local.settings import Settings


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
