"""A skill as a Markdown file that a person can read, change and give away.

Counts and ids stand in a list below the title. Knows no store; whoever reads a file decides what
to believe of it.
"""

from __future__ import annotations

import re
import unicodedata

from photocraft_local.errors import UsageError
from photocraft_local.memory.skills.skill import Skill, new_skill_id

_HEADS = {"When": "when", "Conditions": "kinds", "Way": "sketch", "Beware": "pitfalls"}
_ADVICE = "Advice"
_FACTS = {
    "origin": "origin",
    "wins": "wins",
    "losses": "losses",
    "created": "created",
    "last used": "last_used",
}
_FACT = re.compile(r"\* ([a-z ]+): ?(.*)")
_HINT = "take a file of `photocraft memory export` as the pattern"


def to_markdown(skill: Skill) -> str:
    """UTF-8 text; ``from_markdown`` makes the same skill of it, but for the episodes, whose ids
    mean nothing elsewhere."""
    data = skill.to_json()
    facts = "".join(f"* {name}: {data[key]}\n" for name, key in _FACTS.items())
    text = f"# Skill {skill.skill_id}\n\n{facts}"
    for head, key in _HEADS.items():
        lines = [data[key]] if isinstance(data[key], str) else data[key]
        text += f"\n## {head}\n\n" + "".join(f"- {line}\n" for line in lines)
    return text + f"\n## {_ADVICE}\n\n" + (f"{skill.advice}\n" if skill.advice else "")


def from_markdown(text: str, name: str) -> Skill:
    """Raises UsageError that names ``name`` and the line. Without an id it gets a new one."""
    data: dict[str, object] = {"skill_id": new_skill_id(), "origin": "written"}
    parts: dict[str, list[str]] = {}
    head = ""
    for number, line in enumerate(map(_visible, text.split("\n")), start=1):
        if line.startswith("# "):
            data["skill_id"] = line.removeprefix("# ").removeprefix("Skill ").strip()
        elif line.startswith("## "):
            head = line[3:].strip()
            if head not in (*_HEADS, _ADVICE):
                raise UsageError(f"{name}, line {number}: no part {head!r}", hint=_HINT)
            parts[head] = []
        elif line.strip() and head:
            parts[head].append(line.strip() if head == _ADVICE else _item(line))
        elif line.strip():
            data |= _fact(line, name, number)
    return _made(data, parts, name)


def _made(data: dict[str, object], parts: dict[str, list[str]], name: str) -> Skill:
    for head, key in _HEADS.items():
        lines = parts.get(head, [])
        data[key] = " ".join(lines) if key == "when" else tuple(lines)
    data["advice"] = " ".join(parts.get(_ADVICE, []))
    try:
        return Skill.from_json(data)
    except (ValueError, KeyError, TypeError) as exc:
        raise UsageError(f"{name}: {exc}", hint=_HINT) from exc


def _item(line: str) -> str:
    return line.strip().removeprefix("- ").strip()


def _fact(line: str, name: str, number: int) -> dict[str, object]:
    found = _FACT.fullmatch(line.strip())
    key = _FACTS.get(found[1]) if found else None
    if found is None or key is None:
        raise UsageError(f"{name}, line {number}: not understood", hint=_HINT)
    if key not in ("wins", "losses"):
        return {key: found[2]}
    if not re.fullmatch(r"[0-9]{1,9}", found[2]):
        raise UsageError(f"{name}, line {number}: {found[1]} is no number", hint=_HINT)
    return {key: int(found[2])}


def _visible(line: str) -> str:
    """Without what a reader of the file would not see."""
    return "".join(c for c in line if c == "\t" or unicodedata.category(c)[0] != "C").rstrip()
