"""Questions with answers in words: from a person's table, or made from a table of the truth.

What is made follows the truth alone, never what this package reads. The wordings stand in
``text_questions.tsv``. Knows no answerer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from photocraft_local.evaluation.metadata_truth import Truth
from photocraft_local.evaluation.pictures import plain_name
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.evaluation.tables import place_of, read_table

LIBRARY = "files"
_KIND = "metadata"
_NONE = "none"  # in place of photos


def read_questions(
    table: Path, problems: Problems, known: Collection[str] | None = None
) -> list[EvalQuestion]:
    """Columns ``question,answer`` (several right ones joined by |), and if wanted ``id``, ``kind``
    and ``photos`` (joined by |; without that column, or with an empty cell, no set is judged;
    ``none``: no photo is right). ``known``: the photos that an answer may name; None: any.
    Raises EvaluationError; a row that cannot be used goes to ``problems``."""
    found: dict[str, EvalQuestion] = {}
    for row in read_table(table, {"question", "answer"}, problems):
        name = row.get("id") or f"{int(row['']):04d}"
        if name in found or not row["question"] or not row["answer"]:
            kind = "duplicate-id" if name in found else "bad-line"
            what = "stands twice" if name in found else "lacks its question or its answer"
            problems.add(kind, place_of(table, row), f"{name!r} {what}")
            continue
        named = row.get("photos", "")
        photos = frozenset(map(plain_name, filter(None, map(str.strip, named.split("|")))))
        photos = frozenset() if named == _NONE else photos
        if known is not None and (unknown := sorted(photos - set(known))):
            what = f"{name!r} wants a photo that is not there: {', '.join(unknown)}"
            problems.add("unknown-answer", place_of(table, row), what)
            continue
        kind = row.get("kind") or _KIND
        found[name] = EvalQuestion(
            name,
            LIBRARY,
            row["question"],
            photos,
            kind,
            gold_text=row["answer"],
            has_gold=bool(named),
        )
    return list(found.values())


def made_questions(truth: Mapping[str, Truth]) -> list[EvalQuestion]:
    """Of files whose time the table states, or states that there is none (``usable``)."""
    kinds = _wordings()
    made = []
    for kind, values, gold, answer in _facts(truth):
        for language, words in kinds[kind]:
            text = words.format(**values)
            name = f"{kind}-{'-'.join(values.values())}-{language}"
            made.append(
                EvalQuestion(name, LIBRARY, text, gold, kind, groups=(language,), gold_text=answer)
            )
    return made


def usable(truth: Mapping[str, Truth]) -> dict[str, Truth]:
    """A tag that is absent does not say that no other source knows the time: such a file would
    make a count ambiguous."""
    return {
        name: told
        for name, told in truth.items()
        if told["outcome"] == "index" and told.get("time", "") != ""
    }


Fact = tuple[str, dict[str, str], frozenset[str], str]  # kind, what fills the words, gold, answer


def _facts(truth: Mapping[str, Truth]) -> Iterator[Fact]:
    times = {name: told["time"] for name, told in truth.items() if told.get("time")}
    years: dict[str, list[str]] = defaultdict(list)
    for name, time in sorted(times.items(), key=lambda item: (item[1] or "", item[0])):
        years[str(time)[:4]].append(name)
    models = {name: _model(told) for name, told in truth.items()}
    owners = Counter(model for model in models.values() if model)
    for year, names in sorted(years.items()):
        about = {"year": year}
        days = {str(times[name])[:10] for name in names}
        yield "photos-of-year", about, frozenset(names), str(len(names))
        yield "days-of-year", about, frozenset(names), str(len(days))
        for kind, name in (("first-day", names[0]), ("last-day", names[-1])):
            if list(times.values()).count(times[name]) == 1:
                yield kind, about, frozenset({name}), str(times[name])[:10]
        if models[names[-1]]:
            yield "camera-of-last", about, frozenset({names[-1]}), _camera(truth[names[-1]])
    for model, number in sorted(owners.items()):
        mine = frozenset(name for name, its in models.items() if its == model)
        yield "photos-of-camera", {"camera": model}, mine, str(number)
        (first, *others) = sorted(mine)
        if not others and times.get(first):
            yield "day-of-camera", {"camera": model}, mine, str(times[first])[:10]


def _model(told: Truth) -> str:
    return (told.get("camera") or "").rpartition("|")[2]


def _camera(told: Truth) -> str:
    """Its model, or its maker and model, where the model does not begin with the maker's name."""
    maker, _, model = (told.get("camera") or "").rpartition("|")
    first = maker.split()[:1]
    repeats = first == model.split()[:1] or not first
    return model if repeats else "|".join((model, f"{maker} {model}"))


@cache
def _wordings() -> dict[str, list[tuple[str, str]]]:
    """Kind → (language, words)."""
    table = files("photocraft_local.evaluation").joinpath("text_questions.tsv").read_text("utf-8")
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in table.splitlines():
        if not line.startswith("#"):
            kind, language, words = line.split("\t")
            found[kind].append((language, words))
    return found
