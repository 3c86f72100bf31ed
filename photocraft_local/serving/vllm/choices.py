"""How likely each of a few short replies is, asked of a server of vLLM's chat API.

vLLM tells the log-probability of named tokens (``logprob_token_ids``): exact, of the whole
vocabulary, before any sampling or grammar, whatever the server was started with. A reply of several
tokens costs one short request for each distinct beginning; its prefix is cached. A server that
cannot name tokens tells its 20 likeliest: a reply that is not among them is left out, and no number
is made up for it. Opens no connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from photocraft_local.errors import ModelError, ServerLost
from photocraft_local.records import Usage
from photocraft_local.serving.qwen.completion import (
    ChatRequest,
    Completion,
    completion_of,
    shown,
)

CHAT = "/v1/chat/completions"
_MOST_TOLD = 20  # likeliest tokens that any server of this API tells
_LEAST_TOLD = 2  # choices; one alone is weighed against nothing
_NAMED = "token_id:"  # how a reply names a token by its id

Post = Callable[[str, Mapping[str, Any]], Awaitable[Any]]  # path, body → parsed JSON
Ids = tuple[int, ...]


class Chooser:
    """``post`` sends a body to a path of the server that serves ``model``."""

    def __init__(self, post: Post, model: str) -> None:
        self._post, self._model = post, model
        self._ids: dict[str, Ids | None] = {}  # None: this server does not tell

    async def chosen(self, request: ChatRequest) -> Completion:
        """The likeliest of ``request.choices``, with the log-probability of each.

        Raises ModelError for a server that does not tell them."""
        ids = {choice: await self._tokens(choice) for choice in request.choices}
        known = {choice: path for choice, path in ids.items() if path}
        if len(known) < len(ids):
            return await self._by_text(request)
        prefixes = sorted({path[:end] for path in known.values() for end in range(len(path))})
        steps = await asyncio.gather(
            *(self._step(request, prefix, list(known.values())) for prefix in prefixes)
        )
        scores = dict(zip(prefixes, (scores for scores, _ in steps), strict=True))
        logprobs = {
            choice: sum(scores[path[:at]][token] for at, token in enumerate(path))
            for choice, path in known.items()
        }
        return _completion(logprobs, [usage for _, usage in steps])

    async def _tokens(self, text: str) -> Ids | None:
        """The text's tokens, asked once."""
        if text not in self._ids:
            body = {"model": self._model, "prompt": text, "add_special_tokens": False}
            try:
                told = await self._post("/tokenize", body)
            except ServerLost:
                raise
            except ModelError:  # no server of vLLM's
                told = None
            tokens = told.get("tokens") if isinstance(told, dict) else None
            is_told = isinstance(tokens, list) and all(type(one) is int for one in tokens)
            self._ids[text] = tuple(tokens) if is_told and tokens else None
        return self._ids[text]

    async def _step(
        self, request: ChatRequest, prefix: Ids, paths: Sequence[Ids]
    ) -> tuple[dict[int, float], Usage]:
        """Log-probability of each token that may follow ``prefix``."""
        wanted = sorted({p[len(prefix)] for p in paths if p[: len(prefix)] == prefix != p})
        messages = request.messages
        if prefix:
            said = await self._post("/detokenize", {"model": self._model, "tokens": list(prefix)})
            if not (isinstance(said, dict) and isinstance(said.get("prompt"), str)):
                raise ModelError(f"the backbone gives no text for tokens: {shown(said)}")
            messages = _begun(messages, said["prompt"])
        body = _asking(replace(request, messages=messages), self._model)
        body |= {"logprob_token_ids": wanted, "return_tokens_as_token_ids": True}
        reply = await self._post(CHAT, body)
        told = {
            int(token.removeprefix(_NAMED)): value
            for token, value in _told(reply).items()
            if token.startswith(_NAMED) and token.removeprefix(_NAMED).isdecimal()
        }
        missing = [token for token in wanted if token not in told]
        if missing:  # a server that takes no notice of the ids tells the likeliest only
            raise _untold(request.choices, reply)
        return told, completion_of(reply).usage

    async def _by_text(self, request: ChatRequest) -> Completion:
        reply = await self._post(CHAT, _asking(request, self._model))
        told = _told(reply)
        logprobs = {choice: told[choice] for choice in request.choices if choice in told}
        if len(logprobs) < _LEAST_TOLD:
            raise _untold(request.choices, reply)
        return _completion(logprobs, [completion_of(reply).usage])


def _asking(request: ChatRequest, model: str) -> dict[str, Any]:
    """One token, and how likely others were."""
    single = replace(request, choices=(), schema=None, max_tokens=1, temperature=0.0)
    return single.to_json(model) | {"logprobs": True, "top_logprobs": _MOST_TOLD}


def _begun(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """The messages with the reply begun by ``text``, after what it was begun with."""
    if messages[-1]["role"] != "assistant":
        return [*messages, {"role": "assistant", "content": text}]
    return [*messages[:-1], {**messages[-1], "content": messages[-1]["content"] + text}]


def _told(reply: Any) -> dict[str, float]:
    """Token → log-probability at the first place; {} where the server tells none."""
    try:
        first = reply["choices"][0]["logprobs"]["content"][0]
        return {str(one["token"]): float(one["logprob"]) for one in first["top_logprobs"]}
    except (KeyError, IndexError, TypeError, ValueError):
        return {}


def _completion(logprobs: Mapping[str, float], usages: Sequence[Usage]) -> Completion:
    best = max(logprobs, key=lambda choice: logprobs[choice])
    usage = Usage(
        prompt=sum(usage.prompt for usage in usages),
        cached=sum(usage.cached for usage in usages),
        generated=sum(usage.generated for usage in usages),
    )
    return Completion(best, usage=usage, logprobs=dict(logprobs))


def _untold(choices: Sequence[str], reply: Any) -> ModelError:
    told = ", ".join(map(repr, _told(reply))) or "no token at all"
    return ModelError(
        f"the backbone does not tell how likely each of {', '.join(map(repr, choices))} is:"
        f" it told of {shown(told)}",
        hint="serve the model with vLLM, as photocraft serve-model does",
    )
