"""``photocraft ask --backbone transformers``: whole episodes on real photos, and what stops one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Barrier
from typing import Any

import jsonschema
import pytest

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.errors import ModelError
from photocraft_local.serving import tool_calls
from photocraft_local.tools.standard import standard_tools

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch and transformers")

from photocraft_local.serving.transformers import sharing


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(6)


def photocraft(
    library: Path, cache: Path, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    mine = {"PHOTOCRAFT_LIBRARY": library, "PHOTOCRAFT_CACHE": cache, "PHOTOCRAFT_ENCODER": "null"}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "photocraft_local", *words],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {name: str(value) for name, value in mine.items()} | variables,
    )


def checked(trace: Path, family: str, turns: int) -> None:
    """That the episode ended, kept every limit, and made no call but valid ones."""
    record = trajectory.load(trace)
    assert record.backbone == f"transformers {family}"
    assert record.status == "answered"
    assert len(record.steps) <= turns + 2
    schemas = {tool.name: tool.parameters for tool in standard_tools()}
    for step in record.steps:
        jsonschema.validate(dict(step.call.arguments), schemas[step.call.name])
    usages = [step.usage for step in record.steps]
    assert all(usage.prompt > 0 and usage.generated > 0 for usage in usages)
    assert all(usage.cached > 0.8 * before.prompt for before, usage in pairwise(usages))


def test_a_whole_episode_on_the_command_line(
    library: Path, shared_cache: Path, checkpoint: Callable[..., Path]
) -> None:
    words = ["ask", "the dog on the beach", "--backbone", "transformers"]
    words += ["--weights", str(checkpoint("qwen3-vl")), "--json"]
    done = photocraft(library, shared_cache, *words, PHOTOCRAFT_MAX_TURNS="1")
    assert done.returncode in (0, 1), done.stderr
    checked(Path(json.loads(done.stdout)["trajectory"]), "qwen3-vl", 1)


@pytest.mark.parametrize("family", ["qwen2.5-vl", "qwen3-vl"])
def test_four_episodes_at_once_share_one_model(
    library: Path,
    shared_cache: Path,
    checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    family: str,
) -> None:
    # Random weights end a text only where they must.
    short = partial(tool_calls.Limits, thought=16, text=16, items=2)
    monkeypatch.setattr(tool_calls, "Limits", short)
    told: list[str] = []
    settings = Settings(
        library=library, cache=shared_cache, encoder="null", max_turns=4,
        weights=checkpoint(family), backbone="transformers",
    )  # fmt: skip
    together = Barrier(4)

    def episode(number: int) -> Path:
        with PhotoSearch(settings) as search:
            answer = search.ask(f"question {number}: the dog", on_stage=told.append)
            together.wait(120)  # nobody gives the model back while another still asks
        assert answer.trajectory
        return answer.trajectory

    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(episode, range(4)))
    for trace in traces:
        checked(trace, family, 4)
    assert len([stage for stage in told if stage.startswith("loading")]) == 1
    assert sharing._SHARED == {}


def test_what_cannot_be_loaded_is_said_in_one_line_and_a_hint(
    library: Path, shared_cache: Path, checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    def refused(folder: Path) -> ModelError:
        settings = Settings(
            library=library, cache=shared_cache, encoder="null", weights=folder,
            backbone="transformers",
        )  # fmt: skip
        with PhotoSearch(settings) as search, pytest.raises(ModelError) as caught:
            search.ask("a dog")
        assert caught.value.hint
        assert "\n" not in caught.value.message
        return caught.value

    assert "does not exist" in refused(tmp_path / "nowhere").message
    folder = tmp_path / "weights"
    folder.mkdir()
    for file in checkpoint("qwen3-vl").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    good = json.loads((folder / "config.json").read_text("utf-8"))

    def write(**changes: Any) -> None:
        (folder / "config.json").write_text(json.dumps(good | changes))

    write(quantization_config={"quant_method": "awq"})
    assert "quantised (awq)" in refused(folder).message
    write()
    picture = (folder / "preprocessor_config.json").read_text("utf-8")
    kind = picture.replace("Qwen2VLImageProcessorFast", "NoSuchProcessor")
    (folder / "preprocessor_config.json").write_text(kind)
    assert "transformers cannot load" in refused(folder).message
    (folder / "preprocessor_config.json").write_text(picture)
    (folder / "chat_template.json").unlink()
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    config.pop("chat_template")
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    assert "template" in refused(folder).message
