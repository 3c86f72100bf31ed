"""How often a question to a made-up life gets exactly its photos, or rightly none.

``album/README.md`` says what is true and what the kinds and figures mean. The album is stamped and
indexed anew in each run; every question is asked on its own, without memory of the others.
Peers: an empty answer to everything, and the whole album to everything. Ceilings, left out by
``--quick``: a planner that makes no mistake, where only the looks are decided by the encoder, at
its own cut-off and at the best one for each question. Of the kept half only figures are
printed; ``--failures`` lists what goes wrong in the tuning half. ``em_named_looks`` are those easy
looks of which each thing is, by its name, a class of the encoder's classifier or a kind of one; it
was added after the first run, the groups that the questions were sealed with are the others.
``em_val_looks`` are those easy looks whose right photos are all of COCO's val2017: the encoder's
detector was trained on COCO, on nearly all of train2017 and an unknown part of val2017.
"""

from __future__ import annotations

import argparse
import csv
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

from _common import finish, machine, table
from album.encoder_eyes import EncoderEyes, all_named, class_names, relative, wanted_things
from album.life import Moment, build
from album_check import CAPTIONED, HALVES, Question, groups, questions, seal_holds

from photocraft_local import PhotoSearch
from photocraft_local.errors import PhotocraftError
from photocraft_local.settings import Settings, default_cache_path

TODAY = date(2024, 3, 15)
# What only the person can say: the middle of the spots "home" and "work" of life.tsv.
NAMED = {"home": (38.7139, -9.1394), "work": (38.7335, -9.1450)}
# Figure → the group of questions behind it, and the score that is averaged.
FIGURES = {
    "em_easy_looks": ("easy_looks", "em"),
    "em_named_looks": ("named_looks", "em"),
    "em_val_looks": ("val_looks", "em"),
    "em_metadata_only": ("metadata_only", "em"),
    "abstain_impossible": ("impossible", "em"),
    "abstain_absent_look": ("absent", "em"),
    "f1": ("", "f1"),
    "em": ("", "em"),
}
CLASSES = class_names()
with (CAPTIONED / "captions.csv").open(encoding="utf-8", newline="") as captions:
    VAL2017 = {row["file"] for row in csv.DictReader(captions) if row["split"] == "val2017"}
KINDS = ("intra", "across", "not", "count", "impossible", "absent")


@dataclass(frozen=True)
class Reply:
    """What came back: files, words, and whether the program declined or broke instead."""

    files: frozenset[str] = frozenset()
    text: str = ""
    declined: str = ""
    broke: str = ""


@dataclass(frozen=True)
class Score:
    question: Question
    reply: Reply
    groups: frozenset[str]
    em: float
    f1: float


