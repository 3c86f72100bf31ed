"""Output that a JSON schema constrains is a call to a real tool, even from random weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from tiny_engine import greedy, user, words

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BOX = {"type": "integer", "minimum": 0, "maximum": 1000}
TOOLS: dict[str, dict[str, Any]] = {
    "zoom": {
        "uid": {"type": "string", "pattern": "^[a-z0-9]{6}$"},
        "box": {"type": "array", "items": BOX, "minItems": 4, "maxItems": 4},
    },
    "search_photos": {"text": {"type": "string", "maxLength": 24}, "limit": BOX},
    "submit_answer": {
        "uids": {"type": "array", "items": {"enum": ["p7k3mq", "k2x9ab"]}, "maxItems": 2}
    },
}


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


CALL = {
    "anyOf": [
        closed({"name": {"const": name}, "arguments": closed(arguments)})
        for name, arguments in TOOLS.items()
    ]
}


@pytest.mark.parametrize("family", ["qwen2.5-vl", "qwen3-vl"])
def test_each_sampled_reply_is_a_valid_call_without_idle_whitespace(
    engine: Callable[..., Any], family: str
) -> None:
    from vllm.sampling_params import StructuredOutputsParams

    asked = [[user(words(f"question {n}: call a tool"))] for n in range(16)]
    schema = StructuredOutputsParams(json=CALL)
    params = [
        greedy(300, temperature=1.0, seed=n, ignore_eos=False, structured_outputs=schema)
        for n in range(16)
    ]
    replies = engine(family).chat(asked, params, use_tqdm=False)
    calls = []
    for reply in replies:
        (output,) = reply.outputs
        assert output.finish_reason == "stop"
        call = json.loads(output.text)  # strict: raw control characters are refused
        jsonschema.validate(call, CALL)
        assert not re.search(r"\s", STRING.sub("", output.text))
        calls.append(call["name"])
    assert len(set(calls)) > 1
