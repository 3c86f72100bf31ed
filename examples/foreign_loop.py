"""Somebody else's agent loop over a folder of photos, with photocraft's memory plugged in.

    python examples/foreign_loop.py ~/Pictures 2019
    python examples/foreign_loop.py ~/Pictures 2019 --url http://127.0.0.1:8000 --model NAME

The first goes by rules that read nothing but the messages; the second asks any model behind an
OpenAI-compatible server on this machine. ``--forget`` drops the oldest messages instead, as loops
without a memory do: the rules then lose what they had found.
"""

from __future__ import annotations

import json
from typing import Any

from folder import Model, Run, Tools, forgetting, main, opening

from photocraft_local.memory.foreign import Like, estimated_tokens
from photocraft_local.memory.plugin import LongMemory

REPLY = 1500  # tokens, those of the tools among them
# Which of the loop's tools state a condition, judge a photo, end it; and their words → ours.
LIKE = {
    "list_photos": Like("filter_photos", {"files": "photos"}),
    "check": Like(
        "compare_photos",
        {"checked": "photos", "file": "uid", "fits": "passes", "asked": "question"},
    ),
    "answer": Like("submit_answer", {"files": "photos"}),
}


def loop(
    question: str, model: Model, tools: Tools, *, turns: int, window: int, forget: bool
) -> Run:
    history: list[dict[str, Any]] = opening(question)
    memory = LongMemory(history, window=window, reply=REPLY, like=LIKE, write=model.write)
    run = Run()
    for _ in range(turns):
        prompt = (
            forgetting(history, window - REPLY, count=estimated_tokens)
            if forget
            else memory.messages()
        )
        run.largest = max(run.largest, estimated_tokens(prompt))
        reply = model.reply(prompt, tools.schemas())
        history.append(reply)
        memory.add(reply)
        for call in reply.get("tool_calls") or []:
            run.turns += 1
            name, said = call["function"]["name"], call["function"]["arguments"]
            result = tools.call(name, json.loads(said))
            told = {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
            history.append(told)
            memory.add(told)
            if name == "answer" and "error" not in result:
                run.answer = list(result["files"])
                break
        if run.answer is not None:
            break
    run.unbounded = estimated_tokens(history)
    run.compactions = len(memory.compactions)
    return run


if __name__ == "__main__":
    raise SystemExit(main(loop))
