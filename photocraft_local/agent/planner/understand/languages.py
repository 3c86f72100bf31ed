"""Whether the words that are left over belong to a language that is not read.

A look in such a language would be searched as it stands, and its words for "without" or "how
many" would be looks: so it is refused by name.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from photocraft_local.agent.planner.plan import Plan, Wanted
from photocraft_local.agent.planner.understand.phrases import table
from photocraft_local.errors import QuestionNotUnderstood

_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_READ = ("LATIN", "CJK")
_HINT = "ask in English, German, French, Spanish or Chinese"


def check_language(plan: Plan, question: str) -> None:
    """Raises QuestionNotUnderstood."""
    texts = [*_looks(plan.wanted), *(_looks(plan.other) if plan.other else ())]
    for text in texts:
        if script := _unread_script(text):
            _refuse(f"in the script {script}", text)
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    asked = {word.casefold() for word in _WORD.findall(question)}
    for language, strong, weak in _foreign():
        if words & strong or (words & weak and len(asked & weak) > 1):
            _refuse(language, " ".join(sorted(words & (strong | weak))))


def _refuse(language: str, text: str) -> None:
    raise QuestionNotUnderstood(
        f"this language is not read: {language} ({text[:40]!r})",
        hint=_HINT,
    )


def _looks(wanted: Wanted) -> list[str]:
    """All words for what is seen, those of anchors too."""
    texts = [text for look in wanted.looks for text in look.texts] + list(wanted.not_looks)
    for part in (*wanted.parts(), *(relation.anchor for relation in wanted.relations)):
        texts += _looks(part)
    return texts


def _unread_script(text: str) -> str:
    """The script of the first letter that is not read, in the words of Unicode."""
    for char in text:
        if char.isalpha():
            name = unicodedata.name(char, "UNKNOWN")
            if not name.startswith(_READ):
                return name.split(" ")[0].title()
    return ""


@lru_cache(maxsize=1)
def _foreign() -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    return tuple(
        (language, frozenset(strong.split("|")), frozenset(weak.split("|")))
        for language, strong, weak in table("foreign")
    )
