"""One line a step, written by code: tool, brief arguments, outcome, ids, set names.

The digest is what is left of a step after compaction, so a claim can still be traced to it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.records import Json, Observation, Step

_MAX_UIDS = 12
_FEW_UIDS = 3  # of an older step
_MAX_SEEN = 20  # where pictures were shown, also of an older step
_CALL = re.compile(r"\d+ \w+ (?=\{)")
_IDS = re.compile(r"; ids: [\w. ]*$")


def digest_line(step: Step) -> str:
    """E.g. ``3 filter_photos {"when":"June 2021"} -> 14 photos; ids: a2b3c, …``."""
    seen = step.observation
    brief = {key: _brief(value) for key, value in step.call.arguments.items()}
    outcome = f"error: {seen.error}" if seen.error else seen.brief or "done"
    line = f"{step.index} {step.call.name} {prompt_json(brief)}"
    line += f" -> {prompt_json(shortened(outcome))}"
    uids = _told_ids(seen)
    most = _MAX_SEEN if seen.images else _MAX_UIDS
    if uids:
        more = f" and {len(uids) - most} more" if len(uids) > most else ""
        line += f"; ids: {' '.join(uids[:most])}{more}"
    return line


def brief_line(step: Step) -> str:
    """What is left of an older step, e.g. ``3 filter_photos -> june: "14 photos"; a2b3c, …``."""
    seen = step.observation
    outcome = f"failed: {seen.error}" if seen.error else seen.brief or "done"
    saved = step.call.arguments.get("save_as")
    name = f"{saved}: " if isinstance(saved, str) and saved else ""
    uids = _told_ids(seen)
    most = _MAX_SEEN if seen.images else _FEW_UIDS
    more = " …" if len(uids) > most else ""
    ids = f"; {' '.join(uids[:most])}{more}" if uids else ""
    return f"{step.index} {step.call.name} -> {name}{prompt_json(shortened(outcome, 50))}{ids}"


def leading_lines(lines: Sequence[str]) -> list[str]:
    """Those digest lines that the last one rests on, by the sets that they name, without ids and
    without itself; all of them where it names no set."""
    given = [_given(line) for line in lines]
    needed = set(_sets_in(given[-1])) if given else set()
    if not needed:
        return list(lines)
    kept: list[str] = []
    for line, arguments in zip(lines[-2::-1], given[-2::-1], strict=True):
        if arguments.get("save_as") in needed:
            kept.insert(0, _IDS.sub("", line))
            needed |= set(_sets_in(arguments))
    return kept


def _given(line: str) -> dict[str, Json]:
    """The arguments of a digest line; none of one that a person wrote otherwise."""
    found = _CALL.match(line)
    try:
        return json.JSONDecoder().raw_decode(line, found.end())[0] if found else {}
    except ValueError:
        return {}


def _sets_in(arguments: dict[str, Json]) -> Iterator[str]:
    for key in ("set", "within", "compare", "sets"):
        value = arguments.get(key, ())
        yield from value if isinstance(value, list) else [value] if value else []


def folded_line(steps: Sequence[Step]) -> str:
    """The oldest steps in one line: how often each tool was called, how often in vain."""
    calls = Counter(step.call.name for step in steps)
    failed = sum(not step.observation.ok for step in steps)
    told = ", ".join(f"{name} {number}" for name, number in sorted(calls.items()))
    return f"{steps[0].index}-{steps[-1].index} {told}" + (f"; {failed} failed" if failed else "")


def photo_ids(data: dict[str, Json]) -> list[str]:
    """The UIDs that an observation names, in its order: bare ones, or rows with a ``uid``."""
    rows = data.get("photos")
    if not isinstance(rows, list):
        return []
    uids = [row.get("uid") if isinstance(row, dict) else row for row in rows]
    return [uid for uid in uids if isinstance(uid, str)]


def _told_ids(seen: Observation) -> list[str]:
    """Those of the photos, or else of the pictures that pages had or that were shown."""
    found = seen.data.get("pictures")
    named = [uid for uid in found if isinstance(uid, str)] if isinstance(found, list) else []
    return photo_ids(seen.data) or named or [uid for uid, _ in seen.images]


def _brief(value: Json) -> Json:
    if isinstance(value, str):
        return shortened(value, 60)
    if isinstance(value, list):
        more = [f"… {len(value) - 4} more"] if len(value) > 4 else []
        return [*map(_brief, value[:4]), *more]
    return f"{len(value)} entries" if isinstance(value, dict) else value
