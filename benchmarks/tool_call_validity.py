"""Claim: every reply that our schema holds is a valid call of a real tool, random weights or not.

The real vLLM samples at temperature 1 from tiny checkpoints of both families, with the schema
that a served model gets (all tools, shorter limits: random weights fill every string). A reply
counts as valid if it ended by itself, parses as strict JSON, keeps the tool's own schema by two
validators and holds no whitespace outside of strings. Peer: the same prompts without the schema.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from _common import arguments, finish, machine, table
from _engine import checkpoints, engine_chat, require_engine

CALLS, CALLS_QUICK = 640, 256  # of each family
FREE = 16  # replies without the schema, of each family
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Row:
    family: str
    calls: int
    valid: int
    tokens_per_call: float
    longest: int
    tools: int
    seconds: float
    valid_without_schema: int


def registry_tools() -> list[dict[str, Any]]:
    from photocraft_local.tools.standard import standard_tools

    return [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
        for tool in standard_tools()
    ]


def is_valid(text: str, finish: str, parameters: dict[str, Any]) -> bool:
    import jsonschema

    from photocraft_local.tools.validate import problems

    if finish != "stop" or re.search(r"\s", STRING.sub("", text)):
        return False
    try:
        call = json.loads(text)["call"]
        jsonschema.validate(call["arguments"], parameters[call["name"]])
    except (ValueError, KeyError, TypeError, jsonschema.ValidationError):
        return False
    return not list(problems(call["arguments"], parameters[call["name"]]))


def measured(family: str, folder: Path, num: int) -> Row:
    from photocraft_local.serving.pictures import PictureStore
    from photocraft_local.serving.qwen.model import QwenModel
    from photocraft_local.serving.tokens import PictureRule
    from photocraft_local.serving.tool_calls import Limits

    tools = registry_tools()
    parameters = {tool["name"]: tool["parameters"] for tool in tools}
    chat = engine_chat(folder)
    store = PictureStore(PictureRule.of_folder(folder))
    limits = Limits(thought=24, text=24, items=3)
    model = QwenModel(chat, store, name=family, limits=limits, max_tokens=1500, temperature=1.0)
    requests = []
    for number in range(num):
        asked = [
            {"role": "system", "content": "Find photos."},
            {"role": "user", "content": f"question {number}: where is the bus?"},
        ]
        requests.append(model.request(model.conversation(asked, tools), tools))
    start = time.perf_counter()
    replies = chat.batch(requests)
    seconds = time.perf_counter() - start
    free = chat.batch([replace(one, schema=None, max_tokens=64) for one in requests[:FREE]])
    lengths = [reply.usage.generated for reply in replies]
    return Row(
        family,
        num,
        sum(is_valid(reply.text, reply.finish, parameters) for reply in replies),
        round(sum(lengths) / num, 1),
        max(lengths),
        len(
            {json.loads(reply.text)["call"]["name"] for reply in replies if reply.text[-1:] == "}"}
        ),
        seconds,
        sum(is_valid(reply.text, reply.finish, parameters) for reply in free),
    )


def main() -> int:
    quick = arguments(__doc__.split("\n", 1)[0]).quick
    require_engine()
    num = CALLS_QUICK if quick else CALLS
    with checkpoints() as folders:
        rows = [measured(family, folder, num) for family, folder in folders.items()]
    print(machine(["llguidance", "transformers"]))
    table(
        [
            (
                row.family,
                f"{row.valid} / {row.calls}",
                row.tokens_per_call,
                row.longest,
                row.tools,
                f"{row.seconds:.1f}",
                f"{row.valid_without_schema} / {FREE}",
            )
            for row in rows
        ],
        ["family", "valid", "tokens a call", "longest", "tools", "seconds", "without schema"],
    )
    finish(
        {
            "families": {
                row.family: {
                    "calls": row.calls,
                    "valid": row.valid,
                    "tokens_per_call": row.tokens_per_call,
                    "valid_without_schema": row.valid_without_schema,
                }
                for row in rows
            },
            "calls": sum(row.calls for row in rows),
            "valid": sum(row.valid for row in rows),
        }
    )
    return 0 if all(row.valid == row.calls for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
