"""The folder of a run: its configuration, one row a question, trajectories; resumable.

A row is on disk when its question ends. What differs from run to run (seconds, tokens) stands in
``timings.jsonl``, so that ``results.jsonl`` is the same however the run was cut or shared out.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any

from photocraft_local.errors import EvaluationError, LibraryLocked
from photocraft_local.evaluation import metrics
from photocraft_local.evaluation.questions import STATUSES, EvalQuestion, Reply, Status
from photocraft_local.records import Json
from photocraft_local.storage import atomic
from photocraft_local.storage.faults import mapped
from photocraft_local.storage.lock import WriteLock

SCHEMA, VERSION = "photocraft-evaluation", 1
_TIMED = ("prompt_tokens", "cached_tokens", "generated_tokens", "seconds")
_TUPLES = ("predicted", "gold", "groups")
# What a field's annotation lets JSON hold.
_TYPES: dict[str, Any] = {"str": str, "bool": bool, "int": int, "float": int | float,
          "float | None": int | float | None, "Mapping[str, int]": dict}  # fmt: skip
_DONE, _HEAD = "results.jsonl", "run.json"
_TIMINGS, _LOCK = "timings.jsonl", ".lock"
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One question's result; see ``Reply`` and ``EvalQuestion`` for the fields of theirs. ``em``
    and ``f1`` are of the set, and mean nothing where it has no gold; the text's are of ``value``,
    or of ``text`` without one (``text_contained`` always), None for a question without
    ``gold_text``. ``trace`` is relative to the run's folder, empty if none was written."""

    question: str  # its id
    library: str
    predicted: tuple[str, ...]
    gold: tuple[str, ...]
    kind: str
    hops: int
    groups: tuple[str, ...]
    em: float
    f1: float
    asked: str = ""  # the question's words
    text: str = ""
    gold_text: str = ""
    text_exact: float | None = None
    text_normalised: float | None = None
    text_contained: float | None = None
    reason: str = ""
    status: Status = "answered"
    error: str = ""
    turns: int = 0
    finished_by_itself: bool = True
    tools: Mapping[str, int] = field(default_factory=dict)
    runs: tuple[tuple[str, ...], ...] = ()
    trace: str = ""
    failure_class: str = ""
    has_gold: bool = True
    value: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        return self.library, self.question

    @property
    def right(self) -> float:
        """The exact set or, where none is known, the right words: 0 or 1."""
        return self.em if self.has_gold else self.text_normalised or 0.0

    def to_json(self) -> dict[str, Json]:
        """All of it but what ``timing`` has."""
        told = asdict(self)
        return {name: value for name, value in told.items() if name not in _TIMED}

    def timing(self) -> dict[str, Json]:
        return {name: getattr(self, name) for name in ("question", "library", *_TIMED)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ResultRow:
        """Raises TypeError, ValueError or KeyError for anything that ``to_json`` never wrote."""
        given = {name: tuple(data[name]) for name in _TUPLES}
        row = cls(**{**data, **given, "runs": tuple(map(tuple, data["runs"]))})
        if row.status not in STATUSES:
            raise ValueError(f"a status {row.status!r}")
        _check(row)
        return row


def _check(row: ResultRow) -> None:
    for one in fields(row):
        if not isinstance(getattr(row, one.name), _TYPES.get(str(one.type), object)):
            raise TypeError(f"{one.name} is no {one.type}")
    names = (*row.predicted, *row.gold, *row.groups, *row.tools, *chain.from_iterable(row.runs))
    if not all(isinstance(name, str) for name in names):
        raise TypeError("a name is no text")
    if not all(isinstance(number, int) for number in row.tools.values()):
        raise TypeError("a number of calls is none")


def row_of(question: EvalQuestion, reply: Reply, trace: str = "") -> ResultRow:
    """The reply, judged."""
    gold, wanted = tuple(sorted(question.gold)), question.gold_text
    counts = reply.status == "answered"  # an error must not pass for an empty answer
    counts = question.has_gold and (counts or bool(reply.predicted))
    said = reply.value or reply.text
    return ResultRow(
        question=question.id,
        library=question.library,
        predicted=reply.predicted,
        gold=gold,
        kind=question.kind,
        hops=question.hops,
        groups=question.groups,
        em=metrics.exact_match(reply.predicted, gold) if counts else 0.0,
        f1=metrics.f1(reply.predicted, gold) if counts else 0.0,
        asked=question.text,
        text=reply.text,
        gold_text=wanted,
        text_exact=_best(metrics.text_exact, said, wanted),
        text_normalised=_best(metrics.text_normalised, said, wanted),
        text_contained=_best(metrics.text_contained, reply.text, wanted),
        reason=reply.reason,
        status=reply.status,
        error=reply.error,
        turns=reply.turns,
        finished_by_itself=reply.finished_by_itself,
        tools=dict(sorted(reply.tools.items())),
        runs=reply.runs,
        trace=trace,
        failure_class=reply.failure_class,
        has_gold=question.has_gold,
        value=reply.value,
        **{name: getattr(reply, name) for name in _TIMED},
    )


def _best(rule: Callable[[str, str], float], said: str, wanted: str) -> float | None:
    """By the right answer that it meets best."""
    return max(rule(said, one) for one in wanted.split("|")) if wanted else None


class RunFolder:
    """Where a run is kept. Safe to be added to by several threads of one process; a second process
    is refused while the first one runs."""

    def __init__(self, path: Path, head: dict[str, Json], rows: Iterable[ResultRow] = ()) -> None:
        self.path, self.head = path, head
        self.rows: dict[tuple[str, str], ResultRow] = {row.key: row for row in rows}
        self._lock = threading.Lock()
        self._one_process = WriteLock(path / _LOCK)
        self._sizes: dict[str, int] = {}

    @classmethod
    def begin(
        cls, path: Path, identity: Mapping[str, Json], about: Mapping[str, Json]
    ) -> RunFolder:
        """A new run, or the rows so far of one that was cut. ``identity`` is what makes two runs
        the same (data, settings, backbone); ``about`` may differ (versions, hardware, what was
        skipped). Raises EvaluationError if the folder holds another run or anything else."""
        with mapped(path):
            is_ours = not path.exists() or (path / _HEAD).exists()
            if not is_ours and {entry.name for entry in path.iterdir()} - _begun(path):
                raise EvaluationError(
                    f"the folder {path} is not empty and holds no run",
                    hint="name an empty or a new folder: --out FOLDER",
                )
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        same = json.loads(_text(identity))
        folder = cls(path, {"schema": SCHEMA, "version": VERSION, "identity": same})
        with folder.held():
            if (path / _HEAD).exists():
                folder.rows = {row.key: row for row in _again(path, same)}
            folder.head["about"] = json.loads(_text(about))
            folder._write_head()
            folder._write_whole()  # cut lines, and lines without their other half, are gone
        return folder

    @classmethod
    def load(cls, path: Path) -> RunFolder:
        """Of a run that ended or was cut, to be read. Raises EvaluationError."""
        head = _head(path)
        return cls(path, head, _rows(path))

    @contextmanager
    def held(self) -> Iterator[None]:
        """While rows are added. Raises EvaluationError if another process adds to it."""
        try:
            with self._one_process.hold(0):
                yield
        except LibraryLocked as exc:
            pid = self._one_process.holder().get("pid", "unknown")
            raise EvaluationError(
                f"process {pid} is running in the folder {self.path}",
                hint="let it end, or name another folder with --out",
            ) from exc

    def trace_path(self, question: EvalQuestion) -> Path:
        """Named by the question, so that it is the same in each run."""
        return self.path / "traces" / safe_name(question.library) / f"{safe_name(question.id)}.json"

    def add(self, row: ResultRow) -> None:
        """On disk when it returns: the timing first, since a row without one would be lost."""
        with self._lock:
            self._append(_TIMINGS, row.timing())
            self._append(_DONE, row.to_json())
            self.rows[row.key] = row

    def finish(self, counts: Mapping[str, Json]) -> None:
        """Sorts the files; ``counts`` go into run.json."""
        with self._lock:
            self._write_whole()
            self.head["counts"] = json.loads(_text(counts))
            self._write_head()

    def sorted_rows(self) -> list[ResultRow]:
        return [self.rows[key] for key in sorted(self.rows)]

    def _append(self, name: str, data: Mapping[str, Json]) -> None:
        line = _bytes(_text(data) + "\n")
        with mapped(self.path):
            atomic.replace_tail(self.path / name, self._sizes[name], line)
        self._sizes[name] += len(line)

    def _write_head(self) -> None:
        text = _text(self.head, indent=1) + "\n"
        with mapped(self.path):
            atomic.write_atomically(self.path / _HEAD, _bytes(text))

    def _write_whole(self) -> None:
        rows = self.sorted_rows()
        texts = {
            _DONE: [_text(row.to_json()) for row in rows],
            _TIMINGS: [_text(row.timing()) for row in rows],
        }
        for name, lines in texts.items():
            content = _bytes("".join(line + "\n" for line in lines))
            with mapped(self.path):
                atomic.write_atomically(self.path / name, content)
            self._sizes[name] = len(content)


def _begun(path: Path) -> set[str]:
    """All that a crash before the first ``run.json`` leaves."""
    return {_LOCK, atomic.part_of(path / _HEAD).name}


def safe_name(text: str) -> str:
    """A file name for an id of a data set, which may hold anything: two ids never share one."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", text)[:_LONGEST_NAME]
    if plain == text and plain.strip("."):
        return plain
    mark = hashlib.sha256(_bytes(text)).hexdigest()[:10]
    return f"{plain.strip('.')}~{mark}"


def _again(path: Path, identity: dict[str, Json]) -> list[ResultRow]:
    before: dict[str, Json] = _head(path)["identity"]
    names = sorted({*before, *identity})
    if differs := [name for name in names if before.get(name) != identity.get(name)]:
        raise EvaluationError(
            f"the folder {path} holds a run with another {', '.join(differs)}",
            hint="name another folder with --out, or run it as it was begun",
        )
    return _rows(path)


def _head(path: Path) -> dict[str, Json]:
    try:
        head: dict[str, Json] = json.loads((path / _HEAD).read_bytes())
        if head["schema"] != SCHEMA or head["version"] > VERSION:
            raise ValueError(f"it is {head['schema']!r}, version {head['version']}")
        head["identity"].items()
    except FileNotFoundError as exc:
        raise EvaluationError(
            f"the folder {path} holds no run: no {_HEAD}",
            hint="name the folder that --out named",
        ) from exc
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise EvaluationError(
            f"{path / _HEAD} cannot be read: {exc}",
            hint="it is damaged or of a newer version; name another folder with --out",
        ) from exc
    return head


def _rows(path: Path) -> list[ResultRow]:
    """Those with both halves; the last line of a file may be cut, no other."""
    file = path / _TIMINGS
    try:
        timings = {_key(timing): timing for timing in _lines(file)}
        file, rows = path / _DONE, {}
        for data in _lines(file):
            if timing := timings.get(_key(data)):
                timed = {name: timing[name] for name in _TIMED}
                rows[_key(data)] = ResultRow.from_json({**data, **timed})
    except (TypeError, ValueError, KeyError) as exc:
        raise _damaged(file, f"no row of a run: {exc}") from exc
    return list(rows.values())


def _key(line: Mapping[str, Any]) -> tuple[Any, Any]:
    return line["library"], line["question"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        raw = path.read_bytes() if path.exists() else b""
    except OSError as exc:
        raise _damaged(path, str(exc)) from exc
    *whole, _cut = raw.split(b"\n")
    for number, line in enumerate(whole, start=1):
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise _damaged(path, f"line {number}: {exc}") from exc
        if not isinstance(data, dict):
            raise _damaged(path, f"line {number} is no object")
        yield data


def _damaged(path: Path, why: str) -> EvaluationError:
    return EvaluationError(
        f"{path} is damaged: {why}", hint="remove the run's folder and run it again"
    )


def _text(data: Mapping[str, Json], *, indent: int | None = None) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, indent=indent)


def _bytes(text: str) -> bytes:
    """A name or a data set's "\\ud800" may be no text; ``json.loads`` takes it back from these."""
    return text.encode("utf-8", "surrogatepass")
