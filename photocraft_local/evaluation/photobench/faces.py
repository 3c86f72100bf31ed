"""Who is on a picture, as PhotoBench's ``face_info`` says it: read, checked and counted.

Nothing in this package takes people as facts, so what is read here reaches no tool; it is counted,
that a run can say what its answers did without. Knows no question.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from photocraft_local.evaluation.problems import Problems, document

NICKNAMES, FACES = "face_id_to_nicknames", "image_to_face_ids"
_ROOTS = ("", "metadata", "images")


@dataclass(frozen=True, slots=True)
class People:
    """``on``: picture → the names of those who are on it; faces without a name are in none."""

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by face
    on: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_people(home: Path, language: str, pictures: Collection[str], problems: Problems) -> People:
    """Of an album's folder; nobody where it has no such file, which is no fault. Raises
    EvaluationError only where ``problems`` are strict."""
    path = _file(home, language)
    if path is None:
        return People()
    content = document(path, problems)
    if content is None:
        return People()
    where = f"{home.name}/{path.name}"
    if not isinstance(content, dict):
        problems.add("bad-line", where, "no object of people")
        return People()
    names = {
        face: tuple(told)
        for face, told in _lists(content, NICKNAMES, where, problems).items()
        if told
    }
    on: dict[str, frozenset[str]] = {}
    for picture, faces in _lists(content, FACES, where, problems).items():
        if picture not in pictures:
            problems.add("missing-image", where, f"people on {picture}")
            continue
        if known := frozenset(name for face in faces for name in names.get(face, ())):
            on[picture] = known
    return People(names, on)


def _file(home: Path, language: str) -> Path | None:
    files = [home / root / f"face_info{end}" for root in _ROOTS for end in _ends(language)]
    return next((path for path in files if path.exists()), None)


def _ends(language: str) -> tuple[str, ...]:
    return (f"_{language}.json", ".json")


def _lists(
    content: Mapping[str, Any], name: str, where: str, problems: Problems
) -> dict[str, list[str]]:
    """Of an object whose values are lists of texts or numbers, or one of them."""
    rows = content.get(name)
    if not isinstance(rows, dict):
        problems.add("bad-line", where, f"no object {name}")
        return {}
    told: dict[str, list[str]] = {}
    for key, value in rows.items():
        values = value if isinstance(value, list) else [value]
        if all(isinstance(one, str | int) and not isinstance(one, bool) for one in values):
            told[key] = [str(one) for one in values if one != ""]
        else:
            problems.add("bad-value", where, f"{name} of {key} is {value!r}")
    return told
