"""From an accepted submission to the answer that the person gets, and the answer of none.

What was understood is read off the steps: the filters that ran and the words that the encoder
could use. Knows nothing of how the tools check an answer.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from photocraft_local.agent.wanted import asks_for_words
from photocraft_local.records import Answer, Json, Step
from photocraft_local.tools import submit_answer

SUBMIT = submit_answer.SubmitAnswer.name


def abstained(reason: str) -> Answer:
    return Answer(uids=(), reason=reason)


def answer_of(asked: str, steps: Sequence[Step]) -> Answer:
    """The answer that the last step submitted. ``asked`` is all that the person wrote, question
    and plan. Of the encoder's words only those in it count: a backbone may have tried others.

    Without photos the text is the answer to a question that asks for words, unless a reason says
    that there is none; to any other it is the reason.
    """
    answer = submit_answer.answer_of(steps[-1].observation)
    asked = _plain(asked).casefold()
    unknown = [word for word in _said(steps, "not_understood") if word.casefold() in asked]
    reason = answer.reason  # with photos: which others were left out
    if not (answer.uids or reason or asks_for_words(asked)):
        reason = answer.text
    return replace(
        answer,
        text=answer.text or ("" if answer.uids else reason),
        reason=reason,
        understood=_unique([*_filters(steps), *_said(steps, "understood")]),
        not_understood=_unique([*answer.not_understood, *unknown]),
    )


def _plain(text: str) -> str:
    """In the form in which words are searched: composed letters, nothing invisible but the ends
    of lines, since a question may begin on any."""
    lines = "\n".join(unicodedata.normalize("NFC", text).splitlines())
    return "".join(c for c in lines if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf"))


def _filters(steps: Sequence[Step]) -> list[str]:
    """The filters that ran because a call asked for one."""
    return _said([step for step in steps if {"when", "where"} & set(step.call.arguments)], "filter")


def _said(steps: Sequence[Step], key: str) -> list[str]:
    """The texts under ``key`` in what the steps that went well brought."""
    values: list[Json] = []
    for step in steps:
        value = step.observation.data.get(key) if step.observation.ok else None
        values += value if isinstance(value, list) else [value]
    return [value for value in values if isinstance(value, str) and value]


def _unique(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
