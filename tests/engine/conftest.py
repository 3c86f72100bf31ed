"""The real vLLM on the CPU, in this process, on checkpoints of a few MB with random weights.

Runs where PHOTOCRAFT_TEST_ENGINE is set (scripts/test makes that environment); elsewhere each
test here is skipped and says so. Engines live to the end of the session: when one goes, vLLM
takes down what all of them share.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

HERE = Path(__file__).resolve().parent
WHY = "ENGINE ABSENT: the vLLM tests need the engine environment (scripts/test --engine)"
EXPERTS = "qwen3-vl-moe"
WANTED = "PHOTOCRAFT_TEST_ENGINE" in os.environ

sys.path.insert(0, str(HERE.parent.parent / "scripts"))  # tiny_checkpoint
if WANTED:
    from engine_environment import prepare

    prepare()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE not in item.path.parents:
            continue
        # torch, transformers and vLLM warn about one another; ours stay errors.
        item.add_marker(pytest.mark.filterwarnings("ignore"), append=False)
        item.add_marker(pytest.mark.filterwarnings("error:::photocraft_local"))
        if not WANTED:
            item.add_marker(pytest.mark.skip(reason=WHY))


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The folder of a family's tiny checkpoint, made once."""
    from tiny_checkpoint.families import FAMILIES
    from tiny_checkpoint.folder import write

    made: dict[str, Path] = {}

    def folder(name: str, thinking: bool = False) -> Path:
        key = name + "-thinking" * thinking
        if key not in made:
            made[key] = tmp_path_factory.mktemp("weights") / key
            write(made[key], FAMILIES[name], thinking=thinking)
        return made[key]

    return folder


@pytest.fixture(scope="session")
def engine(checkpoint: Callable[..., Path]) -> Callable[..., Any]:
    """The running ``vllm.LLM`` of a family; options beyond the usual make another one.

    ``counting``: its counters are read, which only the engine that was started last keeps.
    """
    from tiny_engine import start

    running: list[tuple[str, Any]] = []

    def get(name: str, counting: bool = False, thinking: bool = False, **options: Any) -> Any:
        # The first engine makes the process groups of all, and only experts ask for theirs.
        if not running and name != EXPERTS:
            get(EXPERTS)
        key = f"{name} {thinking} {sorted(options.items())}"
        usable = running[-1:] if counting else running
        for known, llm in usable:
            if known == key:
                return llm
        running.append((key, start(checkpoint(name, thinking), **options)))
        return running[-1][1]

    return get


@pytest.fixture(scope="session")
def original(checkpoint: Callable[..., Path]) -> Callable[[str], tuple[Any, Any]]:
    """Processor and model of a family in transformers, what the engine is compared with."""
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    loaded: dict[str, tuple[Any, Any]] = {}

    def get(name: str) -> tuple[Any, Any]:
        if name not in loaded:
            folder = checkpoint(name)
            model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
            loaded[name] = (AutoProcessor.from_pretrained(folder), model.eval())
        return loaded[name]

    return get


@pytest.fixture(scope="session")
def loaded(checkpoint: Callable[..., Path]) -> Callable[..., Any]:
    """A tiny checkpoint as the transformers backbone loads it, once."""
    from photocraft_local.serving.transformers.loading import load

    made: dict[Path, Any] = {}

    def get(name: str, thinking: bool = False) -> Any:
        folder = checkpoint(name, thinking)
        if folder not in made:
            made[folder] = load(folder, lambda stage: None)
        return made[folder]

    return get


@pytest.fixture(scope="session")
def photos(shared: Path) -> list[Image.Image]:
    """Four real photos, small enough for some 100 tokens each."""
    files = sorted((shared / "data/captioned/coco").glob("*.jpg"))[::40][:4]
    assert len(files) == 4
    opened = [Image.open(file).convert("RGB") for file in files]
    for picture in opened:
        picture.thumbnail((320, 320))
    return opened
