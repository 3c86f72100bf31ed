"""Options before and after the command, one-line usage errors, and a quick ``--help``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from photocraft_local.cli import exit_codes
from photocraft_local.cli.main import main
from photocraft_local.cli.parser import COMMANDS, build_parser, with_coordinates


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: photocraft {command}")
    for option in ("--library", "--json", "--quiet", "--debug"):
        assert option in shown


def test_shared_options_may_stand_on_either_side_of_the_command() -> None:
    for words in (["--library", "L", "--json", "list"], ["list", "--library", "L", "--json"]):
        parsed = build_parser(words).parse_args(words)
        assert (parsed.library, parsed.json, parsed.quiet) == ("L", True, False)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["search", "--no-such-option"],
        ["search", "x", "-k", "many"],
        ["index", "--batch-size"],
        ["memory", "show"],
    ],
)
def test_wrong_arguments_end_in_an_error_and_a_hint(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("where", ["-33.9,18.4", "-33.9, 18.4", "-0.5,-78.5", "-9 , 13", "-.5,1"])
@pytest.mark.parametrize("rest", [[], ["--km", "5"], ["--json"]])
def test_half_of_the_globe_lies_south_or_west(where: str, rest: list[str]) -> None:
    words = with_coordinates(["search", "beach", "--near", where, *rest])
    parsed = build_parser(words).parse_args(words)
    assert (parsed.near, parsed.text) == (where, ["beach"])


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from photocraft_local.cli.main import main; main(['--help']);"
        "heavy = {'numpy', 'PIL', 'sqlite3', 'faiss', 'onnxruntime'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "COMMAND" in done.stdout


@pytest.mark.parametrize("entry", [["-m", "photocraft_local"], ["-m", "photocraft_local.cli.main"]])
def test_the_package_runs_as_a_module(entry: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *entry, "--version"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert done.stdout.startswith("photocraft 0.")


STOPPED = """
import sys
class Stop:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
from photocraft_local.cli.entry import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module",
    [
        "photocraft_local.cli.main",
        "argparse",
        "photocraft_local.errors",
        "photocraft_local.cli.console",
    ],
)
def test_ctrl_c_while_the_program_is_being_read_is_a_line_and_no_traceback(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, module], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == exit_codes.INTERRUPTED
    assert done.stderr == "error: interrupted; nothing was begun\nhint: run it again\n"
