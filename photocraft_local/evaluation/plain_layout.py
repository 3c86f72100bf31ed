"""The plainest data set: ``questions.jsonl`` beside a folder ``photos`` that says the rest itself.

As ``photocraft eval histories`` writes it, and easily made by hand. Time, place and camera are
those that the files state; ``person.json`` has what only the person can say. Knows no run.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from photocraft_local.errors import EvaluationError, PhotoError
from photocraft_local.evaluation.dataset import Album, Dataset
from photocraft_local.evaluation.person import FILE, read_person
from photocraft_local.evaluation.pictures import ENDINGS, fingerprint, is_usable, joined, real
from photocraft_local.evaluation.problems import Problems, rows
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.files.metadata import read_metadata
from photocraft_local.library.given import GivenMetadata

QUESTIONS, PHOTOS = "questions.jsonl", "photos"
_LIBRARY = "all"


def load(folder: Path, *, strict: bool = False) -> Dataset:
    """Raises EvaluationError for a folder of another layout, one without a question that can be
    asked, and with ``strict`` for all that is bad."""
    problems, folder = Problems(strict), real(folder)
    pictures = _pictures(folder / PHOTOS, problems)
    questions = list(read_questions(folder / QUESTIONS, pictures, problems, _LIBRARY))
    person = read_person(folder, problems)
    if not questions:
        named = "; ".join(map(str, problems.named[:3]))
        raise EvaluationError(
            f"{folder} holds no question that can be asked: {named or QUESTIONS + ' is empty'}",
            hint=f"it needs {QUESTIONS} and the folder {PHOTOS}; see docs/evaluation.md",
        )
    given = {bytes(path): _stated(path) for path in pictures.values()}
    told = [folder / QUESTIONS, folder / FILE]
    mark = joined([fingerprint(folder, told, pictures.values())])
    album = Album(_LIBRARY, folder / PHOTOS, pictures, given, mark, person.today, person.places)
    return Dataset(folder.name, folder, questions, {_LIBRARY: album}, mark, problems)


def _pictures(folder: Path, problems: Problems) -> dict[str, Path]:
    """By the path below ``folder``, with slashes; empty files are named."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file():
            name = path.relative_to(folder).as_posix()
            if is_usable(folder, name, problems, where=name):
                found[name] = path
    return found


def read_questions(
    path: Path, known: Collection[str], problems: Problems, library: str
) -> Iterator[EvalQuestion]:
    """``known``: the photos that an answer may name."""
    seen: set[str] = set()
    for where, row in rows(path, problems):
        try:
            question = _question(row, library)
        except (KeyError, TypeError, ValueError) as exc:
            lacks = f"it lacks {exc}" if isinstance(exc, KeyError) else exc
            problems.add("bad-line", where, f"no question: {lacks}")
            continue
        if question.id in seen:
            problems.add("duplicate-id", where, f"question {question.id}")
        elif unknown := sorted(question.gold - set(known)):
            problems.add("unknown-answer", where, f"photo {', '.join(unknown)}")
        else:
            yield question
        seen.add(question.id)


def _question(row: Mapping[str, Any], library: str) -> EvalQuestion:
    """``gold`` may be null, or not there, where ``gold_text`` is the whole of what is known."""
    has_gold = not (row.get("gold") is None and row.get("gold_text"))
    gold, groups = row["gold"] if has_gold else [], row.get("groups", [])
    texts = [row["id"], row["question"], row.get("kind", ""), row.get("gold_text", "")]
    if not isinstance(gold, list) or not isinstance(groups, list):
        raise ValueError("its gold or its groups are no list")
    if not all(isinstance(text, str) for text in [*texts, *gold, *groups]):
        raise ValueError("one of its texts is none")
    if not row["id"] or not row["question"].strip():
        raise ValueError("its id or its question is empty")
    name, words, kind, gold_text = texts
    hops = row.get("hops", 0)
    return EvalQuestion(
        id=name,
        library=library,
        text=words,
        gold=frozenset(gold),
        kind=kind,
        hops=hops if isinstance(hops, int) else 0,
        groups=tuple(groups),
        gold_text=gold_text,
        has_gold=has_gold,
    )


def _stated(path: Path) -> GivenMetadata:
    try:
        found = read_metadata(os.fsencode(path))
    except PhotoError:  # indexing names it
        return GivenMetadata()
    return GivenMetadata(found.taken, found.location, "", found.camera)
