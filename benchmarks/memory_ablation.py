"""What each memory is worth to a controller that sees the rendered messages and nothing else.

Rows are the product's own settings, each with all of the row before it: ``none`` (the oldest turns
drop out of the window), ``working`` (S takes their place), ``episodic`` (reflection, past episodes
by recall), ``semantic`` (skills as hints), ``selection`` (photos of an answer are looked at again).
Questions to a made life (``_made_life.py``), inside one event and across events; the controller
(``_rule_controller.py``) errs where it cannot read, and so does the encoder. Drift: calls made
again in vain and answers with a photo that breaks a condition, a turn.

Then hints that were learned, shuffled among shapes, and turned wrong, for questions that the memory
never saw; and a question whose figures overflow an 8k window many times (``_long_album.py``), with
the window alone, with S, and with a window that holds everything. Last the planner, which reads
questions and results, but no hints.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from _common import arguments, finish, machine, table
from _hint_controls import controls
from _long_album import DAYS, long_album
from _long_album import WINDOW as SMALL_WINDOW
from _made_life import Shot, World, shots
from _made_questions import Question, questions
from _memory_rows import TOOLS, Outcome, Row, Stream, figures, steady
from _rule_controller import RuleController

from photocraft_local.agent.planner import Planner
from photocraft_local.memory.memory import Memory
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.settings import default_cache_path
from photocraft_local.tools.recall import Recall
from photocraft_local.tools.standard import standard_tools

OFF = {"working": False, "episodic": False, "memory": False, "skills": False, "verify": False}
WORKING = {**OFF, "working": True}
EPISODIC = {**WORKING, "memory": True, "episodic": True}
SEMANTIC = {**EPISODIC, "skills": True}
SELECTION = {**SEMANTIC, "verify": True}
# The planner has no window and reads no hints; no model looks at its photos again.
PLANNER_ROWS = (Row("none", OFF, window=0), Row("semantic", SEMANTIC, window=0))
ROWS = (
    Row("none", OFF),
    Row("working", WORKING),
    Row("episodic", EPISODIC),
    Row("semantic", SEMANTIC),
    Row("selection", SELECTION, judged=True, runs=3),
)
KINDS = ("intra", "inter")
FIGURES = ("em", "f1", "turns", "prefill_tokens", "drift")


def main() -> None:
    quick = arguments(__doc__ or "").quick
    found = measured(40 if quick else 120, unseen=20 if quick else 60)
    found["planner"] = planner(40 if quick else 120, default_cache_path())
    print(machine())
    finish(found)


def measured(number: int, *, unseen: int, days: int = DAYS) -> dict[str, Any]:
    life = shots()
    world = World(life)
    asked = _asked(life, number, unseen)
    result: dict[str, Any] = {"questions": number, "unseen_questions": unseen}
    with steady(), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        streams = {row.name: Stream(world, row, folder / row.name, RuleController) for row in ROWS}
        found = {name: _by_kind(stream.ask(asked[:number])) for name, stream in streams.items()}
        _report(found)
        learned = streams["semantic"].memory.hints
        result["hints"] = _hints(world, learned, asked[number:], folder)
        result["long_album"] = _long(folder, days)
    return {**found, **result}


def planner(number: int, cache: Path) -> dict[str, Any]:
    """The same questions to the other controller; ``cache`` keeps the gazetteer."""
    with Gazetteer.open(cache) as places:
        life, tools = shots(), [type(tool) for tool in standard_tools(episodic=True)]
        world, asked = World(life, places=places), _asked(life, number)
        found = {}
        for row in PLANNER_ROWS:
            with steady(), tempfile.TemporaryDirectory() as folder:
                stream = Stream(world, row, Path(folder), lambda _: Planner(places), tools=tools)
                found[row.name] = _by_kind(stream.ask(asked))
    print()
    _report({f"planner: {name}": row for name, row in found.items()})
    return found


def _asked(life: Sequence[Shot], number: int, more: int = 0) -> list[Question]:
    """``number`` in some order, and ``more`` behind them."""
    both = questions(life, number + more, seed=3)
    return [*random.Random(0).sample(both[:number], number), *both[number:]]


def _by_kind(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    parts = {kind: [one for one in outcomes if one.question.kind == kind] for kind in KINDS}
    return {**figures(outcomes), **{kind: figures(part) for kind, part in parts.items()}}


def _report(found: Mapping[str, Mapping[str, Any]]) -> None:
    header = ["", *FIGURES, *(f"{kind} {key}" for kind in KINDS for key in ("em", "f1", "drift"))]
    rows = [
        [name, *(row[key] for key in FIGURES)]
        + [row[kind][key] for kind in KINDS for key in ("em", "f1", "drift")]
        for name, row in found.items()
    ]
    table(rows, header)
    print()


def _hints(
    world: World, learned: Any, unseen: Sequence[Question], folder: Path
) -> dict[str, dict[str, float]]:
    """Hints that stay as they are, and nothing else of memory but S."""
    found = {}
    for name, hints in controls(learned, unseen).items():
        row = replace(ROWS[1], name=name)
        memory, tools = Memory(None, hints), [tool for tool in TOOLS if tool is not Recall]
        stream = Stream(world, row, folder / name, RuleController, memory=memory, tools=tools)
        found[name] = figures(stream.ask(unseen))
    table([[name, *(row[key] for key in FIGURES)] for name, row in found.items()], ["", *FIGURES])
    print()
    return found


def _long(folder: Path, days: int) -> dict[str, dict[str, float]]:
    rows = [
        Row("without", OFF, window=SMALL_WINDOW),
        Row("with", WORKING, window=SMALL_WINDOW),
        Row("without, wide window", OFF, window=1 << 17),
    ]
    found = long_album(folder / "long", rows, days)
    keys = list(next(iter(found.values())))
    table([[name, *(row[key] for key in keys)] for name, row in found.items()], ["", *keys])
    return found


if __name__ == "__main__":
    main()
