"""Puts questions to answerers, several at once if wanted, and keeps each row as its question ends.

What was answered before is not asked again. Knows no data set and no way to search.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import closing

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.questions import Answerer, EvalQuestion
from photocraft_local.evaluation.results import ResultRow, RunFolder, row_of

Listener = Callable[[ResultRow], None]


def run(
    questions: Iterable[EvalQuestion],
    make: Callable[[], Answerer],
    folder: RunFolder,
    *,
    concurrency: int = 1,
    on_row: Listener | None = None,
    again: Callable[[ResultRow], bool] = lambda row: False,
    cancel: Callable[[], None] = lambda: None,
) -> list[ResultRow]:
    """All rows, those of an earlier run of ``folder`` included, by library and id. ``make`` gives
    each thread its answerer; ``again`` says which earlier rows are asked anew, e.g. failed ones;
    after Ctrl-C ``cancel`` tells threads that wait for a model.

    Raises EvaluationError for a question that stands twice, and what an answerer raises; the rows
    so far are kept then, and after Ctrl-C."""
    asked = _distinct(questions)
    open_ones = [
        question
        for question in asked
        if question.key not in folder.rows or again(folder.rows[question.key])
    ]
    with folder.held():
        _Crew(open_ones, make, folder, on_row or (lambda row: None), cancel).work(concurrency)
        folder.finish({"questions": len(asked)})
    return folder.sorted_rows()


class _Crew:
    def __init__(
        self,
        questions: list[EvalQuestion],
        make: Callable[[], Answerer],
        folder: RunFolder,
        on_row: Listener,
        cancel: Callable[[], None],
    ) -> None:
        self._open: queue.SimpleQueue[EvalQuestion] = queue.SimpleQueue()
        for question in questions:
            self._open.put(question)
        self._make, self._folder, self._on_row, self._cancel = make, folder, on_row, cancel
        self._errors: list[BaseException] = []
        self._stop = threading.Event()
        self._telling = threading.Lock()

    def work(self, concurrency: int) -> None:
        workers = min(concurrency, self._open.qsize())
        if workers <= 1:
            self._loop()
        else:
            self._together([threading.Thread(target=self._loop) for _ in range(workers)])
        if self._errors:
            raise self._errors[0]

    def _together(self, threads: list[threading.Thread]) -> None:
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:  # Ctrl-C: each thread ends with its question
            self._stop.set()
            self._cancel()
            raise
        finally:
            for thread in threads:
                thread.join()

    def _loop(self) -> None:
        try:
            if not self._open.empty():
                with closing(self._make()) as answerer:
                    while not self._stop.is_set():
                        self._one(answerer, self._open.get_nowait())
        except queue.Empty:
            return
        except BaseException as error:  # noqa: BLE001 – raised where the run was asked for
            self._errors.append(error)
            self._stop.set()

    def _one(self, answerer: Answerer, question: EvalQuestion) -> None:
        path = self._folder.trace_path(question)
        reply = answerer.answer(question, path)
        trace = path.relative_to(self._folder.path).as_posix() if reply.has_trace else ""
        row = row_of(question, reply, trace)
        self._folder.add(row)
        with self._telling:
            self._on_row(row)


def _distinct(questions: Iterable[EvalQuestion]) -> list[EvalQuestion]:
    seen: dict[tuple[str, str], EvalQuestion] = {}
    for question in questions:
        if question.key in seen:
            raise EvaluationError(
                f"question {question.id!r} of {question.library!r} stands twice",
                hint="give each question of a library an id of its own",
            )
        seen[question.key] = question
    return list(seen.values())
