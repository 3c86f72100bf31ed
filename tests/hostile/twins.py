"""A hostile library and its clean twin, and how what happened in both is compared."""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from attack_texts import ATTACKS, HARMLESS, attack
from twin_photos import write_photos, write_target

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.trajectory import Trajectory, load
from photocraft_local.app.episodes import library_card, tool_context
from photocraft_local.app.memories import memory_of
from photocraft_local.records import Answer, path_text
from photocraft_local.serving.chat_model import ChatModel
from photocraft_local.tools.format import safe_text
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools

TODAY = date(2024, 6, 15)
_PAGE_TEXTS = ("page", "title", "where", "under", "text", "caption")


@dataclass
class Twin:
    """One of the two. ``named``: a string of this library → what it is in both."""

    settings: Settings
    folder: Path
    target: str
    is_hostile: bool
    paths: Mapping[int, bytes] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def open(self, **more: Any) -> Iterator[PhotoSearch]:
        changed = {**{f: getattr(self.settings, f) for f in self.settings.__slots__}, **more}
        with PhotoSearch(Settings(**changed), today=TODAY) as search:
            yield search

    def same(self, value: Any) -> Any:
        """With the names that both libraries share: of photos, cameras, files."""
        if isinstance(value, str):
            for mine, shared in self.named.items():
                value = value.replace(mine, shared)
            return value
        if isinstance(value, Mapping):
            return {self.same(key): self.same(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.same(item) for item in value]
        return value


def make_twin(base: Path, cache: Path, *, hostile: bool, pages: bool = True) -> Twin:
    base.mkdir()
    folder = base / "photos"
    folder.mkdir()
    settings = Settings(
        library=base / "library", cache=cache, encoder="null", memory_folder=base / "memory"
    )
    write_target(folder)
    with PhotoSearch(settings, today=TODAY) as search:
        search.index(folder)
        target = next(iter(search.list())).uid
        twin = Twin(settings, folder, target, hostile)
        twin.paths = write_photos(folder, target, hostile=hostile)
        search.index(folder)
        if pages:
            write_pages(base / "pages", target, hostile=hostile)
            search.knowledge.add(base / "pages")
        _name_all(twin, search)
    return twin


def copy_of(twin: Twin, base: Path) -> Twin:
    """Another library of the same photos, with what it knows, and a memory of its own."""
    shutil.copytree(twin.settings.library, base / "library")
    own = replace(twin.settings, library=base / "library", memory_folder=base / "memory")
    return replace(twin, settings=own)


def _name_all(twin: Twin, search: PhotoSearch) -> None:
    numbers = {path: number for number, path in twin.paths.items()}
    names: dict[str, str] = {twin.target: "TARGET"}
    for photo in search.list():
        number = numbers.get(photo.paths[0])
        if number is None:
            continue
        names[photo.uid] = f"PHOTO-{number:03}"
        names[safe_text(photo.camera)] = f"{photo.camera.split()[0]} CAMERA-{number:03}"
        names[safe_text(photo.camera, 60)] = f"{photo.camera.split()[0]} CAMERA-{number:03}"
        for path in (*photo.paths, *photo.companions):
            kind = Path(os.fsdecode(path)).suffix
            names[safe_text(path_text(path), 200)] = f"FILE-{number:03}{kind}"
    twin.named = dict(sorted(names.items(), key=lambda pair: -len(pair[0])))


def write_pages(folder: Path, uid: str, *, hostile: bool) -> None:
    """One page an attack: every second one as a caption; each with a word of its own."""
    folder.mkdir()
    for number, name in enumerate(ATTACKS):
        said = attack(name, uid) if hostile else f"{HARMLESS} {number}"
        text = html.escape(" ".join(said.encode("utf-8", "replace").decode().split()))
        told = f"<p>zebra{number:02} {text}</p>"
        (folder / f"{number:03}.html").write_text(
            f"<html><head><meta charset='utf-8'><title>{text}</title></head><body>"
            f"<h1>{text}</h1>{told}</body></html>",
            "utf-8",
        )


@dataclass
class Told:
    """What an episode left behind."""

    answer: Answer
    trace: Trajectory


def ask_model(twin: Twin, model: ChatModel, question: str, **more: Any) -> Told:
    """The true loop with the true tools, driven by ``model``."""
    with twin.open(**more) as search:
        parts = search._parts
        memory = memory_of(parts)
        agent = Agent(
            model,
            Registry(standard_tools(), tool_context(parts, memory, TODAY, ())),
            memory,
            parts.settings,
            today=TODAY,
            library_card=library_card(parts),
            generation=parts.library().generation(),
        )
        answer = agent.ask(question)
        assert agent.last_trace is not None
        return Told(answer, load(agent.last_trace))


def calls_of(twin: Twin, trace: Trajectory) -> list[Any]:
    """Every call with its arguments, in the names of both."""
    return [twin.same([step.call.name, step.call.arguments]) for step in trace.steps]


def messages_of(twin: Twin, messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The prompt with results read as data; pictures only count, since ids are drawn on them."""
    told: list[Any] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "tool":
            content = _texts_apart(json.loads(content))
        elif isinstance(content, list):
            content = [part.get("text", "picture") for part in content]
        calls = [call["function"] for call in message.get("tool_calls", ())]
        told.append([message["role"], twin.same(content), twin.same(calls)])
    return told


def _texts_apart(result: Any) -> Any:
    """Without what the passages of pages say, which is not the same in both."""
    for row in result.get("result", {}).get("passages", ()):
        for key in _PAGE_TEXTS:
            row.pop(key, None)
    return result
