"""How likely short replies are: the client's numbers beside the server's own likeliest tokens."""

from __future__ import annotations

import math
from typing import Any

from photocraft_local.errors import PhotocraftError
from photocraft_local.serving.qwen.completion import ChatRequest
from photocraft_local.serving.qwen.judge_prompt import CLOSED_THINKING
from photocraft_local.serving.qwen.odds import CHOICES, log_odds
from photocraft_local.serving.vllm.client import ChatClient
from photocraft_local.serving.vllm.command import MODEL_NAME
from photocraft_local.serving.vllm.health import open_client
from photocraft_local.serving.vllm.record import ServerRecord
from server_check.findings import Report

_NEAR = 0.05  # in the logarithm; the same request differs by so much in 16 bits
_MESSAGES = [{"role": "user", "content": "Is a dog an animal? Answer yes or no."}]


def choices(report: Report, record: ServerRecord, thinks: bool) -> None:
    """Two tokens that the server tells of itself, and yes and no, which it may not."""
    messages = (
        [*_MESSAGES, {"role": "assistant", "content": CLOSED_THINKING}] if thinks else _MESSAGES
    )
    likeliest = _likeliest(record, ChatRequest(messages, max_tokens=1))
    names = [name for name in likeliest if name.isascii() and name.isalnum()][:2]
    worst, told = math.inf, {}
    try:
        with ChatClient(record.endpoint, MODEL_NAME) as client:
            told = dict(client.chat(ChatRequest(messages, choices=CHOICES)).logprobs)
            both = client.chat(ChatRequest(messages, choices=tuple(names))).logprobs
        worst = max(abs(both[name] - likeliest[name]) for name in names)
    except (PhotocraftError, ValueError, KeyError) as error:
        report.check("choices have their probabilities", False, error=str(error)[:300])
        return
    total = sum(math.exp(value) for value in told.values())
    report.check(
        "choices have their probabilities",
        worst < _NEAR and set(told) == set(CHOICES) and total <= 1 + _NEAR,
        worst_difference=round(worst, 6),
        log_odds_of_yes=round(log_odds(told), 3),
    )


def _likeliest(record: ServerRecord, request: ChatRequest) -> dict[str, float]:
    """Text → log-probability of the 20 likeliest first tokens, as the server's API has them."""
    body: dict[str, Any] = request.to_json(MODEL_NAME) | {"logprobs": True, "top_logprobs": 20}
    with open_client(record.endpoint, 120) as client:
        reply = client.post("/v1/chat/completions", json=body).json()
    first = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return {one["token"]: one["logprob"] for one in first}
