"""What an attempt without an answer leaves to the next one: what failed, what was useful.

By code from its steps and state; a few sentences of the model beside it, which count as untrusted.
Knows neither the window nor the budget; asks nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from photocraft_local.agent.episode import Episode, held
from photocraft_local.agent.prompts import render
from photocraft_local.memory.digest import brief_line
from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.records import Json, Step
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.tools import schema
from photocraft_local.tools.validate import problems

REPLY = 512  # tokens that the model's part may take
_LONGEST = 300  # characters of a sentence of the model
_PARTS = {
    "failed": "What did not work, and why.",
    "useful": "What helped.",
    "next": "The way to take now.",
}
# Not a tool that runs: its schema holds the reply to the request for a post-mortem.
WRITE_POST_MORTEM: ToolSchema = {
    "name": "write_post_mortem",
    "description": "Say what a fresh attempt should know.",
    "parameters": schema.arguments(
        *_PARTS, **{key: schema.words(text, longest=_LONGEST) for key, text in _PARTS.items()}
    ),
}
_KEPT = (12, 5, 2, 0)  # entries of each list; fewer where there is no room


def request(why: str) -> Message:
    words = prompt_json(shortened(why, _LONGEST))  # a model's, maybe, and so a photo's
    return {"role": "user", "content": render("post_mortem_request", why=words)}


def said(reply: Reply) -> Mapping[str, str] | None:
    """None for a reply that is cut, no post-mortem, or not held by the schema."""
    call = reply.call
    if call is None or call.name != WRITE_POST_MORTEM["name"]:
        return None
    if any(problems(call.arguments, WRITE_POST_MORTEM["parameters"])):
        return None
    return {key: " ".join(call.arguments[key].split()) for key in _PARTS}


def block(episode: Episode, why: str, words: Mapping[str, str] | None, most: int) -> str:
    """The block of the next attempt's prompt, of ``most`` characters if that can be."""
    text = ""
    for kept in _KEPT:
        text = render("post_mortem", left=prompt_json(_left(episode, why, words, kept)))
        if len(text) <= most:
            break
    return text


def _left(episode: Episode, why: str, words: Mapping[str, str] | None, kept: int) -> Json:
    record, working = episode.trajectory, episode.memory.working
    steps = record.steps
    conditions = [f"{one.kind}: {shortened(one.words)}" for one in working.constraints]
    told: dict[str, Json] = {
        "ended": why,
        "failed": _newest([brief_line(step) for step in steps if _in_vain(step)], kept),
        "useful": _newest([brief_line(step) for step in steps if not _in_vain(step)], kept),
        "refused_replies": dict(Counter(one["reason"] for one in record.rejected)),
        "conditions": _newest(conditions, 2 * kept),
        **held(working, 5 * kept, kept),
    }
    if words:
        told["in_its_words"] = dict(words)
    return told


def _in_vain(step: Step) -> bool:
    seen = step.observation
    return not seen.ok or seen.data.get("count") == 0


def _newest(lines: Sequence[str], kept: int) -> list[str]:
    return list(lines[len(lines) - kept :] if kept < len(lines) else lines)
