"""Pictures for a Qwen-VL model: resized to the family's sizes, named by content, laid out cheaply.

A picture's media uuid is made of its pixels as they are sent, so that a server may keep it by
that name for all turns and episodes and never mistakes one for another. Knows no photo's UID.
"""

from __future__ import annotations

import base64
import hashlib
import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote_to_bytes

import numpy as np
from PIL import Image

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.files.decode import decode_upright
from photocraft_local.imaging.contact_sheet import sheet_size
from photocraft_local.imaging.geometry import fit_inside
from photocraft_local.imaging.pictures import Pixels, fitted, png_bytes
from photocraft_local.serving.tokens import PICTURE_MARKS, PictureRule

_KEPT_BYTES = 256 << 20  # of encoded pictures, kept to be sent again
_UUID_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Prepared:
    """A picture as it goes to the server: encoded bytes of exactly ``width`` × ``height``."""

    uuid: str
    data: bytes
    kind: str  # "image/png" or "image/jpeg"
    width: int
    height: int
    tokens: int

    @property
    def url(self) -> str:
        return f"data:{self.kind};base64,{base64.b64encode(self.data).decode('ascii')}"


class PictureStore:
    """Prepares each picture once, by its source, and remembers which of them one server holds.

    One a server; safe to share between the threads of many episodes.
    """

    def __init__(self, rule: PictureRule, *, by_name: bool = True) -> None:
        """``by_name``: the server keeps a picture that it was sent, so that a name is enough."""
        self.rule = rule
        self.most = 0  # pictures that one prompt may hold, once the server has refused more
        self._by_name = by_name
        self._sent: set[str] = set()
        self._kept: OrderedDict[bytes, Prepared] = OrderedDict()
        self._num_bytes = 0
        self._lock = threading.Lock()

    def prepared(self, url: str) -> Prepared:
        """From a ``data:`` or ``file:`` URL. Raises PhotoError for what is no picture, and for
        any other kind of URL: nothing is fetched."""
        key = hashlib.sha256(url.encode()).digest()
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        made = _prepared(url, self.rule)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._num_bytes += len(made.data)
            while self._num_bytes > _KEPT_BYTES and len(self._kept) > 1:
                self._num_bytes -= len(self._kept.popitem(last=False)[1].data)
        return made

    def known(self, uuids: Iterable[str]) -> set[str]:
        """Those that the server was sent before; it may have let go of some."""
        with self._lock:
            return self._sent.intersection(uuids)

    def sent(self, uuids: Iterable[str]) -> None:
        with self._lock:
            if self._by_name:
                self._sent.update(uuids)

    def forget(self, uuids: Iterable[str]) -> None:
        """The server does not know one of these any more."""
        with self._lock:
            self._sent.difference_update(uuids)


def media_uuid(data: bytes, width: int, height: int) -> str:
    """The name of a picture that is sent as ``data``; other bytes or sizes, another name."""
    head = f"{width}x{height}:".encode()
    return hashlib.sha256(head + data).hexdigest()[:_UUID_CHARACTERS]


def _prepared(url: str, rule: PictureRule) -> Prepared:
    if url.startswith("file://"):
        pixels = decode_upright(unquote_to_bytes(url.removeprefix("file://"))).pixels
        return _encoded(pixels, rule)
    source = _data_of(url)
    try:
        with Image.open(io.BytesIO(source)) as image:
            fit = rule.fit(*image.size)
            as_it_is = (fit.canvas_width, fit.canvas_height) == image.size and not fit.padded
            kind = {"PNG": "image/png", "JPEG": "image/jpeg"}.get(image.format or "")
            if as_it_is and kind and image.mode == "RGB":
                image.load()  # what is cut off shows here, not at the server
                return _named(source, kind, *image.size, rule)
            pixels = np.asarray(image.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as exc:
        raise UnreadablePhoto(
            f"a picture of the prompt cannot be read: {exc}", hint="show the photo again"
        ) from exc
    return _encoded(pixels, rule)


def _encoded(pixels: Pixels, rule: PictureRule) -> Prepared:
    height, width = pixels.shape[:2]
    shown = fitted(pixels, rule.fit(width, height))
    return _named(png_bytes(shown), "image/png", shown.shape[1], shown.shape[0], rule)


def _named(data: bytes, kind: str, width: int, height: int, rule: PictureRule) -> Prepared:
    name = media_uuid(data, width, height)
    return Prepared(name, data, kind, width, height, rule.tokens(width, height))


def _data_of(url: str) -> bytes:
    head, comma, body = url.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise UnreadablePhoto(
            f"a picture of the prompt is no data or file URL: {url[:60]!r}",
            hint="pictures are never fetched; give their bytes or an absolute path",
        )
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as exc:
        raise UnreadablePhoto(f"a picture of the prompt is no base64: {exc}") from exc


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How many pictures are shown, and what it costs. ``separate`` and ``sheet`` are the tokens
    of either way; ``sheet`` is 0 where no sheet shows the asked detail."""

    kind: Literal["separate", "sheet"]
    separate: int
    sheet: int
    sheets: int  # on how many sheets

    @property
    def tokens(self) -> int:
        return self.separate if self.kind == "separate" else self.sheet


def cheapest(
    sizes: Sequence[tuple[int, int]],
    detail: int,
    rule: PictureRule,
    labels: Sequence[str] = (),
    count: Callable[[str], int] = lambda text: -(-len(text) // 3),
) -> Arrangement:
    """Numbered single pictures or labelled contact sheets, whichever costs fewer tokens.

    ``sizes`` are (width, height) in pixels, ``detail`` is the longer side in pixels at which
    each has to be seen; ``count`` gives the tokens of a single picture's label, which a sheet
    carries as pixels. A sheet that the family would reduce is split.
    """
    if not sizes:
        raise ValueError("there is nothing to show")
    shown = [fit_inside(width, height, detail) for width, height in sizes]
    separate = sum(rule.tokens(*size) + PICTURE_MARKS for size in shown)
    separate += sum(count(f"{number}. {text}:") for number, text in enumerate(labels, 1))
    sheets, on_sheets = _on_sheets(len(sizes), detail, rule)
    better = bool(on_sheets) and on_sheets < separate
    return Arrangement("sheet" if better else "separate", separate, on_sheets, sheets)


def _on_sheets(num: int, detail: int, rule: PictureRule) -> tuple[int, int]:
    """(sheets, tokens) of the fewest sheets that the family shows unreduced; tokens 0: none."""
    for sheets in range(1, num + 1):
        step = -(-num // sheets)
        counts = [min(step, num - at) for at in range(0, num, step)]
        drawn = [sheet_size(part, tile=detail) for part in counts]
        if all(_unreduced(size, rule) for size in drawn):
            return len(drawn), sum(rule.tokens(*size) + PICTURE_MARKS for size in drawn)
    return 0, 0


def _unreduced(size: tuple[int, int], rule: PictureRule) -> bool:
    fit = rule.fit(*size)
    return fit.canvas_width >= size[0] - rule.factor and fit.canvas_height >= size[1] - rule.factor
