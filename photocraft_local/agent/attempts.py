"""What an attempt at a question leaves behind: its steps, how it was ended, what it was worth.

Dataclasses and their JSON, as a trace holds it. Texts that came from photos or a model are data;
nothing here interprets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from photocraft_local.memory.compaction import Compaction
from photocraft_local.memory.shortening import Cut
from photocraft_local.records import Json, Observation, Step, ToolCall, Usage

# Which limit made a turn the last one: those of the settings, unusable replies, the window.
Limit = Literal["turns", "tokens", "seconds", "replies", "window"]


@dataclass(frozen=True, slots=True)
class LastTurn:
    """From here on only an answer counts: after so many steps and refused replies of the attempt.
    ``words`` is the message that said so; it stands at the end of each prompt that follows."""

    limit: Limit
    why: str
    words: str
    after_step: int
    after_rejected: int

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LastTurn:
        """Raises KeyError, TypeError or ValueError for anything that ``to_json`` never wrote."""
        made = cls(**data)
        if made.limit not in get_args(Limit):
            raise ValueError(f"a limit {made.limit!r}")
        return made


@dataclass(frozen=True, slots=True)
class PostMortem:
    """Why an attempt brought no answer, and the block of later prompts that says what failed and
    what was useful. ``words`` are the model's in it, ``thought`` what it said beside them;
    ``problem``: why there are none; ``usage``: of asking for them."""

    why: str
    text: str
    problem: str = ""
    usage: Usage = Usage()
    words: Mapping[str, str] | None = None
    thought: str = ""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PostMortem:
        return cls(**{**data, "usage": Usage(**data["usage"])})


@dataclass(slots=True)
class Attempt:
    """The lists of one attempt. ``rejected`` are replies that were rolled back, each with the step
    before which it came, its reason, what was said, the call, if there was one, what it cost, and
    the correction that the model got."""

    steps: list[Step] = field(default_factory=list)
    rejected: list[dict[str, Json]] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    last_turn: LastTurn | None = None
    post_mortem: PostMortem | None = None  # None as long as it goes on, and for the last one

    @property
    def limit(self) -> str:
        """The one that made the last turn the last; empty where the model ended by itself."""
        return self.last_turn.limit if self.last_turn else ""

    def is_last(self, index: int) -> bool:
        """Whether the step with this number came when only an answer counted."""
        return self.last_turn is not None and index > self.last_turn.after_step

    def usage(self) -> Usage:
        """All that it asked of a model."""
        spent = [usage for one in self.steps for usage in (one.usage, one.observation.usage)]
        spent += [Usage(**reply["usage"]) for reply in self.rejected]
        spent += [made.usage for made in self.compactions]
        spent += [self.post_mortem.usage] if self.post_mortem else []
        return sum(spent, Usage())

    def to_json(self) -> dict[str, Json]:
        lists = {name: list(map(_WRITE[name], getattr(self, name))) for name in _WRITE}
        return {
            **lists,
            "last_turn": None if self.last_turn is None else self.last_turn.to_json(),
            "post_mortem": None if self.post_mortem is None else self.post_mortem.to_json(),
        }

    def lengths(self) -> dict[str, int]:
        """Of the lists, which only grow."""
        return {name: len(getattr(self, name)) for name in _WRITE}

    def grown(self, since: Mapping[str, int]) -> dict[str, Json]:
        """What came to each list since its length was that of ``since``: length and new items."""
        new = {name: getattr(self, name)[since[name] :] for name in _WRITE}
        return {
            name: [since[name], list(map(_WRITE[name], items))]
            for name, items in new.items()
            if items
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Attempt:
        """Of any version. Raises KeyError, TypeError, ValueError or AttributeError."""
        last, post_mortem = data.get("last_turn"), data.get("post_mortem")
        return cls(
            steps=list(map(_step, data["steps"])),
            rejected=list(map(_rejected, data["rejected"])),
            compactions=list(map(Compaction.from_json, data.get("compactions", ()))),
            cuts=list(map(Cut.from_json, data.get("cuts", ()))),
            last_turn=None if last is None else LastTurn.from_json(last),
            post_mortem=None if post_mortem is None else PostMortem.from_json(post_mortem),
        )


def _step_json(step: Step) -> dict[str, Json]:
    seen = step.observation
    return {
        "index": step.index,
        "thought": step.thought,
        "call": asdict(step.call),
        "observation": {
            "tool": seen.tool,
            "data": seen.data,
            "error": seen.error,
            "brief": seen.brief,
            "images": [uid for uid, _ in seen.images],  # pixels stay in the file store
            "usage": asdict(seen.usage),
        },
        "usage": asdict(step.usage),
    }


def _step(data: Mapping[str, Any]) -> Step:
    seen = data["observation"]
    return Step(
        index=data["index"],
        call=ToolCall(**data["call"]),
        observation=Observation(
            tool=seen["tool"],
            data=seen["data"],
            error=seen["error"],
            brief=seen["brief"],
            images=tuple((uid, b"") for uid in seen["images"]),
            usage=Usage(**seen.get("usage", {})),
        ),
        thought=data["thought"],
        usage=Usage(**data["usage"]),
    )


def _rejected(data: Mapping[str, Any]) -> dict[str, Json]:
    """Older ones told neither what was said, nor what it cost, nor what the model was told."""
    return {
        "before_step": int(data["before_step"]),
        "reason": str(data["reason"]),
        "thought": str(data.get("thought", "")),
        "call": None if data["call"] is None else asdict(ToolCall(**data["call"])),
        "usage": asdict(Usage(**data.get("usage", {}))),
        "correction": str(data.get("correction", "")),
    }


# How the items of each list are written; each only grows while an attempt goes on.
_WRITE: dict[str, Any] = {
    "steps": _step_json,
    "rejected": dict,
    "compactions": Compaction.to_json,
    "cuts": Cut.to_json,
}
