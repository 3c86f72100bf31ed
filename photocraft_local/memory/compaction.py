"""What is left of turns after a compaction: S = digest ⊕ session ⊕ working, and its record.

Ids, counts, set names, conditions and the digest are written by code; a model's part is ``Prose``
alone, or all of it where that is to be compared (plain.py). Both count as untrusted text, and S is
checked against the state (fidelity.py). When to compact is decided elsewhere (agent/room.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from photocraft_local.memory.digest import brief_line, digest_line, folded_line
from photocraft_local.memory.fidelity import checked, kept_form
from photocraft_local.memory.plain import PLAIN_REPLY, WRITE_MEMORY, Plain
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

    @classmethod
    def of_text(cls, text: str) -> Prose | None:
        """The same of a reply that no grammar held: the JSON object in it."""
        try:
            said = json.loads(text[text.find("{") : text.rfind("}") + 1])
            return cls(**{key: _line(said[key], _LONGEST[key]) for key in _PROSE})
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    @classmethod
    def from_plain(cls, plain: Plain) -> Prose:
        """What of it a later S that code writes can hold."""
        return cls(plain.session, "", plain.sub_goal, plain.next_action)


@dataclass(frozen=True, slots=True)
class Writing:
    """How a model is asked for its part of S, and how its reply is read."""

    prompt: str  # file of the request
    tool: ToolSchema
    reply: int  # tokens
    part: str  # of a Compaction: ``prose`` or ``plain``
    of: Callable[[Reply], Prose | Plain | None]

    def read(self, reply: Reply) -> dict[str, Prose | Plain | str]:
        """The model's part, or the problem with it, as a part of a Compaction."""
        part = self.of(reply)
        return {self.part: part} if part else {"problem": "the reply was cut or is no summary"}


WRITINGS = {  # by the setting ``summary``: who writes S
    "code": Writing("compaction_request", WRITE_SUMMARY, SUMMARY_REPLY, "prose", Prose.of),
    "model": Writing("compaction_plain", WRITE_MEMORY, PLAIN_REPLY, "plain", Plain.of),
}


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
    ``prose`` or ``plain`` is what the model wrote, ``problem`` why none of its words are in it,
    ``repaired`` what was wrong with S before the check. Tokens are of the prompts around it, 0
    where the backbone does not count; ``usage`` is that of the request for the summary.
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
    plain: Plain | None = None
    repaired: tuple[str, ...] = ()
    thought: str = ""  # what was said beside the model's part

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Compaction:
        """Raises KeyError, TypeError or ValueError for anything that ``to_json`` never wrote."""
        prose, plain = data["prose"], data.get("plain")
        read = {
            "prose": None if prose is None else Prose(**prose),
            "plain": None if plain is None else Plain.from_json(plain),
            "repaired": tuple(map(str, data.get("repaired", ()))),
            "usage": Usage(**data["usage"]),
        }
        made = cls(**{**data, **read})
        if not (0 <= made.covered <= made.after_step and 0 <= made.fold < len(FOLDS)):
            raise ValueError(f"a compaction of steps up to {made.covered}, fold {made.fold}")
        return made


@dataclass(frozen=True, slots=True)
class Summary:
    """S as the prompt has it, and what had to be mended."""

    text: str
    repaired: tuple[str, ...]


def summary(
    steps: Sequence[Step],
    covered: int,
    working: WorkingState,
    written: Prose | Plain | None,
    thoughts: Sequence[str],
    fold: Fold,
) -> Summary:
    """S for the first ``covered`` of ``steps``; the same values, the same bytes.

    The digest stands first and mostly only grows, so that a prefix cache keeps what the last S
    had of it; what changes each time stands behind.
    """
    if isinstance(written, Plain):
        parts = written.parts(fold.lines + fold.brief_lines, fold.words)
    else:
        session: dict[str, Json] = {}
        if written is not None:  # sub-goal and next action are part of the working state
            session = {"decisions": written.decisions, "ruled_out": written.ruled_out}
        session["thoughts"] = [shortened(one, 300) for one in _last(thoughts, fold.thoughts)]
        parts = {
            "digest": _digest(steps, covered, fold),
            "session": session,
            "working": kept_form(working, fold.words),
        }
    parts["working"], repaired = checked(parts["working"], working, fold.words, steps)
    return Summary(_TELL + prompt_json(parts), repaired)


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


def _line(text: Json, longest: int) -> str:
    return shortened(" ".join(str(text).split()), longest)


def _last(items: Sequence[_Item], number: int) -> Sequence[_Item]:
    return items[len(items) - number :] if number < len(items) else items
