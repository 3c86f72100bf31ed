"""One loaded model a folder: who comes first loads it, who goes last frees it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from photocraft_local.errors import ModelError
from photocraft_local.serving.transformers import sharing


class Chat:
    def __init__(self, loaded: str) -> None:
        self.loaded, self.forgotten = loaded, 0

    def forget(self) -> None:
        self.forgotten += 1


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The folders that were loaded, in order; one of them is broken."""
    made: list[str] = []

    def load(folder: Path, progress: object) -> str:
        sleep(0.01)  # long enough for the others to come
        if folder.name == "broken":
            raise ModelError("broken")
        made.append(folder.name)
        return folder.name

    monkeypatch.setattr(sharing, "load", load)
    monkeypatch.setattr(sharing, "LocalChat", Chat)
    monkeypatch.setattr(sharing, "release", lambda: made.append("released"))
    yield made
    assert sharing._SHARED == {}


def test_many_share_one_and_the_last_one_frees_it(loads: list[str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        leases = list(pool.map(lambda _: sharing.lease(tmp_path / "a", print), range(8)))
    other = sharing.lease(tmp_path / "b", print)
    again = sharing.lease(tmp_path / "b" / ".." / "a", print)
    chat = leases[0].chat
    assert loads == ["a", "b"]
    assert {id(one.chat) for one in [*leases, again]} == {id(chat)} != {id(other.chat)}
    for one in leases:
        one.end()
        one.end()
    assert loads == ["a", "b"]
    again.end()
    assert loads == ["a", "b", "released"]
    assert chat.forgotten == 1  # type: ignore[attr-defined]
    other.end()
    sharing.lease(tmp_path / "a", print).end()
    assert loads == ["a", "b", "released", "released", "a", "released"]


def test_a_model_that_cannot_be_loaded_leaves_nothing(loads: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ModelError):
            sharing.lease(tmp_path / "broken", print)
    assert loads == []
