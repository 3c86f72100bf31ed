"""The true loop's parts without a library: settings, memory, a registry of tiny tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_tools import Find, make_registry

from photocraft_local.agent.loop import Agent
from photocraft_local.memory.memory import Memory
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(library=tmp_path / "library", cache=tmp_path / "cache", skill_seeds=False)


@pytest.fixture
def memory(settings: Settings) -> Memory:
    return Memory.open(settings)


@pytest.fixture
def find() -> Find:
    return Find()


@pytest.fixture
def registry(find: Find, memory: Memory) -> Registry:
    return make_registry(find, memory)


@pytest.fixture
def new_registry(memory: Memory) -> Callable[[], Registry]:
    """A registry as a new process would have it: no sets yet."""
    return lambda: make_registry(Find(), memory)


@pytest.fixture
def play(registry: Registry, memory: Memory, settings: Settings) -> Callable[..., Any]:
    """play(*lines, max_turns=…) → (agent, model); nothing has run yet."""

    def make(*lines: Line, max_turns: int = 30) -> tuple[Agent, ScriptedModel]:
        model = ScriptedModel(lines)
        limited = Settings(library=settings.library, cache=settings.cache, max_turns=max_turns)
        return Agent(model, registry, memory, limited), model

    return make
