"""A run of questions: each row is on disk when its question ends; cut, resumed or shared out among
threads, the result file is the same."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.results import RunFolder, row_of, safe_name
from photocraft_local.evaluation.runner import run

IDENTITY = {"data": "made", "backbone": "digest"}


def questions(num: int = 40) -> list[EvalQuestion]:
    return [
        EvalQuestion(
            id=f"q/{number}",
            library=f"user {number % 3}",
            text=f"question {number}",
            gold=frozenset({f"{number % 5}.jpg"} if number % 4 else ()),
            kind="intra-event" if number % 2 else "inter-event",
            gold_text="Porto" if number % 7 == 0 else "",
        )
        for number in range(num)
    ]


class Digest:
    """A backbone that answers by the digest of the question: deterministic, sometimes right."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def answer(self, question: EvalQuestion, trace: Path) -> Reply:
        time.sleep(self.seconds)
        digest = hashlib.sha256(question.text.encode()).digest()
        trace.parent.mkdir(parents=True, exist_ok=True)
        trace.write_text(json.dumps({"question": question.text}))
        fails = digest[2] % 5 == 0
        found = [f"{byte % 5}.jpg" for byte in digest[: digest[0] % 3]]
        return Reply(
            predicted=() if fails else tuple(found),
            text="Porto" if digest[1] % 2 else "",
            status="failed" if fails else "answered",
            tools={"search_photos": digest[3] % 4, "submit_answer": 1},
            turns=digest[3] % 4 + 1,
            has_trace=True,
            prompt_tokens=digest[4],
            seconds=time.monotonic(),
        )

    def close(self) -> None:
        pass


def ran(folder: Path, concurrency: int = 1) -> bytes:
    run(questions(), Digest, RunFolder.begin(folder, IDENTITY, {}), concurrency=concurrency)
    return (folder / "results.jsonl").read_bytes()


def test_one_and_eight_at_once_give_the_same_file(tmp_path: Path) -> None:
    one, eight = ran(tmp_path / "one"), ran(tmp_path / "eight", 8)
    assert one == eight
    assert one.count(b"\n") == 40
    assert sorted(json.loads(line)["question"] for line in one.splitlines()) == sorted(
        question.id for question in questions()
    )


CUT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_runs_of_questions import IDENTITY, Digest, questions
from photocraft_local.evaluation.results import RunFolder
from photocraft_local.evaluation.runner import run
folder = RunFolder.begin(Path(sys.argv[1]), IDENTITY, {})
run(questions(), lambda: Digest(0.02), folder, concurrency=int(sys.argv[3]),
    on_row=lambda row: print(row.question, flush=True))