Answerer = Callable[[Question], Reply]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="without the ceilings; ends within 45 s"
    )
    parser.add_argument("--failures", action="store_true", help="list the tuning half's mistakes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        album = Path(scratch).resolve() / "album"
        life = build(CAPTIONED, album)
        settings = Settings(
            library=Path(scratch) / "library", cache=default_cache_path(), memory=False
        )
        with PhotoSearch(settings, today=TODAY) as photos:
            summary = photos.index(album)
            for name, point in NAMED.items():
                photos.places.add(name, at=point)
            print(f"{summary.num_photos} photos indexed in {summary.seconds:.1f} s; {machine()}")
            photos.ask("photos from 2021")  # opens what every question needs
            started = time.process_time()
            ours = {half: scored(half, lambda q: asked(photos, album, q)) for half in HALVES}
            seconds = time.process_time() - started
            rivals = peers(life)
            if not options.quick:
                rivals |= ceilings(photos, album, life)
            others = {name: scored("kept", answerer) for name, answerer in rivals.items()}
    report(ours, others)
    if options.failures:
        list_failures(ours["tuning"])
    num_asked = sum(map(len, ours.values()))
    print(f"CPU seconds for 300 questions: {300 * seconds / num_asked:.1f}")
    result: dict[str, Any] = {half: figures(scores) for half, scores in ours.items()}
    result["by_kind"] = {half: by_kind(scores) for half, scores in ours.items()}
    result["cpu_seconds_per_300"] = round(300 * seconds / num_asked, 2)
    finish(result)


def asked(photos: PhotoSearch, album: Path, question: Question) -> Reply:
    """One answer. Declining in a clear error is an empty answer; any other error is a fault."""
    try:
        answer = photos.ask(question["question"])
    except PhotocraftError as error:
        return Reply(declined=str(error) or type(error).__name__)
    except Exception as error:  # noqa: BLE001 – one broken answer must not hide the others
        return Reply(broke=repr(error))
    files = frozenset(relative(found.photo.paths[0], album) for found in answer.photos)
    return Reply(files, answer.text)


def scored(half: str, answerer: Answerer) -> list[Score]:
    return [judged(question, answerer(question)) for question in questions(half)]


def judged(question: Question, reply: Reply) -> Score:
    counted = groups(question)
    if "easy_looks" in counted and all_named(question, CLASSES):
        counted.add("named_looks")
    if "easy_looks" in counted and set(question["gold"]) <= VAL2017:
        counted.add("val_looks")
    if reply.broke:
        return Score(question, reply, frozenset(counted), 0.0, 0.0)
    right = frozenset(question["gold"])
    shared = len(right & reply.files)
    f1 = 2 * shared / (len(right) + len(reply.files)) if right or reply.files else 1.0
    if question["expects"] == "text":
        words = re.escape(question["text"])
        exact = re.search(rf"(?<!\w){words}(?!\w)", reply.text, re.IGNORECASE) is not None
    else:
        exact = right == reply.files
    return Score(question, reply, frozenset(counted), float(exact), f1)


def figures(scores: Sequence[Score]) -> dict[str, float]:
    """The figures of one half, each × 100."""
    result = {}
    for name, (group, measure) in FIGURES.items():
        values = [getattr(score, measure) for score in scores if not group or group in score.groups]
        result[name] = round(100 * fmean(values), 1)
    return result


def sizes(scores: Sequence[Score]) -> dict[str, float]:
    """How many questions stand behind each figure."""
    return {
        name: sum(not group or group in score.groups for score in scores)
        for name, (group, _) in FIGURES.items()
    }


def by_kind(scores: Sequence[Score]) -> dict[str, dict[str, float]]:
    result = {}
    for kind in KINDS:
        of_kind = [score for score in scores if score.question["kind"] == kind]
        result[kind] = {
            "em": round(100 * fmean(score.em for score in of_kind), 1),
            "f1": round(100 * fmean(score.f1 for score in of_kind), 1),
            "n": len(of_kind),
        }
    return result


def ceilings(photos: PhotoSearch, album: Path, life: Sequence[Moment]) -> dict[str, Answerer]:
    """Rows that only the encoder can spoil."""
    asked_of = [question for half in HALVES for question in questions(half)]
    encoder = EncoderEyes(photos, album, life, wanted_things(asked_of))

    def at_its_cutoff(question: Question) -> Reply:
        return _counted(encoder.answer(question))

    def at_the_best(question: Question) -> Reply:
        right = frozenset(question["gold"])
        tries = [encoder.answer(question, cutoff) for cutoff in encoder.cutoffs(question)]
        exact = [files for files in tries if files == right]
        return _counted(exact[0] if exact else encoder.answer(question))

    return {
        "only the encoder errs": at_its_cutoff,
        "the same, best cut-off each": at_the_best,
    }


def _counted(files: frozenset[str]) -> Reply:
    return Reply(files, str(len(files)))


def peers(life: Sequence[Moment]) -> dict[str, Answerer]:
    everything = Reply(frozenset(moment.file for moment in life))
    return {"always empty": lambda _: Reply(), "always all": lambda _: everything}


def report(ours: Mapping[str, list[Score]], rivals: Mapping[str, list[Score]]) -> None:
    rows = {half: figures(scores) for half, scores in ours.items()}
    rows |= {f"kept: {name}": figures(scores) for name, scores in rivals.items()}
    rows |= {f"{half}: questions": sizes(scores) for half, scores in ours.items()}
    table([[name, *row.values()] for name, row in rows.items()], ["", *FIGURES])
    print()
    kinds = {half: by_kind(scores) for half, scores in ours.items()}
    cells = [
        [kind, *(kinds[half][kind][key] for half in HALVES for key in ("n", "em", "f1"))]
        for kind in KINDS
    ]
    table(cells, ["kind", *(f"{half} {key}" for half in HALVES for key in ("n", "EM", "F1"))])
    for half, scores in ours.items():
        declined = sum(bool(score.reply.declined) for score in scores)
        broke = sum(bool(score.reply.broke) for score in scores)
        print(f"{half}: {len(scores)} asked, {declined} declined with an error, {broke} broke")
    print(f"the seal of the kept half {'holds' if seal_holds() else 'IS BROKEN'}")


def list_failures(scores: Sequence[Score]) -> None:
    for score in scores:
        if score.em < 1:
            right, given = set(score.question["gold"]), score.reply.files
            print(f"{score.question['id']} {score.question['question']!r}")
            print(f"    {score.reply.broke or score.reply.declined or score.reply.text}")
            print(f"    missing {sorted(right - given)}, wrong {sorted(given - right)}")


if __name__ == "__main__":
    main()
