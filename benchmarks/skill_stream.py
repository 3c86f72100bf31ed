"""Whether skills that were learned from earlier questions help with later ones.

A stream of questions in ten recurring shapes to a made life (``_made_life.py``), in three orders,
each with a memory that is empty at first and without the package's own skills. The controller
(``_rule_controller.py``) sees the rendered messages alone: it tries what comes to mind until the
rows of a result fit the words, or follows a way that a hint describes. Right photos are known to
the scorer only; what a stream teaches is what the product accepts without labels.
Peer: the same questions in the same order, with skills switched off.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _common import arguments, finish, machine, table
from _made_life import World, shots
from _made_questions import Question, questions
from _memory_rows import Outcome, Row, Stream, figures, steady
from _rule_controller import RuleController

ORDERS = 3
FIRST = 20
SKILLS = Row("skills", {"memory": True, "episodic": False})
NONE = Row("no skills", {"memory": False, "episodic": False})


def main() -> None:
    quick = arguments(__doc__ or "").quick
    finish(measured(60 if quick else 100, peers=1 if quick else ORDERS))


def measured(number: int, *, orders: int = ORDERS, peers: int = ORDERS) -> dict[str, Any]:
    """``peers``: in how many of the orders the peer is asked as well."""
    life = shots()
    world, asked = World(life), questions(life, number, seed=3)
    found, lines = [], []
    for order in range(orders):
        shuffled = random.Random(order).sample(asked, len(asked))
        ours = _stream(world, SKILLS, shuffled)
        lines += _lines(f"order {order + 1}", ours)
        found.append(_told(ours))
        if order < peers:
            peer = _stream(world, NONE, shuffled)
            lines += _lines(f"order {order + 1}, no skills", peer)
            found[-1]["no_skills"] = _told(peer)
    header = ["", *(f"{at + 1}–{at + FIRST}" for at in range(0, number, FIRST)), "all"]
    table(lines, header)
    print(f"{number} questions in {len({one.shape for one in asked})} shapes; {machine()}")
    result: dict[str, Any] = {"questions": number, "orders": found}
    for key in ("turns_first_20", "turns_last_20", "em_first_20", "em_last_20"):
        result[key] = [one[key] for one in found]
    return result


def _stream(world: World, row: Row, asked: Sequence[Question]) -> list[Outcome]:
    with steady(), tempfile.TemporaryDirectory() as folder:
        return Stream(world, row, Path(folder), RuleController).ask(asked)


def _told(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    first, last = figures(outcomes[:FIRST]), figures(outcomes[-FIRST:])
    return {
        "turns_first_20": first["turns"],
        "turns_last_20": last["turns"],
        "em_first_20": first["em"],
        "em_last_20": last["em"],
        "all": figures(outcomes),
    }


def _lines(name: str, outcomes: Sequence[Outcome]) -> list[list[object]]:
    """Turns and EM of each twenty, and of all."""
    parts = [outcomes[at : at + FIRST] for at in range(0, len(outcomes), FIRST)]
    told = [figures(part) for part in (*parts, outcomes)]
    return [
        [f"{name}: turns", *(f"{one['turns']:.1f}" for one in told)],
        [f"{' ' * len(name)}  EM", *(f"{one['em']:.0f}" for one in told)],
    ]


if __name__ == "__main__":
    main()