"""


@pytest.mark.parametrize("concurrency", [1, 3])
def test_killed_half_way_and_resumed(tmp_path: Path, concurrency: int) -> None:
    folder, here = tmp_path / "cut", str(Path(__file__).parent)
    command = [sys.executable, "-c", CUT, str(folder), here, str(concurrency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        told = [process.stdout.readline().strip() for _ in range(15)]
        os.kill(process.pid, signal.SIGKILL)
    with (folder / "results.jsonl").open("ab") as file:
        file.write(b'{"question": "q/39", "libr')  # the line that a crash cuts
    kept = RunFolder.begin(folder, IDENTITY, {})
    assert set(told) <= {row.question for row in kept.rows.values()}
    assert 15 <= len(kept.rows) < 40
    asked: list[str] = []

    class Counting(Digest):
        def answer(self, question: EvalQuestion, trace: Path) -> Reply:
            asked.append(question.id)
            return super().answer(question, trace)

    run(questions(), Counting, kept)
    assert len(asked) == 40 - len(set(asked) ^ {question.id for question in questions()})
    assert not set(told) & set(asked)
    assert (folder / "results.jsonl").read_bytes() == ran(tmp_path / "whole")


def test_a_row_is_judged_and_comes_back_from_its_file(tmp_path: Path) -> None:
    rows = run(questions(), Digest, RunFolder.begin(tmp_path / "run", IDENTITY, {}))
    again = RunFolder.load(tmp_path / "run").sorted_rows()
    assert again == rows
    assert all((tmp_path / "run" / row.trace).is_file() for row in rows)
    assert all((row.text_exact is None) == (not row.gold_text) for row in rows)
    failed = [row for row in rows if row.status == "failed"]
    assert failed
    assert all(row.em == row.f1 == 0 for row in failed)


def test_an_error_is_no_empty_answer() -> None:
    question = EvalQuestion("q", "u", "anything that is not there", frozenset())
    assert row_of(question, Reply(status="answered")).em == 1
    assert row_of(question, Reply(status="failed")).em == 0
    assert row_of(question, Reply(status="declined")).f1 == 0


def test_another_run_does_not_go_on_in_this_folder(tmp_path: Path) -> None:
    RunFolder.begin(tmp_path / "run", IDENTITY, {"hardware": "one"})
    RunFolder.begin(tmp_path / "run", IDENTITY, {"hardware": "two"})
    with pytest.raises(EvaluationError, match="another backbone"):
        RunFolder.begin(tmp_path / "run", {**IDENTITY, "backbone": "else"}, {})
    (tmp_path / "holiday").mkdir()
    (tmp_path / "holiday/beach.jpg").touch()
    with pytest.raises(EvaluationError, match="not empty"):
        RunFolder.begin(tmp_path / "holiday", IDENTITY, {})
    with pytest.raises(EvaluationError, match="holds no run"):
        RunFolder.load(tmp_path / "holiday")


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    ran(tmp_path / "run")
    path = tmp_path / "run/results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"\xff\n", *lines[3:]]))
    with pytest.raises(EvaluationError, match="line 4"):
        RunFolder.load(tmp_path / "run")


def test_two_processes_in_one_folder(tmp_path: Path) -> None:
    folder = RunFolder.begin(tmp_path / "run", IDENTITY, {})
    began, may_end = threading.Event(), threading.Event()

    class Waiting(Digest):
        def answer(self, question: EvalQuestion, trace: Path) -> Reply:
            began.set()
            may_end.wait(20)
            return super().answer(question, trace)

    running = threading.Thread(target=run, args=(questions(2), Waiting, folder))
    running.start()
    began.wait(20)
    try:
        with pytest.raises(EvaluationError, match=f"process {os.getpid()} is running"):
            RunFolder.begin(tmp_path / "run", IDENTITY, {})
    finally:
        may_end.set()
        running.join()


@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_ends_a_run_is_told_and_the_rows_stay(tmp_path: Path, concurrency: int) -> None:
    class Breaking(Digest):
        def answer(self, question: EvalQuestion, trace: Path) -> Reply:
            if question.id == "q/20":
                raise EvaluationError("the server is gone")
            return super().answer(question, trace)

    folder = RunFolder.begin(tmp_path / "run", IDENTITY, {})
    with pytest.raises(EvaluationError, match="the server is gone"):
        run(questions(), Breaking, folder, concurrency=concurrency)
    assert 20 - concurrency <= len(RunFolder.load(tmp_path / "run").rows) < 40
    again = RunFolder.begin(tmp_path / "run", IDENTITY, {})
    run(questions(), Digest, again, concurrency=concurrency)
    assert (tmp_path / "run/results.jsonl").read_bytes() == ran(tmp_path / "whole")


def test_failed_rows_may_be_asked_again(tmp_path: Path) -> None:
    class Failing(Digest):
        def answer(self, question: EvalQuestion, trace: Path) -> Reply:
            return Reply(status="failed", error="no answer in time")

    run(questions(9), Failing, RunFolder.begin(tmp_path / "run", IDENTITY, {}))
    again = RunFolder.begin(tmp_path / "run", IDENTITY, {})
    rows = run(questions(9), Digest, again, again=lambda row: row.status == "failed")
    assert not any(row.error for row in rows)


def test_a_question_that_stands_twice(tmp_path: Path) -> None:
    folder = RunFolder.begin(tmp_path / "run", IDENTITY, {})
    with pytest.raises(EvaluationError, match="stands twice"):
        run([*questions(3), *questions(1)], Digest, folder)


def test_names_of_files_for_any_id() -> None:
    ids = [
        "a",
        "A b",
        "a_b",
        "a/b",
        "../..",
        "..",
        "",
        "x" * 300,
        "x" * 301,
        "\N{SNOWMAN}",
        "a~b",
        "\udcff",
        "\ud800",
    ]
    names = [safe_name(one) for one in ids]
    assert len(set(names)) == len(ids)
    assert all("/" not in name and name.strip(".") and len(name) < 120 for name in names)


def test_a_run_that_was_killed_before_its_first_file_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for name in (".lock", ".run.json.part"):
        (tmp_path / "run" / name).write_text("{")
    assert RunFolder.begin(tmp_path / "run", IDENTITY, {}).rows == {}
    assert not (tmp_path / "run/.run.json.part").exists()


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("timings.jsonl", {"library": None}),
        ("timings.jsonl", {"library": ["u"]}),
        ("timings.jsonl", {"seconds": "1"}),
        ("results.jsonl", {"question": None}),
        ("results.jsonl", {"turns": "3"}),
        ("results.jsonl", {"em": "right"}),
        ("results.jsonl", {"tools": ["look"]}),
        ("results.jsonl", {"tools": {"look": "1"}}),
        ("results.jsonl", {"gold": [3]}),
        ("results.jsonl", {"runs": [[{}]]}),
        ("results.jsonl", {"text": None}),
        ("results.jsonl", {"status": "done"}),
        ("results.jsonl", {"more": 1}),
    ],
)
def test_a_row_of_another_form_is_named(
    tmp_path: Path, file: str, change: dict[str, object]
) -> None:
    """A run may come by mail: what is no row is refused, before a report trips over it."""
    folder = RunFolder.begin(tmp_path / "run", IDENTITY, {})
    run(questions(2), Digest, folder)
    path = tmp_path / "run" / file
    first, second = path.read_text().splitlines()
    row = {name: value for name, value in (json.loads(first) | change).items() if value is not None
           or name == "text"}  # fmt: skip
    path.write_text(f"{json.dumps(row)}\n{second}\n")
    with pytest.raises(EvaluationError, match=r"\.jsonl is damaged"):
        RunFolder.load(tmp_path / "run")
