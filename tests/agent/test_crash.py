"""SIGKILL in the middle of an episode: the trace on disk is whole, and the episode resumes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.memory.memory import Memory
from photocraft_local.records import ToolCall
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry

KILLS = 8
MOST_STEPS = 40
DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tiny_tools import Find, make_registry
from photocraft_local.agent.loop import Agent
from photocraft_local.memory.memory import Memory
from photocraft_local.records import ToolCall
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.settings import Settings
settings = Settings(library=Path(sys.argv[2]), max_turns=1000)
memory = Memory.open(settings)
calls = [ToolCall("find", {"text": f"dog {n}", "save_as": f"s{n % 50}"}) for n in range(999)]
model, registry = ScriptedModel(calls), make_registry(Find(), memory)
told = lambda step: print(step.index, flush=True)
Agent(model, registry, memory, settings, on_step=told).ask("dogs")
"""


def test_a_killed_episode_leaves_a_whole_trace_that_resumes(
    tmp_path: Path, new_registry: Callable[[], Registry]
) -> None:
    library = tmp_path / "library"
    chance = random.Random(20240515)
    for _ in range(KILLS):
        command = [sys.executable, "-c", DRIVER, str(Path(__file__).parent), str(library)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for index in range(1, chance.randint(1, MOST_STEPS) + 1):
                assert process.stdout.readline() == b"%d\n" % index
            process.send_signal(signal.SIGKILL)  # somewhere in a later step
        assert process.returncode == -signal.SIGKILL

    traces = sorted((library / "traces").glob("*.json"))
    assert len(traces) == KILLS
    for path in traces:
        trace = trajectory.load(path)
        assert trace.status == "running"
        assert [step.index for step in trace.steps] == list(range(1, len(trace.steps) + 1))

    settings = Settings(library=library, max_turns=1000)
    registry = new_registry()
    model = ScriptedModel([ToolCall("submit_answer", {"photos": ["aaaaa"]})])
    agent = Agent(model, registry, Memory.open(settings), settings)
    longest = max(traces, key=lambda path: len(trajectory.load(path).steps))
    num_steps = len(trajectory.load(longest).steps)
    assert num_steps > 10
    assert agent.resume(longest).uids == ("aaaaa",)
    assert len(trajectory.load(longest).steps) == num_steps + 1
    assert len(registry.context.sets) == min(num_steps, 50)
