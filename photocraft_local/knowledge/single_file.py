"""MHTML, a saved page in one file: its HTML, and its pictures as parts beside it."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import Message

from photocraft_local.errors import PageError
from photocraft_local.knowledge.draft import Draft
from photocraft_local.knowledge.encodings import text_of
from photocraft_local.knowledge.references import Inside
from photocraft_local.knowledge.web_page import read_html

_MAX_PARTS = 5_000


def read_mhtml(raw: bytes, draft: Draft) -> None:
    """Fill ``draft``. Raises PageError, MissingExtraError."""
    try:
        message = message_from_bytes(raw, policy=policy.compat32)
        parts = [part for part in message.walk() if not part.is_multipart()][:_MAX_PARTS]
    except (RecursionError, ValueError, LookupError) as exc:
        raise PageError("damaged", f"it is no readable MHTML: {exc}") from exc
    page = next((part for part in parts if part.get_content_type() == "text/html"), None)
    content = page.get_payload(decode=True) if page is not None else None
    if page is None or not isinstance(content, bytes) or not content.strip():
        raise PageError("damaged", "there is no page in the MHTML file")
    addresses: dict[str, Message] = {}
    for part in parts:
        for address in (_header(part, "Content-Location"), _content_id(part)):
            if address and part.get_content_maintype() == "image":
                addresses.setdefault(address, part)
    declared = str(page.get_param("charset", "") or "")
    find = Inside(addresses, _header(page, "Content-Location"))
    read_html(text_of(content, declared), draft, find)


def _header(part: Message, name: str) -> str:
    return str(part.get(name, "")).strip()


def _content_id(part: Message) -> str:
    name = _header(part, "Content-ID").strip("<>")
    return f"cid:{name}" if name else ""
