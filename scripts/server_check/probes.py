"""Requests to the running server: a picture, a constrained call, counters, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from photocraft_local.errors import PhotocraftError
from photocraft_local.serving.qwen.completion import ChatRequest
from photocraft_local.serving.tool_calls import Limits, call_schema, parse_constrained
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.client import ChatClient
from photocraft_local.serving.vllm.command import MODEL_NAME
from photocraft_local.serving.vllm.outside import OutsideServer
from photocraft_local.serving.vllm.place import ServerPlace
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.settings import Settings
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.validate import problems
from server_check.choices import choices
from server_check.client import counters
from server_check.findings import Report

_CALLS = 4
_MARKS = 64  # tokens of a chat template around one picture, at most


def probe(report: Report, place: ServerPlace, photo: Path, work: Path) -> None:
    """All of them, each as a check of the report."""
    record = ServerRecord.read(place.record)
    if not report.check("server is recorded", record is not None) or record is None:
        return
    mode = (record.endpoint.socket or place.record).stat().st_mode & 0o777
    report.check("socket of mode 0600", mode == 0o600, mode=oct(mode))
    _pictures(report, record, place, photo)
    _refusals(report, record, place, photo, work)
    _measured(report, record)
    _calls(report, record)
    _thinking(report, record)
    choices(report, record, _opens_thinking(record))


def _pictures(report: Report, record: ServerRecord, place: ServerPlace, photo: Path) -> None:
    from PIL import Image

    large = place.media / "large.png"
    with Image.open(photo) as opened:
        opened.convert("RGB").resize((2400, 1800)).save(large)
    before = counters(record)
    part = picture(f"file://{large}") | {"uuid": "check-large"}
    code, first = ask(record, part)
    tokens = _usage(first).get("prompt_tokens", 0)
    most = record.limits.picture_tokens
    fits = 0.9 * most < tokens < most + _MARKS
    report.check("a large picture is brought into the limits", code == 200 and fits, tokens=tokens)
    code, again = ask(record, {"type": "image_url", "image_url": None, "uuid": "check-large"})
    details = _usage(again).get("prompt_tokens_details") or {}
    cached, after = details.get("cached_tokens", 0), counters(record)
    report.check(
        "the same picture by its name alone comes from the caches",
        code == 200 and cached > tokens - _MARKS and _said(again) == _said(first),
        cached_tokens=cached,
        mm_cache_hits=_grown(before, after, "mm_cache_hits_total"),
        prefix_cache_hits=_grown(before, after, "prefix_cache_hits_total"),
        prefix_cache_queries=_grown(before, after, "prefix_cache_queries_total"),
    )
    large.unlink()


def _measured(report: Report, record: ServerRecord) -> None:
    """The same server, asked as one that is not known."""
    server = OutsideServer(Settings(backbone_url=str(record.endpoint)), record.endpoint)
    own, name = record.limits, "a server that is not known is measured as what it is"
    try:
        found, notes = server.limits, list(server.notes)
    except PhotocraftError as error:
        report.check(name, False, notes=[error.message])
        return
    same = (found.factor, found.window, found.by_name) == (own.factor, own.window, True)
    report.check(name, same and not notes, picture_tokens=found.picture_tokens, notes=notes)


def _refusals(
    report: Report, record: ServerRecord, place: ServerPlace, photo: Path, work: Path
) -> None:
    from PIL import Image

    private, shown = work / "private.png", place.media / "shown.png"
    with Image.open(photo) as opened:
        for path in (private, shown):
            opened.convert("RGB").resize((320, 240)).save(path)
    for url in (f"file://{private}", "http://photos.example/a.png"):
        code, _ = ask(record, picture(url))
        report.check(
            f"no picture is read from {url.split(':')[0]} elsewhere", code == 400, code=code
        )
    most = record.limits.pictures
    code, reply = ask(record, *[picture(f"file://{shown}")] * (most + 1))
    report.check(f"more than {most} pictures are refused", code == 400, code=code)
    code, reply = ask(record, *[picture(f"file://{shown}")] * 20)
    report.check("20 pictures in one request", code == 200, code=code, **_usage_of(reply))
    shown.unlink()


def _calls(report: Report, record: ServerRecord) -> None:
    tools = standard_tools()
    told = [{"name": t.name, "description": "", "parameters": t.parameters} for t in tools]
    schemas = {tool.name: tool.parameters for tool in tools}
    schema = call_schema(told, Limits(thought=24, text=24, items=2))
    faults: list[str] = []
    thinks = _opens_thinking(record)
    with ChatClient(record.endpoint, MODEL_NAME) as client:
        for number in range(_CALLS):
            messages = [{"role": "user", "content": f"question {number}"}]
            extra = {"thinking_token_budget": 32} if thinks else {}
            request = ChatRequest(messages, schema=schema, temperature=1.0, extra=extra)
            try:
                call = parse_constrained(client.chat(request).text)[1]
                faults += problems(call.arguments, schemas[call.name], call.name)
            except (PhotocraftError, KeyError) as error:
                faults.append(str(error)[:300])
    report.check("constrained replies are valid calls", not faults, calls=_CALLS, faults=faults)


def _thinking(report: Report, record: ServerRecord) -> None:
    """Where the template opens the model's thinking, the call begins after its end."""
    if not _opens_thinking(record):
        report.absent("thinking comes apart from the call", "the weights are no thinking variant")
        return
    schema = {"type": "object", "properties": {"a": {"enum": ["b"]}}, "required": ["a"]}
    schema["additionalProperties"] = False
    request = ChatRequest(
        [{"role": "user", "content": "Think."}],
        schema=schema,
        max_tokens=64,
        extra={"thinking_token_budget": 16},
    )
    with ChatClient(record.endpoint, MODEL_NAME) as client:
        reply = client.chat(request)
    report.check(
        "thinking comes apart from the call, free and within its budget",
        bool(reply.reasoning) and reply.text == '{"a":"b"}' and reply.finish == "stop",
        text=reply.text,
        reasoning_characters=len(reply.reasoning),
        generated=reply.usage.generated,
    )


def _opens_thinking(record: ServerRecord) -> bool:
    from photocraft_local.serving.vllm.checkpoint import Checkpoint

    return Checkpoint.read(record.weights).thinks


def ask(record: ServerRecord, *content: dict[str, Any]) -> tuple[int, Any]:
    body = {
        "model": MODEL_NAME,
        "messages": [{"role": "user", "content": list(content)}],
        "max_tokens": 4,
        "temperature": 0,
    }
    with health.open_client(record.endpoint, 120) as client:
        reply = client.post("/v1/chat/completions", json=body)
    return reply.status_code, reply.json()


def picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _usage(reply: Any) -> dict[str, Any]:
    usage = reply.get("usage") if isinstance(reply, dict) else None
    return usage if isinstance(usage, dict) else {}


def _usage_of(reply: Any) -> dict[str, Any]:
    return {"prompt_tokens": _usage(reply).get("prompt_tokens")}


def _said(reply: Any) -> Any:
    return (
        reply["choices"][0]["message"] if isinstance(reply, dict) and "choices" in reply else None
    )


def _grown(before: dict[str, float], after: dict[str, float], name: str) -> int | None:
    return int(after[name] - before.get(name, 0)) if name in after else None
