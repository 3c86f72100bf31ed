"""What a question asks for: photos, a count, a time, a place, a camera, a span, a distance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast, get_args

from photocraft_local.agent.planner.draft import Draft
from photocraft_local.agent.planner.plan import Ask, AskKind
from photocraft_local.agent.planner.understand.phrases import phrase_of, phrases

_STOP = re.compile(r"[,.;:!?¿¡–—-]\s*$")
_WORD_START = re.compile(r"(?<![^\W_])[^\W_]|[\u4e00-\u9fff]")
_CJK = re.compile(r"[\u4e00-\u9fff]")


def claim_ask(draft: Draft) -> Ask:
    """Takes out the words that ask; a question without any asks for photos."""
    for at in _clause_starts(draft):
        for phrase in phrases("asks"):
            match = phrase.pattern.match(draft.text, at)
            if match and match.end() > at and draft.is_free(at, match.end()):
                draft.claim(at, match.end())
                _claim_helpers(draft, match.end())
                return Ask(_kind(phrase.cells[0]), phrase.cells[1], match.group().strip(" ,"))
    return Ask()


def _kind(name: str) -> AskKind:
    if name not in get_args(AskKind):
        raise ValueError(f"asks.tsv: there is no kind {name!r}")
    return cast(AskKind, name)


def _claim_helpers(draft: Draft, at: int) -> None:
    """ "how many dogs | did I see": subject and verb, right behind the words that ask, or later
    in the same clause."""
    for match in draft.matches(phrase_of("fillers", "helper"), at):
        draft.claim(match.start(), match.end())


def claim_passive(draft: Draft) -> None:
    """ "wann wurde das Foto | aufgenommen", "se tomaron": that photos were taken goes without
    saying."""
    for phrase in phrases("passives"):
        for match in phrase.pattern.finditer(draft.text):
            for name in ("aux", "deed"):
                if draft.is_free(*match.span(name)):
                    draft.claim(*match.span(name))


def _clause_starts(draft: Draft) -> Iterator[int]:
    """Where words begin that stand behind nothing, behind punctuation, or in Chinese."""
    for match in _WORD_START.finditer(draft.text):
        at = match.start()
        if not draft.is_free(at, at + 1):
            continue
        if _CJK.match(draft.text[at]):
            yield at
            continue
        left = _unclaimed_left(draft, at)
        if not left or _STOP.search(left):
            yield at


def _unclaimed_left(draft: Draft, at: int) -> str:
    return "".join(draft.text[start:end] for start, end in draft.segments(0, at)).lstrip(
        " ,.;:!?¿¡-"
    )
