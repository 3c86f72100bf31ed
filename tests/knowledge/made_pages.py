"""Pages that the tests of local knowledge make: PDF by hand, MHTML, and saved HTML."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

from PIL import Image

Pdf = bytes


@dataclass
class Sheet:
    """One page of a PDF. ``lines``: (x, y, size, words) in points; ``pictures``: (JPEG, box)."""

    lines: Sequence[tuple[float, float, float, str]] = ()
    pictures: Sequence[tuple[Path, tuple[float, float, float, float]]] = field(default_factory=list)


def pdf(*sheets: Sheet, title: str = "", encrypted: bool = False) -> Pdf:
    """A whole file with its table of objects. Objects 1 and 2 are catalog and page tree."""
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: b"<< /Title (%s) >>" % title.encode(),
    }
    pages = [_sheet(sheet, objects) for sheet in sheets]
    kids = b" ".join(b"%d 0 R" % page for page in pages)
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))
    rest = b"/Root 1 0 R /Info 4 0 R"
    if encrypted:
        word = b"<" + b"ab" * 32 + b">"
        number = max(objects) + 1
        objects[number] = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O %s /U %s >>" % (word, word)
        rest += b" /Encrypt %d 0 R /ID [<00><00>]" % number
    return _file(objects, rest)


def _sheet(sheet: Sheet, objects: dict[int, bytes]) -> int:
    drawn, names = [], []
    for number, (path, (x, y, width, height)) in enumerate(sheet.pictures):
        raw = path.read_bytes()
        with Image.open(path) as image:
            facts = b"/Width %d /Height %d" % image.size
        head = b"<< /Type /XObject /Subtype /Image " + facts + b" /ColorSpace /DeviceRGB"
        head += b" /BitsPerComponent 8 /Filter /DCTDecode /Length %d >>" % len(raw)
        at = max(objects) + 1
        objects[at] = head + b"\nstream\n" + raw + b"\nendstream"
        names.append(b"/I%d %d 0 R" % (number, at))
        box = " ".join(map(str, (width, 0, 0, height, x, y)))
        drawn.append(f"q {box} cm /I{number} Do Q".encode())
    for x, y, size, words in sheet.lines:
        said = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        drawn.append(f"BT /F1 {size} Tf {x} {y} Td ({said}) Tj ET".encode("cp1252"))
    content = b"\n".join(drawn)
    at = max(objects) + 1
    objects[at] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R" % at
    page += b" /Resources << /Font << /F1 3 0 R >> /XObject << %s >> >> >>" % b" ".join(names)
    objects[at + 1] = page
    return at + 1


def _file(objects: dict[int, bytes], rest: bytes) -> Pdf:
    out, starts = b"%PDF-1.4\n", {}
    for number in sorted(objects):
        starts[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    table = b"".join(b"%010d 00000 n \n" % starts[number] for number in sorted(objects))
    size = len(objects) + 1
    where = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, rest, where)


def mhtml(markup: str, pictures: dict[str, Path]) -> bytes:
    """As browsers save it; ``pictures``: address or ``cid:`` name → JPEG."""
    whole = EmailMessage()
    whole["Subject"] = "A saved page"
    whole["MIME-Version"] = "1.0"
    whole.add_related(
        markup.encode(), "text", "html", headers=["Content-Location: http://page.example/a/b.html"]
    )
    page = whole.get_payload(0)
    assert isinstance(page, EmailMessage)
    page.set_param("charset", "utf-8")
    for address, path in pictures.items():
        name = "Content-ID" if address.startswith("cid:") else "Content-Location"
        value = f"<{address[4:]}>" if address.startswith("cid:") else address
        whole.add_related(path.read_bytes(), "image", "jpeg", headers=[f"{name}: {value}"])
    return whole.as_bytes()


def data_uri(path: Path) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(path.read_bytes()).decode()
