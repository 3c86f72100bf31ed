"""What the foreign loop stands on: three tools over a folder of photos, and who calls them.

Nothing here knows photocraft: it is what a loop of somebody else's brings along.
"""

from __future__ import annotations

import argparse
import json
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from PIL import ExifTags, Image

Message = dict[str, Any]
PAGE = 10
SUMMARY = "Summary of the turns so far"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass
class Run:
    """What came of a question, and how large the prompts were, in tokens."""

    answer: list[str] | None = None
    turns: int = 0
    compactions: int = 0
    largest: int = 0  # prompt that was sent
    unbounded: int = 0  # all messages, as they would stand without a memory


class Model(Protocol):
    write: Callable[[list[Message]], str] | None

    def reply(self, messages: Sequence[Message], tools: Sequence[Message]) -> Message: ...


class Tools:
    """A list of the folder, a check of one photo, the answer."""

    def __init__(self, folder: Path) -> None:
        suffixes = (".jpg", ".jpeg", ".png")
        self._files = {f.name: f for f in sorted(folder.iterdir()) if f.suffix.lower() in suffixes}

    def schemas(self) -> list[Message]:
        text, number = {"type": "string"}, {"type": "integer"}
        files = {"type": "array", "items": text}
        return [
            _schema("list_photos", "Ten file names of the folder.", page=number),
            _schema(
                "check", "Was this photo taken in that year?", file=text, asked=text, year=number
            ),
            _schema("answer", "End, with the photos that fit.", files=files),
        ]

    def call(self, name: str, given: Mapping[str, Any]) -> Message:
        try:
            return {"list_photos": self._page, "check": self._check, "answer": self._answer}[name](
                given
            )
        except (KeyError, ValueError, TypeError, OSError) as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _page(self, given: Mapping[str, Any]) -> Message:
        start = (int(given["page"]) - 1) * PAGE
        return {"files": list(self._files)[start : start + PAGE], "of": len(self._files)}

    def _check(self, given: Mapping[str, Any]) -> Message:
        file = str(given["file"])
        facts = _facts(self._files[file])
        fits = str(facts.get("DateTimeOriginal", "")).startswith(f"{int(given['year'])}:")
        return {"checked": [{"file": file, "fits": fits}], "facts": facts}

    def _answer(self, given: Mapping[str, Any]) -> Message:
        unknown = [file for file in given["files"] if file not in self._files]
        return {"error": f"no such photos: {unknown}"} if unknown else {"files": given["files"]}


class Rules:
    """Plays a model, and reads nothing but the messages: what has left them, it does not know."""

    write = None

    def reply(self, messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        year = int(json.loads(messages[1]["content"].split("JSON: ", 1)[1])["year"])
        known: dict[str, bool] = {}
        page: list[str] | None = None
        for message in messages:
            content = message["content"]
            if message["role"] == "user" and content.startswith(SUMMARY):
                known |= _remembered(json.loads(content.split("\n", 1)[1])["working"])
            if message["role"] == "tool":
                told = json.loads(content)
                result = told.get("result", told)
                known |= {row["file"]: row["fits"] for row in result.get("checked", ())}
                page = result.get("files", page)
        return _asked(len(messages), *_next(known, page, year))


def _next(known: Mapping[str, bool], page: Sequence[str] | None, year: int) -> tuple[str, Message]:
    left = [file for file in page or () if file not in known]
    if left:
        asked = f"taken in {year}"
        return "check", {"file": left[0], "asked": asked, "year": year}
    if page is not None and len(page) < PAGE:
        return "answer", {"files": sorted(file for file, fits in known.items() if fits)}
    return "list_photos", {"page": len(known) // PAGE + 1}


def _remembered(working: Mapping[str, Any]) -> dict[str, bool]:
    """The verdicts in a summary: ids by reason, in one text or in a list."""
    kinds = (("confirmed", True), ("rejected", False))
    groups = [(some, fits) for kind, fits in kinds for some in working[kind].values()]
    return {
        file: fits
        for some, fits in groups
        for file in (some.split() if isinstance(some, str) else some)
    }


def _asked(number: int, name: str, arguments: Message) -> Message:
    call = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"call_{number}_{name}", "type": "function", "function": call}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


class Server:
    """A model behind an OpenAI-compatible server on this machine."""

    def __init__(self, url: str, model: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname not in LOOPBACK:
            raise SystemExit(f"{url} is not on this machine: http://127.0.0.1:PORT is")
        self._url, self._model = f"{url.rstrip('/')}/v1/chat/completions", model

    def reply(self, messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        return self._post(messages, tools=list(tools))

    def write(self, messages: list[Message]) -> str:
        return str(self._post(messages).get("content") or "")

    def _post(self, messages: Sequence[Message], **more: Any) -> Message:
        body = json.dumps({"model": self._model, "messages": list(messages), **more}).encode()
        asked = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=300) as answer:
            message: Message = json.load(answer)["choices"][0]["message"]
        return message


def opening(question: str) -> list[Message]:
    told = "You find photos in a folder: list its pages, check each photo once, then answer."
    return [{"role": "system", "content": told}, {"role": "user", "content": question}]


def forgetting(
    history: Sequence[Message], most: int, *, count: Callable[..., int]
) -> list[Message]:
    """The opening and the newest turns that fit: what a loop without a memory sends."""
    sizes = [count([message]) for message in history]
    first = 2
    while sum(sizes[:2]) + sum(sizes[first:]) > most and first < len(history) - 2:
        first += 2  # a call and its result
    return [*history[:2], *history[first:]]


def main(loop: Callable[..., Run]) -> int:
    parser = argparse.ArgumentParser(description="Which photos of a folder were taken in a year?")
    parser.add_argument("folder", type=Path)
    parser.add_argument("year", type=int)
    parser.add_argument("--url", help="of a model server on this machine")
    parser.add_argument("--model", default="default", help="its name there")
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--window", type=int, default=8192)
    parser.add_argument("--forget", action="store_true", help="send the newest messages only")
    given = parser.parse_args()
    question = (
        f"Which photos were taken in {given.year}? As JSON: {json.dumps({'year': given.year})}"
    )
    model = Server(given.url, given.model) if given.url else Rules()
    how = {"turns": given.turns, "window": given.window, "forget": given.forget}
    run = loop(question, model, Tools(given.folder), **how)
    for file in run.answer or ():
        print(file)
    print(json.dumps(asdict(run)))
    return 0 if run.answer is not None else 1


def _schema(name: str, description: str, **properties: Message) -> Message:
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _facts(file: Path) -> Message:
    """What the photo's header says."""
    with Image.open(file) as picture:
        exif = picture.getexif()
        tags = {**exif, **exif.get_ifd(ExifTags.IFD.Exif)}
        facts = {ExifTags.TAGS.get(tag, str(tag)): str(value)[:80] for tag, value in tags.items()}
        return {"width": picture.width, "height": picture.height, **facts}
