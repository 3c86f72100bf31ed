"""Whole questions over real photos: the same bytes of a prompt in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from photocraft_local import PhotoSearch, Settings

# What was sent, as one JSON line for each request of each question.
DRIVER = """
import json, sys
from datetime import date
from pathlib import Path
from photocraft_local import PhotoSearch, Settings
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.records import Usage
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import Completion
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.tool_calls import Limits

library, cache, *questions = sys.argv[1:]

def call(name, **arguments):
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})

class Played:
    def chat(self, request):
        print(json.dumps([request.messages, request.schema]))
        said = [m for m in request.messages if m["role"] == "assistant"]
        photos = []
        if len(said) == 4:
            result = request.messages[-1]["content"].split("\\n")[1]
            photos = [row["uid"] for row in json.loads(result)["result"]["photos"]]
        turns = [
            lambda: call("filter_photos", where="width > 0", save_as="all"),
            lambda: call("filter_photos", where="has_time", when="2008", save_as="dated"),
            lambda: call("list_events"),
            lambda: call("combine_sets", op="or", sets=["all", "dated"], save_as="both"),
            lambda: call("view_photos", photos=photos[:2]),
            lambda: call("compress_context", reason="it is long"),
            lambda: call("filter_photos", where="month > 2", within="both"),
            lambda: call("submit_answer", photos=[], text="none", evidence=[]),
        ]
        step = len(said) if not Played.compacted else 6 + len(said)
        Played.compacted |= step == 5
        return Completion(turns[min(step, 7)](), usage=Usage(90, 60, 7))

rule = PictureRule(28, 4 * 28**2, 256 * 28**2)
made = Brain("tiny", Played(), PictureStore(rule), Limits())
ServedBackbone.brain = lambda *_: made
settings = Settings(
    library=Path(library), cache=Path(cache), encoder="null", backbone="vllm", memory=False
)
with PhotoSearch(settings) as search:
    for question in questions:
        Played.compacted = False
        print(json.dumps([question, len(search.ask(question).steps)]))
"""


@pytest.fixture(scope="module")
def library(shared: Path, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    photos = tmp_path_factory.mktemp("photos")
    for file in sorted((shared / "data" / "exif").glob("ia_DSCN00*.jpg")):
        (photos / file.name).write_bytes(file.read_bytes())
    folder = tmp_path_factory.mktemp("stable") / "library"
    with PhotoSearch(Settings(library=folder, cache=shared_cache, encoder="null")) as search:
        search.index(photos)
    return folder


@pytest.fixture
def sent(library: Path, shared_cache: Path) -> Callable[..., list[Any]]:
    """What a process of its own sends for these questions."""

    def run(seed: int, *questions: str) -> list[Any]:
        command = [sys.executable, "-c", DRIVER, str(library), str(shared_cache), *questions]
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def test_prompts_are_the_same_bytes_in_every_process(sent: Callable[..., list[Any]]) -> None:
    first = sent(1, "the dog", "where was the cow?")
    again = sent(2, "the dog", "where was the cow?")
    assert json.dumps(first) == json.dumps(again)  # key order included
    ends = [at for at, line in enumerate(first) if isinstance(line[0], str)]
    assert [line[1] for line in first if isinstance(line[0], str)] == [8, 8]
    dog, cow = first[: ends[0]], first[ends[0] + 1 : ends[1]]
    for messages, schema in [*dog, *cow]:
        # system with tools, library card: of all questions; the question: of its episode
        assert json.dumps(messages[:2]) == json.dumps(dog[0][0][:2])
        assert schema == dog[0][1]
    assert dog[0][0][2] != cow[0][0][2]
    assert "image_url" in json.dumps(dog[5])
    for episode in (dog, cow):
        prompts = [messages for messages, _ in episode]
        grown = [after[: len(before)] == before for before, after in pairwise(prompts)]
        assert grown == [True] * 5 + [False] + [True]  # the compaction
        assert all(prompt[:3] == prompts[0] for prompt in prompts)
        assert "Summary of the turns" in prompts[6][3]["content"]
