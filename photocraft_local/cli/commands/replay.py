"""``photocraft replay``: the recorded calls of a question made again on the library of now."""

from __future__ import annotations

import argparse

from photocraft_local.app import PhotoSearch
from photocraft_local.app.replaying import Replay, ReplayedStep
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console, json_text
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.memory.text import shortened
from photocraft_local.records import Json
from photocraft_local.settings import Settings

_LONGEST = 160  # characters of one value


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="ID", help="of a question, a trace file, or latest")
    parser.add_argument("--encoder", metavar="NAME|FOLDER", help="default: that of the settings")


def run(args: argparse.Namespace, console: Console) -> int:
    with PhotoSearch(Settings.load(**settings_overrides(args, "encoder"))) as photos:
        replay = photos.traces.replay(args.trace)
    if args.json:
        console.json(_json(replay))
    else:
        _show(replay, console)
    return exit_codes.FAULT_FOUND if replay.num_differing else exit_codes.OK


def _show(replay: Replay, console: Console) -> None:
    for one in replay.steps:
        said = one.outcome if not one.why else f"{one.outcome}: {one.why}"
        which = f"attempt {one.attempt}, " if replay.trajectory.attempts else ""
        console.line(f"{which}step {one.step.index}: {one.step.call.name}: {said}")
        for difference in one.differences:
            before, now = _value(difference.before), _value(difference.now)
            console.line(f"    {difference.where}: {before} -> {now}")
        if one.more:
            console.line(f"    and {count_text(one.more, 'more difference')}")
    same = len(replay.steps) - replay.num_differing - replay.num_not_run
    console.line(
        f"{count_text(same, 'result')} the same, {replay.num_differing} different,"
        f" {replay.num_not_run} not run"
    )
    if replay.generation != replay.trajectory.generation:
        console.note("the library has changed since the question was asked")


def _value(value: Json) -> str:
    return shortened(json_text(value), _LONGEST)


def _json(replay: Replay) -> dict[str, Json]:
    return {
        "episode_id": replay.trajectory.episode_id,
        "generation": {"asked": replay.trajectory.generation, "now": replay.generation},
        "differing": replay.num_differing,
        "not_run": replay.num_not_run,
        "steps": [_step_json(one) for one in replay.steps],
    }


def _step_json(one: ReplayedStep) -> dict[str, Json]:
    return {
        "attempt": one.attempt,
        "step": one.step.index,
        "tool": one.step.call.name,
        "outcome": one.outcome,
        "why": one.why,
        "differences": [
            {"where": found.where, "before": found.before, "now": found.now}
            for found in one.differences
        ],
        "more": one.more,
    }
