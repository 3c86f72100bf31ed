"""PDF → passages by the lines' distances, and its pictures with the words below or above them.

Scans without a text layer have nothing to look up and are refused. Knows nothing of pages of
the web.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from photocraft_local.errors import MissingExtraError, PageError
from photocraft_local.imaging.pictures import jpeg_bytes
from photocraft_local.knowledge.draft import Draft
from photocraft_local.knowledge.pages import MAX_PDF_PAGES, MAX_PICTURES
from photocraft_local.knowledge.references import BROKEN

if TYPE_CHECKING:
    import pypdfium2

_BULLET = re.compile(r"^\s*(?:[•◦▪‣·*-]|\d+[.)])\s+")
_HYPHEN = "\x02"  # what pdfium gives for one at the end of a line
_MAX_RECTS = 20_000  # runs of text on one page
_MAX_PIXELS = 40_000_000
_LEAST_SIDE = 64  # px
_LONGEST_SIDE = 2048  # px of a picture that is kept
_CAPTION_REACH = 40.0  # points between a picture and its caption
_NEW_PARAGRAPH = 0.7  # of a line's height


@dataclass(frozen=True, slots=True)
class _Line:
    """Words of one line; points, y upwards."""

    left: float
    bottom: float
    right: float
    top: float
    text: str

    @property
    def height(self) -> float:
        return self.top - self.bottom


def read_pdf(path: Path, draft: Draft) -> None:
    """Fill ``draft``. Raises PageError, MissingExtraError."""
    try:
        import pypdfium2
    except ImportError as exc:
        raise MissingExtraError("pypdfium2", "cpu", "reading PDF") from exc
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        if "password" in str(exc).lower() or "security" in str(exc).lower():
            raise PageError("encrypted", "it is encrypted and wants a password") from exc
        raise PageError("damaged", f"it is no readable PDF: {exc}") from exc
    with document:
        draft.title = document.get_metadata_value("Title")
        num_lines = num_pictures = 0
        for number in range(min(len(document), MAX_PDF_PAGES)):
            try:
                page = document[number]
                lines = _lines(page)
            except pypdfium2.PdfiumError:
                draft.left_out["pages that are damaged"] += 1
                continue
            num_lines += len(lines)
            _read_page(page, lines, f"page {number + 1}", draft)
            num_pictures += sum(1 for _ in _pictures(page))
            page.close()
        beyond = len(document) - MAX_PDF_PAGES
        if beyond > 0:
            draft.left_out["pages beyond the limit"] += beyond
    if not num_lines:
        what = "scanned pages without a text layer" if num_pictures else "no text"
        raise PageError("no-text", f"it holds {what}")


def _read_page(page: pypdfium2.PdfPage, lines: Sequence[_Line], place: str, draft: Draft) -> None:
    for text in _paragraphs(lines):
        draft.text(text, place)
    for number, picture in enumerate(_pictures(page)):
        if number >= MAX_PICTURES:
            draft.left_out["pictures beyond the limit"] += 1
            return
        content = _content(picture)
        if isinstance(content, str):
            draft.left_out[content] += 1
        elif content:
            draft.picture(content, [_caption(picture.get_bounds(), lines)], place)


def _lines(page: pypdfium2.PdfPage) -> list[_Line]:
    """From the top down. Text that lies outside the page is not seen and not read."""
    words = page.get_textpage()
    width, height = page.get_size()
    found: list[_Line] = []
    for number in range(min(words.count_rects(), _MAX_RECTS)):
        left, bottom, right, top = words.get_rect(number)
        text = " ".join(words.get_text_bounded(left, bottom, right, top).split())
        if not text or right < 0 or top < 0 or left > width or bottom > height:
            continue
        last = found[-1] if found else None
        if last and abs(last.bottom - bottom) < 0.4 * last.height and left >= last.right - 1:
            found[-1] = _Line(
                last.left,
                min(last.bottom, bottom),
                right,
                max(last.top, top),
                f"{last.text} {text}",
            )
        else:
            found.append(_Line(left, bottom, right, top, text))
    words.close()
    return found


def _paragraphs(lines: Sequence[_Line]) -> Iterator[str]:
    """Lines that stand close together and are equally high; a bullet starts a new one."""
    block: list[_Line] = []
    for line in lines:
        if block and _starts_paragraph(block[-1], line):
            yield _joined(block)
            block = []
        block.append(line)
    if block:
        yield _joined(block)


def _starts_paragraph(last: _Line, line: _Line) -> bool:
    if _BULLET.match(line.text):
        return True
    height = max(last.height, line.height, 1.0)
    gap = last.bottom - line.top
    return (
        gap > _NEW_PARAGRAPH * height
        or gap < -2 * height
        or min(last.height, line.height) < 0.6 * height
    )


def _joined(block: Sequence[_Line]) -> str:
    text = ""
    for line in block:
        is_broken = text.endswith(("-", _HYPHEN)) and line.text[:1].islower()
        text = text[:-1] + line.text if is_broken else f"{text} {line.text}"
    return _BULLET.sub("", text.strip().replace(_HYPHEN, "-"))


def _pictures(page: pypdfium2.PdfPage) -> Iterator[Any]:
    from pypdfium2 import raw

    yield from page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=4)


def _content(picture: Any) -> bytes | str:
    """JPEG of the picture, a reason, or nothing for one too small to show anything."""
    from pypdfium2 import PdfiumError

    try:
        width, height = picture.get_px_size()
        if min(width, height) < _LEAST_SIDE:
            return b""
        if width * height > _MAX_PIXELS:
            return "pictures with too many pixels"
        image = picture.get_bitmap().to_pil().convert("RGB")
    except (PdfiumError, ValueError, OSError, MemoryError):
        return BROKEN
    image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    return jpeg_bytes(image)


def _caption(bounds: tuple[float, float, float, float], lines: Sequence[_Line]) -> str:
    """The words close below the picture, or else close above."""
    left, bottom, right, top = bounds
    beside = [line for line in lines if line.left < right and line.right > left]
    below = [line for line in beside if 0 <= bottom - line.top <= _CAPTION_REACH]
    if below:
        first = max(below, key=lambda line: line.top)
        block = [line for line in beside if line.top <= first.top]
        return next(_paragraphs(sorted(block, key=lambda line: -line.top)), "")
    above = [line for line in beside if 0 <= line.bottom - top <= _CAPTION_REACH]
    return _joined([min(above, key=lambda line: line.bottom)]) if above else ""
