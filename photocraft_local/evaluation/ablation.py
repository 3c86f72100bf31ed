"""What each tool and each memory is worth: the same questions without it, one run a variant.

A variant's run lies in a folder of its own, so that what was cut goes on. Knows neither how a run
is made nor which tools there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from photocraft_local.errors import UsageError
from photocraft_local.evaluation.compare import Comparison, compare
from photocraft_local.evaluation.reports.figures import figures
from photocraft_local.evaluation.results import RunFolder
from photocraft_local.records import Json

FULL = "full"
ANSWERS = "submit_answer"  # without it no question could be answered
NAMED_SETS = "named sets"  # left out like a tool: every argument that writes or reads one
_TOOL, _SETS = "no-tool:", "no-sets"
# Each turns one thing off; ``memory`` is all that is kept from question to question.
SWITCHES: dict[str, dict[str, bool]] = {
    "no-working": {"working": False},
    "no-episodic": {"episodic": False},
    "no-skills": {"skills": False},
    "no-memory": {"memory": False},
    "no-memories": {"working": False, "episodic": False, "skills": False, "memory": False},
    "no-verify": {"verify": False},
}


@dataclass(frozen=True, slots=True)
class Variant:
    """``settings`` take the place of the person's; ``without``: tools that the registry lacks."""

    name: str
    settings: Mapping[str, Json] = field(default_factory=dict)
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table; ``change``: against the full system, None in its own row."""

    variant: Variant
    figures: dict[str, Json]
    change: Comparison | None


def variants(tools: Iterable[str], only: Sequence[str] = ()) -> list[Variant]:
    """The full system first, then what ``only`` names, by default all: the switches, no named sets
    (``no-sets``), ``no-tool:NAME`` for each of ``tools``; ``runs-N`` on demand. Raises UsageError
    for a name that is none."""
    removable = sorted(set(tools) - {ANSWERS})
    known = [*SWITCHES, _SETS, *[f"{_TOOL}{name}" for name in removable]]
    wanted = [name for name in dict.fromkeys(only or known) if name != FULL]
    return [Variant(FULL), *[_variant(name, removable, known) for name in wanted]]


def _variant(name: str, removable: Sequence[str], known: Sequence[str]) -> Variant:
    if name in SWITCHES:
        return Variant(name, SWITCHES[name])
    if name == _SETS:
        return Variant(name, without=(NAMED_SETS,))
    tool = name.removeprefix(_TOOL)
    if name.startswith(_TOOL) and tool in removable:
        return Variant(name, without=(tool,))
    number = name.removeprefix("runs-")
    if name.startswith("runs-") and number.isascii() and number.isdecimal():
        return Variant(name, {"runs": int(number)})
    raise UsageError(f"there is no variant {name!r}", hint=f"one of: {', '.join(known)}, runs-N")


def ablate(
    chosen: Sequence[Variant], out: Path, run: Callable[[Variant, Path], RunFolder]
) -> list[Line]:
    """Runs each into ``out/NAME`` (of a tool, ``no-tool_NAME``); the first is what the others are
    held against."""
    runs = [(one, run(one, out / one.name.replace(":", "_"))) for one in chosen]
    base = runs[0][1]
    return [
        Line(one, figures(made.sorted_rows()), None if made is base else compare(base, made))
        for one, made in runs
    ]


def table(lines: Sequence[Line]) -> list[dict[str, Json]]:
    """A row a variant, as the papers print it: in %, with the change of F1 and how often chance
    alone gives as much. ``words``: answers in words by normalised match, where there are some."""
    rows = []
    for line in lines:
        told: dict[str, Json] = {"variant": line.variant.name, "n": line.figures["all"]["num"]}
        parts = {"overall": line.figures["all"], **line.figures["by_kind"]}
        for name, part in parts.items():
            for key in ("em", "f1"):
                mean = part[key][0]
                told[f"{name} {key.upper()}"] = None if mean is None else round(100 * mean, 1)
        if words := line.figures["text"]:
            told["words"] = round(100 * words["text_normalised"], 1)
        ended = line.figures["status"]
        told["not answered"] = sum(ended.values()) - ended.get("answered", 0)
        change = line.change.all if line.change else None
        told["F1 change"] = None if change is None else round(100 * change.f1_difference[0], 1)
        told["F1 p"] = None if change is None else round(change.f1_p, 4)
        told["EM p"] = None if change is None else round(change.em_p, 4)
        rows.append(told)
    return rows
