"""How many questions to made-up lives get exactly their photos, at three sizes.

Agents: the planner; the planner where true labels take the encoder's place (what is left is its
understanding); a scripted oracle, which is given each question's meaning and must reach 100, else a
question can be read in two ways or a tool is wrong; photos by lot; the empty set. ``answerable``
leaves out questions that no photo answers. ``seconds_per_300`` is the planner's wall time for 300
questions, indexing apart, one question at a time. Each picture is encoded once for all files that
show it bit for bit. docs/evaluation.md says how a history is made.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from _common import SHARED, arguments, finish, machine, table

from photocraft_local.app import histories
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.eyes import OncePerPicture
from photocraft_local.evaluation.histories.history import compose
from photocraft_local.evaluation.histories.scores import scores
from photocraft_local.evaluation.histories.sources import read_sources
from photocraft_local.settings import Settings, default_cache_path

SIZES = {200: 300, 2000: 300, 20_000: 300}  # photos → questions
QUICK = {200: 30, 300: 30, 400: 30}
NAMES = {"oracle": "oracle", "random": "random", "empty": "empty", "backbone": "planner",
         "true-eyes": "planner_true_eyes"}  # fmt: skip


def main() -> None:
    options = arguments(__doc__ or "")
    print(machine())
    settings = Settings(cache=default_cache_path(), backbone="planner", memory=False)
    once = OncePerPicture(make_encoder(settings))
    result = {
        str(size): measured(size, number, settings, once)
        for size, number in (QUICK if options.quick else SIZES).items()
    }
    finish(result)


def measured(size: int, number: int, settings: Settings, once: OncePerPicture) -> dict[str, Any]:
    sources = read_sources(SHARED / "data" / "captioned")
    history = compose(sources, Dials(size=size, questions=number))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "history"
        before = once.num_encoded
        made = histories.indexed(history, folder, settings, once=once)
        print(
            f"\n{size} photos of {history.counts()['sources']} sources, {number} questions;"
            f" indexed in {made.seconds:.1f} s, {once.num_encoded - before} new pictures encoded"
        )
        told = {}
        for agent, name in NAMES.items():
            _, rows = histories.run(made, agent, folder / "runs" / agent)
            told[name] = scores(rows)
    report(told)
    found: dict[str, Any] = {
        f"{name}_{part}": one[part] for name, one in told.items() for part in ("em", "f1")
    }
    found |= {f"{name}_answerable_em": one["answerable"]["em"] for name, one in told.items()}
    found["by_kind"] = {name: one["by_kind"] for name, one in told.items()}
    found["by_hops"] = {name: one["by_hops"] for name, one in told.items()}
    found["planner_by_status"] = told["planner"]["by_status"]
    found["seconds_per_300"] = round(300 * told["planner"]["seconds"] / number, 1)
    found["indexing_seconds"] = round(made.seconds, 1)
    return found


def report(told: dict[str, dict[str, Any]]) -> None:
    kinds = sorted(told["oracle"]["by_kind"])
    hops = sorted(told["oracle"]["by_hops"])
    rows = [
        [
            name, one["em"], one["f1"], one["answerable"]["em"], one["unanswerable"]["em"],
            *(one["by_kind"][kind]["em"] for kind in kinds),
            *(one["by_hops"][hop]["em"] for hop in hops),
        ]
        for name, one in told.items()
    ]  # fmt: skip
    head = ["EM of", "all", "F1", "answerable", "unanswerable", *kinds]
    table(rows, [*head, *(f"{hop} hops" for hop in hops)])


if __name__ == "__main__":
    main()
