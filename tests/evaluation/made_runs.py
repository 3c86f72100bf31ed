"""Runs that nobody made: rows of every kind, traces, a folder of photos, texts of an attacker."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.results import ResultRow, RunFolder, row_of
from photocraft_local.records import Observation, Step, ToolCall, Usage

ATTACKS = (
    "<script>fetch('http://evil.example/')</script>",
    '"><img src=http://evil.example/x.png onerror=alert(1)>',
    "</title></style></svg><iframe src=//evil.example></iframe>",
    "\x1b[2J\x1b]0;owned\x07 \u202egnp.exe",
    "javascript:alert(1)&lt;&#x3c;b>]]>--><!--",
    "\udcff not UTF-8",
)
TOOLS = ("filter_photos", "search_photos", "submit_answer")


def question(number: int, words: str = "") -> EvalQuestion:
    gold = frozenset({f"photo{number % 6}"} if number % 5 else ())
    return EvalQuestion(
        id=f"q{number}",
        library=f"user{number % 3}",
        text=words or f"question {number}",
        gold=gold,
        kind="intra-event" if number % 2 else "inter-event",
        hops=number % 3 + 1,
        groups=("vision",) if number % 4 else ("metadata", "vision"),
        gold_text="14 June 2021" if number % 7 == 0 else "",
    )


def reply(number: int, skill: float, rng: Random, words: str = "") -> Reply:
    right = rng.random() < skill
    gold = tuple(question(number).gold)
    return Reply(
        predicted=gold if right else ("photo1", "photo9"),
        text=words or ("It was on 2021-06-14." if right else "nothing"),
        status="answered" if right or number % 9 else "failed",
        error="" if right or number % 9 else words or "the server is gone",
        turns=rng.randint(1, 9),
        finished_by_itself=rng.random() < 0.9,
        tools={name: rng.randint(0, 3) for name in TOOLS},
        failure_class="" if right else words or "reasoning breakdown",
        has_trace=True,
        prompt_tokens=1000 * number,
        cached_tokens=700 * number,
        generated_tokens=10 * number,
        seconds=0.5 + number / 10,
    )


def made_run(
    folder: Path, num: int = 60, *, skill: float = 0.6, seed: int = 1, attack: bool = False
) -> RunFolder:
    """With ``attack``, each text that a report may show is one of ``ATTACKS``."""
    rng = Random(seed)
    run = RunFolder.begin(folder, {"data": {"sha": "1"}, "skill": skill}, {"hardware": "none"})
    with run.held():
        for number in range(num):
            words = ATTACKS[number % len(ATTACKS)] if attack else ""
            asked = question(number, words)
            trace = run.trace_path(asked)
            run.add(row_of(asked, reply(number, skill, rng, words), _trace(run, trace, words)))
        run.finish({"questions": num, "skipped": ["<b>none</b>"]})
    return run


def rows(num: int = 60, **about: Any) -> list[ResultRow]:
    rng = Random(about.get("seed", 1))
    return [row_of(question(at), reply(at, about.get("skill", 0.6), rng)) for at in range(num)]


def photos(folder: Path) -> Path:
    """DISBench's layout of pictures."""
    for number in range(6):
        target = folder / f"images/user{number % 3}/photo{number}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.full((90, 120, 3), 40 * number, np.uint8)
        Image.fromarray(pixels).save(target)
    return folder


def _trace(run: RunFolder, path: Path, words: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = Trajectory(
        question=words, today=date(2024, 1, 1), backbone="made", episode_id=path.stem
    )
    for turn in range(1, 4):
        seen = Observation("filter_photos", {"count": turn}, brief=words or f"{turn} photos")
        call = ToolCall("filter_photos", {"where": words or "year = 2021"})
        record.steps.append(Step(turn, call, seen, words or "look at the year", Usage(10, 5, 2)))
    path.write_text(json.dumps(record.to_json()))
    return path.relative_to(run.path).as_posix()
