"""DISBench's files → questions and libraries.

``queries.jsonl``, ``metadata/USER.jsonl``, ``images/USER/PHOTO.jpg``; any metadata may be missing
or null. What is bad is named; a question whose gold cannot be there is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.dataset import Album, Dataset, can_be_asked, given_metadata, id_of
from photocraft_local.evaluation.pictures import fingerprint, joined, pictures_of
from photocraft_local.evaluation.problems import Problems, is_plain_name, rows
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.library.given import GivenMetadata

QUERIES = "queries.jsonl"
SPLITS = {"intra": "intra-event", "inter": "inter-event"}
_NAMES = {"taken_time": "time", "latitude": "latitude", "longitude": "longitude",
          "address": "address", "capturedevice": "camera"}  # fmt: skip


def load(folder: Path, *, split: str = "", strict: bool = False) -> Dataset:
    """``split``: "intra" or "inter"; by default both. Raises EvaluationError for a folder that is
    none, one without a question that can be asked, and with ``strict`` for all that is bad."""
    problems = Problems(strict)
    if not (folder / QUERIES).is_file():
        raise EvaluationError(
            f"{folder} is no DISBench folder: it holds no {QUERIES}",
            hint="name the folder that holds queries.jsonl, metadata/ and images/",
        )
    asked = list(_questions(folder, split, problems))
    users = sorted({question.library for question in asked})
    albums = {user: _album(folder, user, problems) for user in users}
    questions = [one for one in asked if can_be_asked(one, albums[one.library], problems, "user")]
    if not questions:
        raise EvaluationError(
            f"{folder / QUERIES} holds no question that can be asked: "
            + ("; ".join(map(str, problems.named[:3])) or "it has none of this split"),
            hint="check the files that are named",
        )
    marks = [fingerprint(folder, [folder / QUERIES], ())]
    mark = joined([*marks, *(album.fingerprint for album in albums.values())])
    return Dataset("disbench", folder, questions, albums, mark, problems)


def _questions(folder: Path, split: str, problems: Problems) -> Iterable[EvalQuestion]:
    seen: set[str] = set()
    for where, row in rows(folder / QUERIES, problems):
        try:
            question = _question(row)
        except (KeyError, TypeError, ValueError) as exc:
            problems.add("bad-line", where, f"no question: {exc}")
            continue
        if question.id in seen:
            problems.add("duplicate-id", where, f"query {question.id}")
            continue
        seen.add(question.id)
        if not split or question.kind == SPLITS[split]:
            yield question


def _question(row: Mapping[str, Any]) -> EvalQuestion:
    kind, text, gold = row["event_type"], row["query"], row["answer"]
    if kind not in SPLITS.values():
        raise ValueError(f"its event_type is {kind!r}")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("its query is empty")
    if not isinstance(gold, list):
        raise ValueError("its answer is no list")
    user = id_of(row["user_id"])
    if not is_plain_name(user):
        raise ValueError(f"its user_id is {user!r}")
    return EvalQuestion(id_of(row["query_id"]), user, text, frozenset(map(id_of, gold)), kind)


def _album(folder: Path, user: str, problems: Problems) -> Album:
    pictures = pictures_of(folder / "images" / user, problems)
    given: dict[bytes, GivenMetadata] = {}
    seen: set[str] = set()
    for where, row in rows(folder / "metadata" / f"{user}.jsonl", problems):
        try:
            name, facts = id_of(row["photo_id"]), row.get("metadata") or {}
            fields = {ours: facts.get(theirs) for theirs, ours in _NAMES.items()}
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            problems.add("bad-line", where, f"no photo: {exc}")
            continue
        if name in seen:
            problems.add("duplicate-id", where, f"photo {name}")
        elif name not in pictures:
            problems.add("missing-image", where, f"photo {name}")
        else:
            given[bytes(pictures[name])] = given_metadata(f"{user}/{name}", fields, problems)
        seen.add(name)
    mark = fingerprint(folder, [folder / "metadata" / f"{user}.jsonl"], pictures.values())
    return Album(user, folder / "images" / user, pictures, given, mark)
