"""What S must still hold, whoever wrote it: read back as the prompt has it, against the state.

Every condition with its status, every confirmed and rejected photo, every set with its count. What
is not there is put back in code's own form, under ``put_back``; what is against the state goes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.memory.working import WorkingState
from photocraft_local.records import Json, Step

_MOST_NAMED = 12  # of each kind, in a trace
_CHECKED = ("constraints", "confirmed", "rejected", "sets")


def kept_form(working: WorkingState, words: int) -> dict[str, Json]:
    """The state as S holds it; a condition and a reason take up to ``words`` characters."""
    state = working.to_json()
    del state["plan"]  # ``checked`` puts it there, whoever wrote the rest
    stated: dict[str, dict[str, list[str]]] = {}  # status → kind → words
    for one in working.constraints:
        kinds = stated.setdefault(one.status, {})
        kinds.setdefault(one.kind, []).append(shortened(one.words, words))
    state["constraints"] = stated
    for kind in ("confirmed", "rejected"):
        by_reason: dict[str, list[str]] = {}
        for uid, why in state[kind].items():
            by_reason.setdefault(shortened(why, words), []).append(uid)
        state[kind] = {why: joined(uids) for why, uids in by_reason.items()}
    return state


def joined(uids: Sequence[str]) -> Json:
    """One text, or a list where an id, of somebody else's photos, has a blank in it."""
    return list(uids) if any(uid.split() != [uid] for uid in uids) else " ".join(uids)


def checked(
    part: Mapping[str, Json], working: WorkingState, words: int, steps: Sequence[Step]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The working part of S made true, and a line for each kind of fault that it had.

    What the model judged by itself stays, if a step of ``steps`` named the photo.
    """
    told: dict[str, Any] = json.loads(prompt_json(dict(part)))
    wrong = _against(told, working, steps)
    lost = _lost(told, working, words)
    if kept := {
        key: value for key, value in kept_form(lost, words).items() if key in _CHECKED and value
    }:
        told["put_back"] = kept
    if plan := working.plan_told(words):
        told["plan"] = plan
    faults = {**wrong, **{f"{key} put back": value for key, value in _names(lost).items()}}
    return told, tuple(f"{key}: {_short(names)}" for key, names in faults.items() if names)


def _against(
    told: dict[str, Any], working: WorkingState, steps: Sequence[Step]
) -> dict[str, list[str]]:
    """Takes out photos under the wrong head, ids that no step named, sets of another count,
    conditions of another status."""
    confirmed, rejected = _uids(told["confirmed"]), _uids(told["rejected"])
    own = {*confirmed, *rejected} - {*working.confirmed, *working.rejected}
    no_photos = (own - _named(steps, own)) | (own & {*confirmed} & {*rejected})
    wrong = {
        "confirmed": [uid for uid in confirmed if uid in working.rejected or uid in no_photos],
        "rejected": [uid for uid in rejected if uid in working.confirmed or uid in no_photos],
        "sets": [name for name, n in told["sets"].items() if working.sets.get(name) != n],
    }
    for kind in ("confirmed", "rejected"):
        groups = {why: _split(some) for why, some in told[kind].items()}
        left = {why: [u for u in some if u not in wrong[kind]] for why, some in groups.items()}
        told[kind] = {why: joined(some) for why, some in left.items() if some}
    told["sets"] = {name: n for name, n in told["sets"].items() if name not in wrong["sets"]}
    wrong["constraints"] = _without_wrong_status(told["constraints"], working)
    return {f"{kind} taken out": names for kind, names in wrong.items()}


def _without_wrong_status(
    stated: Mapping[str, dict[str, list[str]]], working: WorkingState
) -> list[str]:
    """Takes out what names a condition of the state and does not stand where it stands."""
    wrong = []
    for status, kinds in stated.items():
        for kind, texts in kinds.items():
            named = {text: _statuses(text, working) for text in texts}
            kinds[kind] = [text for text in texts if status in (named[text] or {status})]
            wrong += [text for text in texts if text not in kinds[kind]]
    return wrong


def _statuses(text: str, working: WorkingState) -> set[str]:
    said = _plain(text)
    return {one.status for one in working.constraints if _plain(one.words) in said}


def _lost(told: Mapping[str, Any], working: WorkingState, words: int) -> WorkingState:
    """What of the state is not in ``told``."""
    there = {status: list(_texts(kinds)) for status, kinds in told["constraints"].items()}
    confirmed, rejected = set(_uids(told["confirmed"])), set(_uids(told["rejected"]))
    return WorkingState(
        constraints=[
            one
            for one in working.constraints
            if not _is_in(shortened(one.words, words), there.get(one.status, ()))
        ],
        sets={name: n for name, n in working.sets.items() if name not in told["sets"]},
        confirmed={uid: why for uid, why in working.confirmed.items() if uid not in confirmed},
        rejected={uid: why for uid, why in working.rejected.items() if uid not in rejected},
    )


def _texts(kinds: Mapping[str, Sequence[str]]) -> Iterable[str]:
    return (text for texts in kinds.values() for text in texts)


def _is_in(words: str, texts: Iterable[str]) -> bool:
    wanted = _plain(words)
    return any(wanted in _plain(text) for text in texts)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _uids(judged: Mapping[str, Json]) -> list[str]:
    return [uid for some in judged.values() for uid in _split(some)]


def _split(some: Json) -> list[str]:
    return some.split() if isinstance(some, str) else list(some)


def _named(steps: Sequence[Step], uids: Iterable[str]) -> set[str]:
    """Those of ``uids`` that a tool has named."""
    left, found = set(uids), set()
    for step in reversed(steps):
        if not left:
            break
        text = json.dumps([step.observation.data, [uid for uid, _ in step.observation.images]])
        found |= {uid for uid in left if json.dumps(uid) in text}
        left -= found
    return found


def _names(state: WorkingState) -> dict[str, list[str]]:
    return {
        "constraints": [f"{one.kind} {json.dumps(one.words)}" for one in state.constraints],
        "confirmed": list(state.confirmed),
        "rejected": list(state.rejected),
        "sets": [f"{name}={n}" for name, n in state.sets.items()],
    }


def _short(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(shortened(name, 80) for name in names[:_MOST_NAMED]) + more
