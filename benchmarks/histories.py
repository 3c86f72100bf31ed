"""How many questions to made-up lives get exactly their photos, at three sizes.

Agents: the planner; the planner where true labels take the encoder's place (what is left is its
understanding); a scripted oracle, which is given each question's meaning and must reach 100, else a
question can be read in two ways or a tool is wrong; photos by lot; the empty set. ``answerable``
leaves out questions that no photo answers. ``seconds_per_300`` is the planner's wall time for 300
questions, indexing apart, one question at a time. Each picture is encoded once for all files that
show it bit for bit, and its vector kept in the cache for the next run. docs/evaluation.md says how
a history is made.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from _common import SHARED, arguments, finish, machine, table

from photocraft_local.app import histories
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.eyes import OncePerPicture
from photocraft_local.evaluation.histories.history import compose
from photocraft_local.evaluation.histories.scores import scores
from photocraft_local.evaluation.histories.sources import Sources, read_sources
from photocraft_local.settings import Settings, default_cache_path

SIZES = {200: 300, 2000: 300, 20_000: 300}  # photos → questions
QUICK = {200: 20, 300: 20, 400: 20}
QUICK_SOURCES = 3  # each third photo: encoding takes most of the time where no vector is kept
NAMES = {"oracle": "oracle", "random": "random", "empty": "empty", "backbone": "planner",
         "true-eyes": "planner_true_eyes"}  # fmt: skip


def main() -> None:
    options = arguments(__doc__ or "")
    print(machine())
    settings = Settings(cache=default_cache_path(), backbone="planner", memory=False)
    once = OncePerPicture(make_encoder(settings), settings.cache)
    sources = read_sources(SHARED / "data" / "captioned")
    if options.quick:
        sources = replace(sources, photos=sources.photos[::QUICK_SOURCES])
    result = {
        str(size): measured(sources, Dials(size=size, questions=number), settings, once)
        for size, number in (QUICK if options.quick else SIZES).items()
    }
    finish(result)


def measured(
    sources: Sources, dials: Dials, settings: Settings, once: OncePerPicture
) -> dict[str, Any]:
    began = time.process_time()
    history = compose(sources, dials)
    composing = time.process_time() - began
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "history"
        before = once.num_encoded
        made = histories.indexed(history, folder, settings, once=once)
        print(
            f"\n{dials.size} photos of {history.counts()['sources']} sources,"
            f" {dials.questions} questions; indexed in {made.seconds:.1f} s,"
            f" {once.num_encoded - before} new pictures encoded"
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
    for part in ("by_kind", "by_hops", "answerable_by_kind", "answerable_by_hops"):
        found[part] = {name: one[part] for name, one in told.items()}
    found["planner_by_status"] = told["planner"]["by_status"]
    found["seconds_per_300"] = round(300 * told["planner"]["seconds"] / dials.questions, 1)
    found["composing_cpu_seconds"] = round(composing, 2)
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
