"""Is a picture a screenshot? By its name, its folder or its comment; never by its pixels."""

from __future__ import annotations

import re
from typing import Final

from photocraft_local.files.tiff import Value

# English, German, French, Spanish, Portuguese, Italian, Dutch, Chinese, Japanese, Korean names
# that phones and desktops give.
_WORDS: Final = re.compile(
    "|".join(
        [
            r"screen[-_ ]?shots?", r"screen[-_ ]?(?:capture|grab)", r"bildschirmfotos?",
            r"capture[-_ ]d['’._ -]?[eé]cran", r"captura[s]?[-_ ]de[-_ ](?:pantalla|ecr[aã])",
            r"captura[s]?[-_ ]de[-_ ]tela", r"schermata", r"schermafbeelding", r"schermopname",
            "截屏", "截图", "屏幕快照", "螢幕截圖", "スクリーンショット", "스크린샷",
        ]
    ),
    re.IGNORECASE,
)  # fmt: skip

# Each word has one of these; the cheap search spares most names the long one.
_HINT: Final = re.compile(rb"scre|bild|capt|scher|[\x80-\xff]", re.IGNORECASE)


def is_screenshot(path: bytes, comment: Value | None, xmp: dict[str, str]) -> bool:
    """``path`` counts with its folder; ``comment`` is EXIF's UserComment."""
    start = path.rfind(b"/", 0, path.rfind(b"/")) + 1
    if _HINT.search(path, start) and _WORDS.search(path[start:].decode("utf-8", "replace")):
        return True
    if isinstance(comment, bytes) and comment[8:32].strip(b"\0 ").lower() == b"screenshot":
        return True
    return xmp.get("exif:UserComment", "").lower() == "screenshot"
