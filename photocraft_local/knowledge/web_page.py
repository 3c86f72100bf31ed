"""HTML → passages and picture–caption pairs, by a parser that follows the HTML standard.

Scripts, menus, forms and what is hidden are left out. The walk is a loop, so that depth costs no
stack. Where a picture's reference leads is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.errors import MissingExtraError
from photocraft_local.knowledge.draft import Draft
from photocraft_local.knowledge.hidden import hidden_by_rules, says_hidden

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Finder = Callable[[str], "bytes | Path | str"]
"""A reference as the page writes it → the picture, or the reason why it is left out."""

_HEADING = re.compile("h[1-6]")
_LEFT_OUT = re.compile(
    "script|style|template|noscript|iframe|object|embed|applet|svg|math|canvas|audio|video|nav|menu"
    "|footer|dialog|form|button|select|textarea|input|head|title|link|meta|base|map|frameset"
)
_BLOCK = re.compile(
    "html|body|address|article|aside|blockquote|center|dd|details|div|dl|dt|fieldset|figcaption"
    "|figure|h[1-6]|header|hgroup|hr|legend|li|main|ol|p|pre|search|section|summary|table|caption"
    "|tbody|tfoot|thead|tr|ul"
)
_CELLS = ("td", "th")


def read_html(markup: str, draft: Draft, find: Finder) -> None:
    """Fill ``draft``. Raises MissingExtraError."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as exc:
        raise MissingExtraError("selectolax", "cpu", "reading HTML and Markdown") from exc
    tree = LexborHTMLParser(markup)
    title = tree.css_first("title")
    if title is not None and not draft.title:
        draft.title = title.text()
    top = tree.body or tree.root
    if top is not None:
        _Walk(draft, find, hidden_by_rules(tree)).run(top)


class _Walk:
    """Gathers a block's words until the block ends."""

    def __init__(self, draft: Draft, find: Finder, hidden: frozenset[int]) -> None:
        self._draft, self._find, self._hidden = draft, find, hidden
        self._words: list[str] = []
        self._waiting: list[tuple[str, list[str]]] = []  # pictures of the block: reference, words
        self._figures: list[tuple[list[tuple[str, list[str]]], list[str]]] = []  # and captions
        self._place = ""

    def run(self, top: LexborNode) -> None:
        node: LexborNode | None = top
        while node is not None:
            was_entered = self._enter(node)
            inner = node.child if was_entered else None
            if inner is not None:
                node = inner
                continue
            while node is not None:
                if was_entered:
                    self._leave(node)
                was_entered = True  # all that is above it was
                if node.mem_id == top.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
        self._end_block()

    def _enter(self, node: LexborNode) -> bool:
        """Whether to look inside."""
        tag = node.tag or ""
        if tag == "-text":
            self._words.append(node.text_content or "")
            return False
        if tag.startswith("-") or _LEFT_OUT.fullmatch(tag):
            return False
        if node.mem_id in self._hidden or says_hidden(node):
            return False
        if tag == "br":
            self._words.append(" ")
        elif tag == "img":
            self._take_picture(node)
        elif tag in _CELLS:
            self._words.append(" | " if self._text() else " ")
        elif _BLOCK.fullmatch(tag):
            self._end_block()
            line = node.attributes.get("data-line") or ""
            self._place = f"line {int(line):d}" if _is_number(line) else self._place
            if tag == "figure":
                self._figures.append(([], []))
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if _HEADING.fullmatch(tag) and self._text():
            self._draft.heading(self._text(), self._place)
            self._words = []
        elif tag == "figcaption" and self._figures:
            self._figures[-1][1].append(self._text())
            self._words = []
        elif tag == "figure" and self._figures:
            self._end_block()
            pictures, captions = self._figures.pop()
            for reference, words in pictures:
                self._show(reference, [" ".join(captions), *words])
            if not pictures:
                self._draft.text(" ".join(captions), self._place)
        if _BLOCK.fullmatch(tag):
            self._end_block()

    def _take_picture(self, node: LexborNode) -> None:
        given = {key: value or "" for key, value in node.attributes.items()}
        reference = given.get("src", "")
        choices = [one.split()[0] for one in given.get("srcset", "").split(",") if one.split()]
        if _is_remote(reference) or not reference:
            reference = next((one for one in choices if not _is_remote(one)), reference)
        if reference:
            self._waiting.append((reference, [given.get("alt", ""), given.get("title", "")]))

    def _end_block(self) -> None:
        text, self._words = self._text(), []
        waiting, self._waiting = self._waiting, []
        if self._figures:
            self._figures[-1][0].extend(waiting)
        else:
            for reference, words in waiting:
                self._show(reference, [*words, text])
        if text.strip(" |"):
            self._draft.text(text, self._place)

    def _show(self, reference: str, captions: list[str]) -> None:
        found = self._find(reference)
        if isinstance(found, str):
            self._draft.left_out[found] += 1
        else:
            self._draft.picture(found, captions, self._place)

    def _text(self) -> str:
        return " ".join("".join(self._words).split())


def _is_remote(reference: str) -> bool:
    return reference.lower().startswith(("http:", "https:", "//"))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9
