"""Answers chat requests with the model in this process; keeps what the next request shares.

The same requests, prompts, limits and errors as a server. Many episodes may ask at once: one is
answered at a time, and their common beginnings are computed once.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from photocraft_local.errors import ModelError, PromptTooLong
from photocraft_local.records import Usage
from photocraft_local.serving.qwen.completion import ChatRequest, Completion, given_up
from photocraft_local.serving.transformers.grammar import Grammars, Held
from photocraft_local.serving.transformers.loading import Loaded, out_of_memory, release
from photocraft_local.serving.transformers.model import Model, Run, Scores
from photocraft_local.serving.transformers.pictures import Pictures
from photocraft_local.serving.transformers.prefixes import Prefixes
from photocraft_local.serving.transformers.prompts import Prompt, prompt_of
from photocraft_local.serving.transformers.sampling import Sampler, Thought


@dataclass(slots=True)
class _Turn:
    """One request on its way."""

    prompt: Prompt
    cached: int
    run: Run
    written: list[int] = field(default_factory=list)
    thinks: bool = False


class LocalChat:
    """A ``Chat`` over a loaded model. ``model`` and ``pictures`` count what was computed."""

    def __init__(self, loaded: Loaded) -> None:
        self.window = loaded.plan.window
        self.model = Model(loaded.model)
        self.pictures = Pictures(loaded.model, loaded.processor, loaded.plan.features)
        self._processor = loaded.processor
        self._prefixes = Prefixes(loaded.plan.kept)
        self._grammars = Grammars(loaded.processor.tokenizer, self.model.vocabulary)
        self._ends = _ends(loaded)
        self._end_of_thought = _end_of_thought(loaded)
        self._lock = threading.Lock()

    def chat(self, request: ChatRequest) -> Completion:
        """Raises PromptTooLong, PictureUnknown, ReplyLate, or ModelError for whatever else goes
        wrong. Whether a reply is late is looked at between two tokens.

        Where memory runs out, all that is kept goes, and the request is tried once more.
        """
        with self._lock:
            try:
                return self._answered(request)
            except Exception as exc:
                if not out_of_memory(exc):
                    raise
            self._drop()
            try:
                return self._answered(request)
            except Exception as exc:
                if not out_of_memory(exc):
                    raise
                raise ModelError(
                    f"the memory of the device does not hold this prompt: {str(exc)[:200]}",
                    hint="end what else holds memory there, take a smaller row of weights.md, or"
                    " ask for fewer pictures",
                ) from exc

    def prompt(self, request: ChatRequest) -> Prompt:
        """What the model is given for ``request``. Raises as ``chat``."""
        return prompt_of(request.messages, self._processor, self.pictures, self.model.pad)

    def forget(self) -> None:
        """Drops what is kept of earlier prompts and pictures."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        self._prefixes.clear()
        self.pictures.clear()
        release()

    def _answered(self, request: ChatRequest) -> Completion:
        prompt = self.prompt(request)
        room = self.window - len(prompt)
        if room < 1:
            raise PromptTooLong(
                f"the prompt has {len(prompt)} tokens, the window {self.window}",
                hint="ask for fewer pictures, or free memory for a longer window",
            )
        with self._turn(prompt) as (turn, scores):
            if request.choices:
                return self._chosen(turn, scores, request.choices)
            begun = request.messages[-1]["role"] == "assistant"
            turn.thinks = self._end_of_thought is not None and not begun
            return self._written(turn, scores, request, min(request.max_tokens, room))

    @contextmanager
    def _turn(self, prompt: Prompt) -> Iterator[tuple[_Turn, Scores]]:
        """The prompt, gone through the model. What was computed is kept, however it ends."""
        # The last token always runs, since its scores are not kept.
        cached = min(self._prefixes.longest(prompt.keys), len(prompt) - 1)
        cached = prompt.before(cached)
        new = [one for one in prompt.pictures if one.end > cached]
        features = {one.seen.key: self.pictures.features(one.seen, one.url) for one in new}
        layers = self._prefixes.layers(prompt.keys[:cached])
        turn = _Turn(prompt, cached, self.model.start(prompt, layers, cached))
        try:
            yield turn, self.model.prefill(turn.run, prompt, features)
        except BaseException as exc:
            if not out_of_memory(exc):
                self._keep(turn)
            raise
        self._keep(turn)

    def _keep(self, turn: _Turn) -> None:
        keys = np.concatenate([turn.prompt.keys, np.asarray(turn.written, dtype=np.int64)])
        self._prefixes.keep(keys[: turn.run.done], turn.run.layers())

    def _written(self, turn: _Turn, scores: Scores, request: ChatRequest, limit: int) -> Completion:
        held = self._grammars.held_to(request.schema) if request.schema is not None else None
        sampler = Sampler(request.temperature, request.seed, held, self._thought(turn, held, limit))
        end = time.monotonic() + request.seconds if request.seconds else math.inf
        while True:
            if time.monotonic() > end:
                raise given_up(request)
            token = sampler.choose(scores, self._ends)
            if token in self._ends:
                return self._completion(turn, "stop", len(turn.written) + 1)
            sampler.take(token)
            turn.written.append(token)
            if len(turn.written) >= limit:
                return self._completion(turn, "length", len(turn.written))
            scores = self.model.step(turn.run, token)

    def _thought(self, turn: _Turn, held: Held | None, limit: int) -> Thought | None:
        """Half of a reply that a schema holds is kept for what it holds."""
        if not turn.thinks or self._end_of_thought is None:
            return None
        return Thought(self._end_of_thought, limit // 2 if held else limit)

    def _completion(self, turn: _Turn, finish: str, generated: int) -> Completion:
        usage = Usage(len(turn.prompt), turn.cached, generated)
        end = self._end_of_thought
        if not turn.thinks or end is None:
            return Completion(self._text(turn.written), finish=finish, usage=usage)
        if end not in turn.written:
            return Completion("", self._text(turn.written), finish=finish, usage=usage)
        at = turn.written.index(end)
        reasoning, text = turn.written[:at], turn.written[at + 1 :]
        return Completion(self._text(text), self._text(reasoning), finish=finish, usage=usage)

    def _text(self, tokens: list[int]) -> str:
        text: str = self._processor.tokenizer.decode(tokens, skip_special_tokens=True)
        return text.rstrip("\ufffd")  # the beginning of a character that was cut

    def _chosen(self, turn: _Turn, scores: Scores, choices: tuple[str, ...]) -> Completion:
        """The likeliest, with the exact log-probability of each as the next text."""
        found = {choice: self._logprob(turn.run, scores, choice) for choice in choices}
        best = max(found, key=found.__getitem__)
        usage = Usage(len(turn.prompt), turn.cached, len(self._tokens(best)))
        return Completion(best, usage=usage, logprobs=found)

    def _logprob(self, run: Run, scores: Scores, text: str) -> float:
        tokens = self._tokens(text)
        total = float(scores.log_softmax(-1)[tokens[0]])
        if len(tokens) == 1:
            return total
        after = self.model.follow(self.model.branch(run), tokens[:-1]).log_softmax(-1)
        rest = zip(after, tokens[1:], strict=True)
        return total + sum(float(row[token]) for row, token in rest)

    def _tokens(self, text: str) -> list[int]:
        """Raises ModelError for a choice without a text."""
        ids = self._processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids:
            raise ModelError("one of the choices is empty")
        return list(ids)


def _ends(loaded: Loaded) -> frozenset[int]:
    """The ids that end a reply, as generation_config.json lists them."""
    ends = loaded.model.generation_config.eos_token_id
    ends = loaded.processor.tokenizer.eos_token_id if ends is None else ends
    return frozenset([ends] if isinstance(ends, int) else ends)


def _end_of_thought(loaded: Loaded) -> int | None:
    """The id that ends the reasoning of a thinking variant; None for others."""
    if not loaded.checkpoint.thinks:
        return None
    tokenizer = loaded.processor.tokenizer
    found = tokenizer.convert_tokens_to_ids("</think>")
    return None if found is None or found == tokenizer.unk_token_id else int(found)
