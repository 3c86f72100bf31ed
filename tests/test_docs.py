"""The pages are true: what they quote parses and runs, what they point to is there."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.agent.pictures import Picture
from photocraft_local.agent.planner.script import Reader, from_text
from photocraft_local.agent.planner.understand import understand
from photocraft_local.app import (
    AnsweredPhoto,
    AskAnswer,
    AskedPlan,
    AskedRun,
    FoundPhoto,
    IndexSummary,
    LibraryStatus,
    PhotoDetails,
    SearchAnswer,
)
from photocraft_local.app.bench.figures import Figure
from photocraft_local.app.bench.running import Machine
from photocraft_local.app.findings import Finding
from photocraft_local.app.knowledge import KnowledgeReport, KnowledgeSource
from photocraft_local.app.model_server import Serving
from photocraft_local.app.weights import Fault, Verification, rows
from photocraft_local.cli import answers
from photocraft_local.cli.commands import (
    bench,
    doctor,
    index,
    knowledge,
    search,
    serve_model,
    status,
    weights,
)
from photocraft_local.cli.parser import COMMANDS, build_parser
from photocraft_local.cli.rendering import details_json, skipped_json
from photocraft_local.errors import PhotocraftError
from photocraft_local.knowledge.store import KnownPage
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.records import (
    Event,
    Evidence,
    Json,
    Observation,
    Photo,
    Skipped,
    Step,
    ToolCall,
    Usage,
)

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "weights.md",
    "docs/architecture.md",
    "docs/backbone.md",
    "docs/bench.md",
    "docs/cli.md",
    "docs/encoders.md",
    "docs/evaluation.md",
    "docs/formats.md",
    "docs/kernels.md",
    "docs/imaging.md",
    "docs/knowledge.md",
    "docs/log.md",
    "docs/memory.md",
    "docs/offline.md",
    "docs/questions.md",
    "docs/search.md",
    "docs/trajectories.md",
)
MODULES_UNDER = ("", "photocraft_local", "tests")
TOP_FOLDERS = "photocraft_local|kernels|scripts|benchmarks|examples|tests|docs"


def command_lines(page: str) -> Iterator[str]:
    """Whole commands: indented lines, and what stands between back quotes."""
    yield from re.findall(r"^    (photocraft [^#\n]+)", page, re.MULTILINE)
    yield from re.findall(r"`(photocraft [^`]+)`", page)


def options_of(command: str) -> set[str]:
    parser = build_parser([command])
    choices = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices
    assert choices is not None
    return options_below(choices[command])


def options_below(parser: argparse.ArgumentParser) -> set[str]:
    """Its own, and those of the commands below it."""
    found = {option for action in parser._actions for option in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= {one for part in action.choices.values() for one in options_below(part)}
    return found


def options_named(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w`-])--?[a-z][a-z-]*|(?<=`)--?[a-z][a-z-]*", text))


def described(page: str, command: str) -> set[str]:
    """Options that the row of the command and the section about it name."""
    rows = re.findall(rf"^\| `{command}\b.*$", page, re.MULTILINE)
    assert len(rows) == 1, f"{command} has {len(rows)} rows in docs/cli.md"
    section = re.search(rf"^### {command}\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
    return options_named(rows[0] + (section[1] if section else ""))


@pytest.fixture
def cli_page(root: Path) -> str:
    return (root / "docs" / "cli.md").read_text("utf-8")


def test_every_page_is_known_here(root: Path) -> None:
    found = {path.relative_to(root).as_posix() for path in root.glob("*.md")}
    found |= {path.relative_to(root).as_posix() for path in root.glob("docs/*.md")}
    assert found == set(PAGES)


def test_the_five_lines_of_the_readme_run_as_printed(
    root: Path,
    shared: Path,
    shared_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (root / "README.md").read_text("utf-8")
    snippet = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert snippet
    assert len([line for line in snippet[1].splitlines() if line]) == 5
    pictures = tmp_path / "Pictures"
    pictures.mkdir()
    for name in ("DSCN0010", "DSCN0021", "DSCN0042", "no_exif"):
        shutil.copy(shared / "data" / "exif" / f"ia_{name}.jpg", pictures)
    monkeypatch.delenv("PHOTOCRAFT_TEST_CACHE", raising=False)  # no setting of the package
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", "null")
    names: dict[str, Any] = {}
    exec(compile(snippet[1], "README.md", "exec"), names)
    assert names["photos"].status().num_photos == 4
    assert names["best"] == ()  # colours are all that the null encoder knows, Arezzo not Lisbon
    assert names["answer"].photos == ()
    assert names["answer"].text
    names["photos"].close()


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md"])
def test_every_quoted_command_line_parses(root: Path, page: str) -> None:
    lines = [
        line
        for line in command_lines((root / page).read_text("utf-8"))
        if not line.startswith("photocraft COMMAND")
    ]
    assert lines
    for line in lines:
        words = shlex.split(line)[1:]
        try:
            build_parser(words).parse_args(words)  # raises UsageError
        except SystemExit as shown:  # --help, --version
            assert shown.code == 0  # noqa: PT017


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described_and_every_described_one_exists(
    cli_page: str, command: str
) -> None:
    before, _, after = cli_page.partition("## Commands")
    shared_by_all = options_named(before)
    there = options_of(command) - {"-h", "--help"}
    told = described(after, command)
    assert there - told - shared_by_all == set()
    assert told - there == set()


def forms() -> Iterator[Json]:
    """One of each object that ``--json`` prints, from names that are not UTF-8."""
    photo = Photo(1, "p7k3mq", "", (b"/photos/\xff.jpg",), 4, 3, "JPEG", flags=("screenshot",))
    found = SearchAnswer((FoundPhoto(photo, 1.0),), filter="", num_candidates=1)
    yield search._json(found, None)
    steps = (Step(1, ToolCall("recall"), Observation("recall")),)
    answered = (AnsweredPhoto(photo, (Evidence("", "", "", True),)),)
    pictures = (Picture("q1", b"/photos/\xff.jpg"),)
    plan = AskedPlan("", "", "", pictures)
    runs = (AskedRun(1, (), steps=steps, usage=Usage(1)),)
    asked = AskAnswer("", answered, steps=steps, plan=plan, runs=runs)
    yield answers.answer_json(asked, None, steps=True)
    event = Event(1, 1, datetime(2021, 6, 14), datetime(2021, 6, 14), 1, "p7k3mq")
    yield details_json(PhotoDetails(photo, event, ()))
    yield skipped_json(Skipped(b"/photos/\xff.mp4", "video", ""))
    yield index._json(IndexSummary(*[0] * 9, seconds=0.0))
    yield status._json(LibraryStatus(Path(), *[0] * 9, encoder="null", num_pending=0))
    yield doctor._json(Finding("", "ok", ""))
    figure = Figure("decode", "", 1.0, "photos/s", 2.0, "a floor")
    yield bench._json([figure], Machine("", 1, 1.0, (), "", {}), True, False, None)
    yield weights._row_json(rows()[0])
    fault = Fault("config.json", "missing", "")
    yield weights._verification_json(Verification(Path(), 0, 0, True, (fault,)))
    yield serve_model._json(Serving("", "", 1, 1, ""))
    known = KnownPage(b"/a.md", "markdown", "", 1, 0, {}, "", "")
    yield knowledge.source_json(KnowledgeSource(b"/a.md", (known,)))
    counts = dict.fromkeys(("added", "changed", "unchanged", "dropped"), 0)
    held = {"pages": 0, "passages": 0, "pictures": 0}
    rest = {"skipped": (), "offline": (), "notes": ()}
    yield knowledge.report_json(KnowledgeReport(**counts, **held, **rest))


def keys_of(form: Json) -> Iterator[str]:
    if isinstance(form, dict):
        for key, value in form.items():
            yield key
            yield from keys_of(value)
    elif isinstance(form, list):
        for item in form:
            yield from keys_of(item)


def test_every_key_of_the_json_forms_is_documented(cli_page: str) -> None:
    keys = {key for form in forms() for key in keys_of(form)}
    assert "paths_base64" in keys
    assert [key for key in sorted(keys) if not re.search(rf'[`"]{key}[`"]', cli_page)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_named_file_exists(root: Path, page: str) -> None:
    text = (root / page).read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text)
    here = (root / page).parent
    gone = [link for link in links if "://" not in link and not (here / link).exists()]
    named = re.findall(rf"`((?:{TOP_FOLDERS})/[\w./-]+)`", text)
    gone += [name for name in named if not (root / name).exists()]
    # Inside the package, pages name a module by its folder: `tools/standard.py`.
    modules = re.findall(r"`((?!\.)[\w/]+/\w+\.py)`", text)
    gone += [
        name for name in modules if not any((root / d / name).is_file() for d in MODULES_UNDER)
    ]
    assert not gone


def examples(page: str, section: str) -> list[str]:
    """The indented lines of a section."""
    found = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found
    return re.findall(r"^    (\S.*)$", found[1], re.MULTILINE)


def test_every_question_of_the_page_is_understood_or_refused_as_it_says(
    root: Path, shared_cache: Path
) -> None:
    page = (root / "docs" / "questions.md").read_text("utf-8")
    kinds, refused = examples(page, "Kinds"), examples(page, "What is refused, and why")
    assert len(kinds) > 25
    assert len(refused) > 3
    today = date(2024, 5, 15)
    with Gazetteer.open(shared_cache) as places:
        for question in kinds:
            pictures = ("q1",) if re.search(r"\b(this|here)\b", question) else ()
            plan = understand(question, today=today, places=places, pictures=pictures)
            assert not plan.blocked, question
            assert not plan.unused, question
        for question in refused:
            assert is_refused(question, today, places), question


def is_refused(question: str, today: date, places: Gazetteer) -> bool:
    try:
        return bool(understand(question, today=today, places=places).blocked)
    except PhotocraftError as error:
        return error.exit_code == 2 and bool(error.hint)


def test_the_plan_of_the_page_can_be_run(root: Path, shared_cache: Path) -> None:
    page = (root / "docs" / "questions.md").read_text("utf-8")
    section = re.search(r"^## The text of a plan\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    assert section
    lines = re.findall(r"^    .*$", section[1], re.MULTILINE)
    with Gazetteer.open(shared_cache) as places:
        reader = Reader(date(2024, 5, 15), places, ("q1",))
        plan = from_text("\n".join(lines), reader)
        keys = re.findall(r"`([a-z2 5]+)(?::[^`]*)?`", section[1])
        for key in ("same trip as", "2 weeks before", "within 2 hours after", "within 5 km of"):
            assert key in keys
            assert from_text(f"{key}: any photo", reader).wanted.relations
    assert plan.wanted.relations[0].which == "first"
    assert len(plan.wanted.either) == 2
