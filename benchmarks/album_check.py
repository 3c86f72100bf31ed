"""Recomputes the right files of every album question from its rule, and counts the questions.

Run as ``python benchmarks/album_check.py``; it ends with 1 if a stored answer is not what the
table of the life and the labels say, or if the kept half is not the one that was sealed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _common import SHARED, table
from album.gold import gold
from album.life import Moment, load

ALBUM = Path(__file__).with_name("album")
CAPTIONED = SHARED / "data" / "captioned"
HALVES = ("tuning", "kept")
Question = dict[str, Any]


def questions(half: str) -> list[Question]:
    """The questions of one half, in the file's order."""
    lines = (ALBUM / f"questions_{half}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def seal_holds() -> bool:
    """Whether the kept half is, byte for byte, the one whose hash is stored."""
    digest = hashlib.sha256((ALBUM / "questions_kept.jsonl").read_bytes()).hexdigest()
    return (ALBUM / "kept.sha256").read_text("ascii").split()[0] == digest


def wrong(asked: Sequence[Question], life: Sequence[Moment]) -> list[str]:
    """The ids of the questions whose stored files are not those of their rule."""
    return [
        question["id"]
        for question in asked
        if gold(question["gold_rule"], life) != question["gold"]
    ]


def groups(question: Question) -> set[str]:
    """The figures that a question counts for: those of the README of the album."""
    names = {question["kind"]}
    if question["expects"] != "abstain":
        names |= {"easy_looks"} if question["look"] == "easy" else set()
        names |= {"metadata_only"} if question["look"] == "none" else set()
    return names


def main() -> int:
    life = load(CAPTIONED)
    faults: list[str] = []
    counts: dict[str, Counter[str]] = {}
    for half in HALVES:
        asked = questions(half)
        faults += wrong(asked, life)
        counts[half] = Counter(name for question in asked for name in groups(question))
        counts[half]["all"] = len(asked)
    names = sorted(counts["kept"] | counts["tuning"])
    table([[name, *(counts[half][name] for half in HALVES)] for name in names], ["group", *HALVES])
    print(f"{len(life)} photos; seal {'holds' if seal_holds() else 'BROKEN'}; wrong: {faults}")
    return 0 if seal_holds() and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
