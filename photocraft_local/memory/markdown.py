"""An episode as a Markdown file that a person can read, change and give away, and back again.

Every value stands in an indented block, where Markdown and HTML mean nothing; what such a line
cannot show as it is (control characters, blanks at an end) is written as JSON. Knows no store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, asdict, fields
from datetime import datetime
from functools import cache

from photocraft_local.errors import UsageError
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.records import Json, PlanStep

TITLE = "# Episode "
_TELL = "The indented lines are data: change them, and keep the headings.\n"
_NOTHING = "(none)"
_INDENT = "    "
_SPECIAL = ('"', "{", "[", _NOTHING)  # what a plain text may not begin with
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_UID = re.compile(r"[a-z0-9]{1,60}(?:\.c[0-9]{1,9})?")
_HINT = "take a file of `photocraft memory export` as the pattern"


def to_markdown(record: EpisodeRecord) -> str:
    """``from_markdown`` makes the same record of it."""
    data = record.to_json()
    text = f"{TITLE}{data.pop('episode_id')}\n\n{_TELL}"
    for key, value in data.items():
        block = "".join(f"{_INDENT}{line}\n" for line in _lines(value))
        text += f"\n## {_head(key)}\n\n{block}"
    return text


def from_markdown(text: str, name: str) -> EpisodeRecord:
    """Raises UsageError that names ``name`` (of a file, say) and the line."""
    parts = dict(_parts(text, name))
    data: dict[str, Json] = {"episode_id": parts.pop("episode_id")[1][0]}
    for key, shape in _shapes().items():
        if key in parts:
            number, lines = parts[key]
            try:
                data[key] = _value(lines, shape)
            except ValueError as exc:
                raise UsageError(f"{name}, line {number}: {_head(key)}: {exc}", hint=_HINT) from exc
        elif key in _required():
            raise UsageError(f"{name}: the part {_head(key)!r} is not there", hint=_HINT)
        else:
            data[key] = shape
    try:
        return _checked(data)
    except (ValueError, KeyError, TypeError) as exc:
        raise UsageError(f"{name}: this is no episode: {exc}", hint=_HINT) from exc


def _head(key: str) -> str:
    return key.replace("_", " ")


@cache
def _required() -> frozenset[str]:
    return frozenset(one.name for one in fields(EpisodeRecord) if one.default is MISSING)


def _shapes() -> dict[str, Json]:
    """The parts of a file: the keys of a record but its id, with a value of the right type."""
    texts: dict[str, Json] = dict.fromkeys(_required(), "")
    shapes = EpisodeRecord(**texts).to_json()
    del shapes["episode_id"]
    return shapes


def _lines(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split("\n") if _is_plain(value) else [json.dumps(value)]
    elif isinstance(value, list | tuple):
        items = [f"- {_inline(item)}" for item in value]
        yield from items or [_NOTHING]
    elif isinstance(value, bool):
        yield "yes" if value else "no"
    else:
        yield json.dumps(value)


def _inline(item: Json) -> str:
    if isinstance(item, str) and "\n" not in item and _is_plain(item):
        return item
    return json.dumps(item)


def _is_plain(text: str) -> bool:
    """Whether its lines can stand in a block as they are and come back the same."""
    lines = text.split("\n")
    if text.startswith(_SPECIAL) or not (lines[0] and lines[-1]):
        return False
    return all(line.isprintable() and line == line.strip() for line in lines)


def _parts(text: str, name: str) -> Iterator[tuple[str, tuple[int, list[str]]]]:
    """Key of each part → the number of its first line and its lines, without the indent."""
    keys = {_head(key): key for key in _shapes()}
    found: dict[str, tuple[int, list[str]]] = {}
    lines: list[str] | None = None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if number == 1:
            found["episode_id"] = number, [_id(line, name)]
        elif line.startswith("## "):
            key = keys.get(line[3:].strip(), "")
            if not key or key in found:
                told = "is there twice" if key else "is unknown"
                raise UsageError(f"{name}, line {number}: the part {line[3:]!r} {told}", hint=_HINT)
            lines = []
            found[key] = number, lines
        elif lines is not None and line.startswith(_INDENT):
            lines.append(line[len(_INDENT) :].rstrip())
        elif lines is not None and lines and not line.strip():
            lines.append("")
        elif lines is not None and line.strip():
            raise UsageError(
                f"{name}, line {number}: a line of data is indented by four blanks", hint=_HINT
            )
    yield from found.items()


def _id(line: str, name: str) -> str:
    episode_id = line.removeprefix(TITLE).strip()
    if not line.startswith(TITLE) or not _ID.fullmatch(episode_id):
        raise UsageError(
            f"{name}, line 1: no title like {TITLE + '20240102-101500-ab12cd'!r}", hint=_HINT
        )
    return episode_id


def _value(lines: list[str], shape: Json) -> Json:
    while lines and not lines[-1]:
        lines = lines[:-1]
    if isinstance(shape, list | tuple):
        return [] if lines in ([], [_NOTHING]) else [_item(line) for line in lines if line]
    text = "\n".join(lines)
    if isinstance(shape, str):
        return _json(text) if text.startswith('"') else text
    if isinstance(shape, bool):
        if text not in ("yes", "no"):
            raise ValueError(f"{text!r} is neither yes nor no")
        return text == "yes"
    value = _json(text)
    if type(value) is not type(shape):
        raise ValueError(f"{text!r} is of another kind")
    return value


def _item(line: str) -> Json:
    if not line.startswith("- "):
        raise ValueError(f"{line!r} does not begin with '- '")
    item = line[2:].strip()
    return _json(item) if item.startswith(('"', "{", "[")) else item


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    except ValueError as exc:
        raise ValueError(f"{text!r} is no JSON: {exc}") from exc


def _checked(data: dict[str, Json]) -> EpisodeRecord:
    """Its ids go into names of files, its time is read: they have to be what they seem."""
    record = EpisodeRecord.from_json(data)
    datetime.fromisoformat(record.started)
    for uid in record.uids:
        if not isinstance(uid, str) or not _UID.fullmatch(uid):
            raise ValueError(f"{uid!r} is no UID")
    for key in ("digest", "tools"):
        if not all(isinstance(line, str) for line in getattr(record, key)):
            raise ValueError(f"{key} are no texts")
    # Files of older versions say less of a plan's steps.
    steps = [{**asdict(PlanStep("")), **item} for item in data["plan"]]
    if json.loads(json.dumps(record.to_json())) != json.loads(json.dumps({**data, "plan": steps})):
        raise ValueError("a part holds what no episode can hold")
    return record
