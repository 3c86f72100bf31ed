"""Plain text and Markdown → passages, with the lines on which they stand."""

from __future__ import annotations

import re

from photocraft_local.errors import MissingExtraError
from photocraft_local.knowledge.draft import Draft
from photocraft_local.knowledge.web_page import Finder, read_html

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)


def read_text(text: str, draft: Draft) -> None:
    """Blank lines and bullets start a passage."""
    block: list[str] = []
    start = 1
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if block and (not line.strip() or _BULLET.match(line)):
            draft.text(" ".join(block), f"line {start}")
            block = []
        if line.strip():
            start = start if block else number
            block.append(_BULLET.sub("", line).strip())


def read_markdown(text: str, draft: Draft, find: Finder) -> None:
    """By way of HTML, each block with its line. Raises MissingExtraError."""
    try:
        from markdown_it import MarkdownIt
    except ImportError as exc:
        raise MissingExtraError("markdown_it", "cpu", "reading Markdown") from exc
    text = text.replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    if front:  # facts about the note, not the note; its lines still count
        text = "\n" * front[0].count("\n") + text[front.end() :]
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    for token in tokens:
        if token.map and token.nesting >= 0 and token.type != "html_block":
            token.attrSet("data-line", str(token.map[0] + 1))
    read_html(markdown.renderer.render(tokens, markdown.options, {}), draft, find)
