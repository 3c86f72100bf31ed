"""What is left of turns after a compaction: S = digest ⊕ session ⊕ working, and its record.

Ids, counts, set names, conditions and the digest are written by code; a model's part is ``Prose``
alone, which counts as untrusted text. When to compact is decided elsewhere (agent/room.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from photocraft_local.memory.digest import brief_line, digest_line, folded_line
from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.memory.working import WorkingState
from photocraft_local.records import Json, Step, Usage
from photocraft_local.serving.chat_model import Reply, ToolSchema
from photocraft_local.tools import schema
from photocraft_local.tools.validate import problems

_Item = TypeVar("_Item")
SUMMARY_REPLY = 768  # tokens that the model's part may take
_TELL = "Summary of the turns so far, as JSON; the turns themselves are gone.\n"
_PROSE = {
    "decisions": "What was decided so far, and which way of searching works here.",
    "ruled_out": "What was ruled out, and why.",
    "sub_goal": "What is being looked for right now.",
    "next_action": "The next step.",
}
_LONGEST = {"decisions": 400, "ruled_out": 400, "sub_goal": 150, "next_action": 150}  # characters
# Not a tool that runs: its schema holds the reply to the request for a summary.
WRITE_SUMMARY: ToolSchema = {
    "name": "write_summary",
    "description": "Write down what must not be forgotten.",
    "parameters": schema.arguments(
        *_PROSE, **{key: schema.words(text, longest=_LONGEST[key]) for key, text in _PROSE.items()}
    ),
}


@dataclass(frozen=True, slots=True)
class Prose:
    """The model's own part of S."""

    decisions: str = ""
    ruled_out: str = ""
    sub_goal: str = ""
    next_action: str = ""

    @classmethod
    def of(cls, reply: Reply) -> Prose | None:
        """None for a reply that is cut, no summary, or not held by the schema."""
        call = reply.call
        if call is None or call.name != WRITE_SUMMARY["name"]:
            return None
        if any(problems(call.arguments, WRITE_SUMMARY["parameters"])):
            return None
        return cls(**{key: " ".join(call.arguments[key].split()) for key in _PROSE})


@dataclass(frozen=True, slots=True)
class Fold:
    """How much of what may be folded S holds; lines fold many at a time, so up to twice as many
    stay for a while. Conditions, confirmed and rejected photos, sets and counts stay in any case,
    the words of a condition up to ``words`` characters."""

    lines: int  # newest steps, a digest line each
    brief_lines: int  # those before them, a short line each; older ones share one line
    thoughts: int
    words: int


FOLDS = (
    Fold(lines=16, brief_lines=24, thoughts=8, words=10_000),
    Fold(lines=6, brief_lines=12, thoughts=3, words=600),
    Fold(lines=1, brief_lines=3, thoughts=0, words=120),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """One compaction as a trace keeps it: enough to make the same S again without a model.

    It came after step ``after_step`` and took the place of the turns up to step ``covered``.
    ``problem`` says why no model's words are in it. Tokens are of the prompts around it, 0 where
    the backbone does not count; ``usage`` is that of the request for the summary.
    """

    after_step: int
    covered: int
    why: str
    fold: int = 0  # index into FOLDS
    prose: Prose | None = None
    problem: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    usage: Usage = Usage()

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Compaction:
        """Raises KeyError, TypeError or ValueError for anything that ``to_json`` never wrote."""
        prose = data["prose"]
        read = {"prose": None if prose is None else Prose(**prose), "usage": Usage(**data["usage"])}
        made = cls(**{**data, **read})
        if not (0 <= made.covered <= made.after_step and 0 <= made.fold < len(FOLDS)):
            raise ValueError(f"a compaction of steps up to {made.covered}, fold {made.fold}")
        return made


def summary(
    steps: Sequence[Step],
    covered: int,
    working: WorkingState,
    prose: Prose | None,
    thoughts: Sequence[str],
    fold: Fold,
) -> str:
    """S for the first ``covered`` of ``steps``; the same values, the same bytes.

    The digest stands first and mostly only grows, so that a prefix cache keeps what the last S
    had of it; what changes each time stands behind.
    """
    session: dict[str, Json] = {}
    if prose is not None:  # sub-goal and next action are part of the working state
        session = {"decisions": prose.decisions, "ruled_out": prose.ruled_out}
    session["thoughts"] = [shortened(one, 300) for one in _last(thoughts, fold.thoughts)]
    return _TELL + prompt_json(
        {
            "digest": _digest(steps, covered, fold),
            "session": session,
            "working": _working(working, fold),
        }
    )


def _digest(steps: Sequence[Step], covered: int, fold: Fold) -> list[Json]:
    num_rest = _folded(covered, fold.lines)
    num_oldest = _folded(num_rest, fold.brief_lines)
    oldest = [folded_line(steps[:num_oldest])] if num_oldest else []
    brief = [brief_line(step) + _seen(steps, step, 60) for step in steps[num_oldest:num_rest]]
    newest = [digest_line(step) + _seen(steps, step, 100) for step in steps[num_rest:covered]]
    return [*oldest, *brief, *newest]


def _folded(number: int, kept: int) -> int:
    """How many of ``number`` fold so that ``kept`` or more stay, but fewer than twice as many."""
    return max(0, number - kept) // kept * kept


def _seen(steps: Sequence[Step], step: Step, longest: int) -> str:
    """What was said of a step's pictures, which leave the prompt: the thought that came next."""
    if not step.observation.images or step.index >= len(steps):
        return ""
    said = " ".join(steps[step.index].thought.split())
    return f"; then: {prompt_json(shortened(said, longest))}" if said else ""


def _working(working: WorkingState, fold: Fold) -> dict[str, Json]:
    state = working.to_json()
    stated: dict[str, dict[str, list[str]]] = {}  # status → kind → words
    for one in working.constraints:
        words = shortened(one.words, fold.words)
        stated.setdefault(one.status, {}).setdefault(one.kind, []).append(words)
    state["constraints"] = stated
    for kind in ("confirmed", "rejected"):
        by_reason: dict[str, list[str]] = {}
        for uid, why in state[kind].items():
            by_reason.setdefault(shortened(why, fold.words), []).append(uid)
        state[kind] = {why: " ".join(uids) for why, uids in by_reason.items()}
    return state


def _last(items: Sequence[_Item], number: int) -> Sequence[_Item]:
    return items[len(items) - number :] if number < len(items) else items
