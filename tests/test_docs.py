"""The pages are true: what they quote parses and runs, what they point to is there."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.cli.parser import COMMANDS, build_parser

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "weights.md",
    "docs/architecture.md",
    "docs/cli.md",
    "docs/formats.md",
    "docs/log.md",
)
MODULES_UNDER = ("", "photocraft_local", "tests")
TOP_FOLDERS = "photocraft_local|kernels|scripts|benchmarks|tests|docs"


def command_lines(page: str) -> Iterator[str]:
    """Whole commands: indented lines, and what stands between back quotes."""
    yield from re.findall(r"^    (photocraft [^#\n]+)", page, re.MULTILINE)
    yield from re.findall(r"`(photocraft [^`]+)`", page)


def options_of(command: str) -> set[str]:
    parser = build_parser([command])
    choices = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices
    assert choices is not None
    return {o for action in choices[command]._actions for o in action.option_strings}


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
        if words != ["--version"]:
            build_parser(words).parse_args(words)  # raises UsageError


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
