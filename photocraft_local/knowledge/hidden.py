"""Which parts of a page a reader never sees: by attribute, inline style, or a plain rule of the
page's own style sheets. Rules for print or small screens and with pseudo-classes do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(?:[;!}]|$)"
    r"|font-size\s*:\s*0*\.?0+\s*(?:[a-z%]+\s*)?(?:[;!}]|$)|text-indent\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MAX_CSS = 500_000  # characters of all sheets together
_MAX_SELECTORS = 300


def says_hidden(node: LexborNode) -> bool:
    """By its own attributes."""
    given = node.attributes
    if "hidden" in given or (given.get("aria-hidden") or "").strip().lower() == "true":
        return True
    return bool(_UNSEEN.search(given.get("style") or ""))


def hidden_by_rules(tree: LexborHTMLParser) -> frozenset[int]:
    """``mem_id`` of the elements that a rule hides."""
    from selectolax.lexbor import SelectolaxError

    found: set[int] = set()
    selectors = list(_hiding_selectors(tree))[:_MAX_SELECTORS]
    for selector in selectors:
        try:
            found.update(node.mem_id for node in tree.css(selector))
        except SelectolaxError:  # not a selector; a browser drops it too
            continue
    return frozenset(found)


def _hiding_selectors(tree: LexborHTMLParser) -> Iterator[str]:
    sheets = "\n".join(node.text() or "" for node in tree.css("style"))[:_MAX_CSS]
    for prelude, body in _rules(_COMMENT.sub(" ", sheets)):
        if _UNSEEN.search(body):
            yield from (
                part.strip() for part in prelude.split(",") if part.strip() and ":" not in part
            )


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """(selectors, body) of rules that stand in no other block."""
    depth, start, prelude = 0, 0, ""
    for brace in re.finditer("[{}]", css):
        at = brace.start()
        if brace[0] == "{":
            if depth == 0:
                prelude, start = css[start:at].rpartition(";")[2].strip(), at + 1
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                if not prelude.startswith("@"):
                    yield prelude, css[start:at]
                start = at + 1
