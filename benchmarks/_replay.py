"""The real engine made to hold what was recorded, each request counted by its own counters.

A reply is known, so its tokens are not sampled: one more request, the prompt with the reply
behind it, puts them into the cache as decoding would have. Those requests are counted apart, and
their time is left out. Knows nothing of policies.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _engine import start_engine
from _prefix_counting import Marks, Tally, Texts, Tokens, told_apart

from photocraft_local.records import Usage
from photocraft_local.serving.chat_model import Message
from photocraft_local.serving.qwen.completion import ChatRequest, Completion

BLOCK = 32  # tokens; the least that the CPU back end takes
_PICTURE, _START = "<|image_pad|>", "<|im_start|>"
_RESULT = f"{_START}user\n<tool_response>\n"
_KV_BYTES = 192 << 20  # some 190,000 tokens: nothing that an episode can use again is evicted
_MOST_PICTURES = 64  # of one prompt; more than the episode has


def start(folder: Path, window: int) -> Any:
    """An engine that takes prompts up to ``window`` tokens."""
    return start_engine(
        folder,
        max_model_len=window,
        block_size=BLOCK,
        kv_cache_memory_bytes=_KV_BYTES,
        limit_mm_per_prompt={"image": _MOST_PICTURES, "video": 0},
    )


class Replay:
    """A ``Chat`` whose replies are given: ``say`` is asked for the text of each."""

    def __init__(self, llm: Any, counters: Callable[[Any], dict[str, int]]) -> None:
        self._llm, self._counters = llm, counters
        tokenizer = llm.get_tokenizer()
        self._pad, message = tokenizer.convert_tokens_to_ids([_PICTURE, _START])
        result = tokenizer.encode(_RESULT, add_special_tokens=False)
        self._marks = Marks(message, tuple(result))
        self.say: Callable[[ChatRequest], str] = lambda request: ""
        self.clear()

    def clear(self) -> None:
        """As after a start: nothing is cached, nothing is counted."""
        self._llm.reset_prefix_cache()
        self._llm.reset_mm_cache()
        self._llm.llm_engine.reset_encoder_cache()
        self.pictures: dict[str, int] = {}
        self.begin(Texts(self._marks))

    def begin(self, texts: Texts) -> None:
        """Counts from here on, with what is cached; ``texts`` are no news any more."""
        self.tally = Tally(BLOCK, texts)
        self._apart: Counter[str] = Counter()
        self._before = self._counters(self._llm)

    def warm(self, request: ChatRequest) -> None:
        """Another question was asked before: what its prompt shares with ours is in the cache."""
        self.chat(request)
        self.begin(self.tally.texts)

    def counted(self) -> dict[str, int]:
        """The engine's own counters since ``begin``, without those of the replies."""
        now = self._counters(self._llm)
        return {
            name: value - self._before.get(name, 0) - self._apart[name]
            for name, value in now.items()
        }

    def chat(self, request: ChatRequest) -> Completion:
        text = self.say(request)
        started = time.perf_counter()
        output = self._sent(request.messages)
        seconds = time.perf_counter() - started
        prompt = output.prompt_token_ids
        reply = self._replied(request.messages, prompt, text)
        shown = told_apart(prompt, self._pad, _names(request), self.pictures)
        cached = output.num_cached_tokens or 0
        self.tally.add(shown, cached, reply, seconds)
        return Completion(text, usage=Usage(len(shown), cached, len(reply)))

    def _replied(self, messages: list[Message], prompt: list[int], text: str) -> Tokens:
        """Puts the reply's tokens into the cache, behind the prompt."""
        before = self._counters(self._llm)
        said = [*messages, {"role": "assistant", "content": text}]
        whole = self._sent(said, add_generation_prompt=False, continue_final_message=True)
        self._apart.update(self._counters(self._llm))
        self._apart.subtract(before)
        assert whole.prompt_token_ids[: len(prompt)] == prompt, "the prompt changed"
        return np.array(whole.prompt_token_ids[len(prompt) :], dtype=np.int64)

    def _sent(self, messages: list[Message], **how: bool) -> Any:
        from vllm import SamplingParams

        once = SamplingParams(temperature=0, max_tokens=1)
        return self._llm.chat([messages], [once], use_tqdm=False, **how)[0]


def _names(request: ChatRequest) -> list[str]:
    """The media uuids of the prompt's pictures, in order."""
    contents = [one["content"] for one in request.messages]
    parts = [part for one in contents if isinstance(one, list) for part in one]
    return [part["uuid"] for part in parts if part["type"] == "image_url"]
