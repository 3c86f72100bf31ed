"""A thinking variant: reasoning is free and within its budget, the schema holds what follows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tiny_engine import greedy, user, words

BUDGET = 24
SCHEMA = {
    "type": "object",
    "properties": {"uid": {"enum": ["p7k3mq", "k2x9ab"]}},
    "required": ["uid"],
    "additionalProperties": False,
}
ASKED = [[user(words(f"question {number}: which photo?"))] for number in range(8)]


def said(llm: Any, **more: Any) -> list[tuple[str, str, int]]:
    """Text before and after the end of the reasoning, and the tokens before it; without those
    replies that random weights end in the midst of it."""
    from vllm.sampling_params import StructuredOutputsParams

    schema = StructuredOutputsParams(json=SCHEMA)
    params = [
        greedy(160, temperature=1.0, ignore_eos=False, structured_outputs=schema, **more)
        for _ in ASKED
    ]
    (end,) = llm.get_tokenizer().encode("</think>", add_special_tokens=False)
    found = []
    for reply in llm.chat(ASKED, params, use_tqdm=False):
        (output,) = reply.outputs
        before, closed, after = output.text.partition("</think>")
        if closed:
            num_tokens = list(output.token_ids).index(end)
            found.append((before, after.strip(), num_tokens))
    return found


def test_the_call_begins_after_the_reasoning(engine: Callable[..., Any]) -> None:
    llm = engine("qwen3-vl", thinking=True, reasoning_parser="qwen3")
    thought = said(llm, thinking_token_budget=BUDGET)
    assert len(thought) >= len(ASKED) // 2
    for reasoning, reply, num_tokens in thought:
        assert num_tokens <= BUDGET
        assert not reasoning.startswith('{"uid"')  # random words: the schema did not hold them
        assert json.loads(reply)["uid"] in ("p7k3mq", "k2x9ab")
    hasty = said(llm, thinking_token_budget=0)
    assert len(hasty) == len(ASKED)
    for reasoning, reply, _ in hasty:
        assert reasoning.strip() == ""
        assert json.loads(reply)["uid"] in ("p7k3mq", "k2x9ab")
