"""PhotoBench's files → questions and libraries, in the forms in which they were published.

Query files hold a list of ``Query, Query_id, Album_id, Source_type, Reasoning_type, GroundTruth``;
an album's folder its pictures and ``metadata.json`` (file name → ``time``, ``location``). Who is
on a picture (``face_info``) reaches no tool, and what that leaves out is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.dataset import Album, Dataset, can_be_asked, given_metadata, id_of
from photocraft_local.evaluation.photobench.faces import read_people
from photocraft_local.evaluation.pictures import fingerprint, joined, pictures_of
from photocraft_local.evaluation.problems import Problems, document, is_plain_name
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.library.given import GivenMetadata

NO_ANSWER = "no answer"  # the group of questions that no photo answers
UNREAD_PHOTOS = "photos with named people: who is on them reaches no tool"
UNREAD_QUESTIONS = "questions with faces as a source, asked without who is on a photo"
LANGUAGES = ("en", "cn")
_QUERIES = ("train.json", "test.json", "samples.json", "query.json", "queries.json")
_ROOTS = ("", "dataset", "albums")
_PICTURES = ("images", "", "photos")
_METADATA = ("metadata.json", "metadata/metadata.json", "images/metadata.json",
             "images/metadata/metadata.json")  # fmt: skip


def load(
    folder: Path, *, language: str = "en", queries: Path | None = None, strict: bool = False
) -> Dataset:
    """``queries``: one file instead of all that are found. Raises EvaluationError for a folder
    without a question that can be asked, and with ``strict`` for all that is bad."""
    problems = Problems(strict)
    files = [queries] if queries else _query_files(folder)
    if not files:
        raise EvaluationError(
            f"{folder} is no PhotoBench folder: it holds none of {', '.join(_QUERIES)}",
            hint="name the folder that holds them, or the file with --queries",
        )
    asked = list(_questions(files, language, problems))
    names = sorted({question.library for question in asked})
    albums = {name: _album(folder, name, language, problems) for name in names}
    questions = [one for one in asked if can_be_asked(one, albums[one.library], problems, "album")]
    if not questions:
        told = "; ".join(map(str, problems.named[:3])) or "they are empty"
        raise EvaluationError(
            f"no question in {', '.join(file.name for file in files)} can be asked: {told}",
            hint="check the files that are named",
        )
    if num := sum("F" in one.kind.upper() for one in questions):
        problems.left_out[UNREAD_QUESTIONS] += num
    marks = [fingerprint(file.parent, [file], ()) for file in files]
    mark = joined([language, *marks, *(album.fingerprint for album in albums.values())])
    return Dataset("photobench", folder, questions, albums, mark, problems)


def _query_files(folder: Path) -> list[Path]:
    found = [folder / root / name for root in _ROOTS for name in _QUERIES]
    return [path for path in found if path.is_file()]


def _questions(files: Sequence[Path], language: str, problems: Problems) -> Iterator[EvalQuestion]:
    seen: set[tuple[str, str]] = set()
    for file in files:
        rows = document(file, problems)
        if rows is not None and not isinstance(rows, list):
            problems.add("bad-line", file.name, "no list of questions")
            continue
        for number, row in enumerate(rows or (), start=1):
            where = f"{file.name} item {number}"
            try:
                question = _question({str(key).lower(): row[key] for key in row}, language)
            except (KeyError, TypeError, ValueError) as exc:
                problems.add("bad-line", where, f"no question: {exc}")
                continue
            if question is None:
                problems.left_out["no published answer"] += 1
            elif question.key in seen:
                problems.add("duplicate-id", where, f"query {question.id}")
            else:
                seen.add(question.key)
                yield question


def _question(row: Mapping[str, Any], language: str) -> EvalQuestion | None:
    """None where the answer is not published, which is no fault."""
    text = row.get(f"query_{language}") or row["query"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError("its query is empty")
    album = id_of(row["album_id"])
    if not is_plain_name(album):
        raise ValueError(f"its album_id is {album!r}")
    name, gold = id_of(row["query_id"]), row.get("groundtruth")
    if gold is None:
        return None
    if not isinstance(gold, list):
        raise ValueError("its GroundTruth is no list")
    source = row.get("source_type") or row.get("source") or ""
    reasoning = row.get("reasoning_type") or ()
    groups = [reasoning] if isinstance(reasoning, str) else list(reasoning)
    return EvalQuestion(
        name,
        album,
        text,
        frozenset(map(id_of, gold)),
        str(source),
        groups=(*map(str, groups), *([] if gold else [NO_ANSWER])),
    )


def _album(folder: Path, name: str, language: str, problems: Problems) -> Album:
    roots = [folder / root / name for root in _ROOTS]
    home = next((root for root in roots if root.is_dir()), roots[0])
    pictures: dict[str, Path] = {}
    place = home
    for part in _PICTURES:
        if pictures := pictures_of(home / part, problems, keep_ending=True):
            place = home / part
            break
    table = next(
        (home / part for part in _METADATA if (home / part).is_file()), home / _METADATA[0]
    )
    rows = document(table, problems)
    given: dict[bytes, GivenMetadata] = {}
    if rows is not None and not isinstance(rows, dict):
        problems.add("bad-line", f"{name}/{table.name}", "no object of file names")
        rows = None
    for file, facts in (rows or {}).items():
        where = f"{name}/{file}"
        if not isinstance(facts, dict):
            problems.add("bad-line", where)
        elif file not in pictures:
            problems.add("missing-image", where)
        else:
            given[bytes(pictures[file])] = given_metadata(where, _fields(facts), problems)
    if people := read_people(home, language, pictures, problems).on:
        problems.left_out[UNREAD_PHOTOS] += len(people)
    return Album(name, place, pictures, given, fingerprint(home, [table], pictures.values()))


def _fields(facts: Mapping[str, Any]) -> dict[str, Any]:
    """``location`` was published as an address, as a pair of degrees, and as two fields."""
    fields = {name: facts.get(name) for name in ("time", "latitude", "longitude", "address")}
    place = facts.get("location")
    if isinstance(place, str):
        fields["address"] = place
    elif isinstance(place, dict):
        fields |= {name: value for name, value in place.items() if name in fields}
    elif isinstance(place, list) and len(place) == 2:
        fields["latitude"], fields["longitude"] = place
    return fields
