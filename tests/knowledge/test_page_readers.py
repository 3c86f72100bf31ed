"""Each kind of page gives its bullet points and its pictures with captions, and nothing hidden."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from made_pages import Sheet, data_uri, mhtml, pdf
from PIL import Image

from photocraft_local.errors import MissingExtraError, PageError
from photocraft_local.knowledge import draft, pages
from photocraft_local.knowledge.pages import Page

Read = Callable[..., Page]


def said(page: Page) -> list[str]:
    return [passage.text for passage in page.passages if passage.picture is None]


def captions(page: Page) -> list[str]:
    return [passage.text for passage in page.passages if passage.picture is not None]


def test_a_saved_page_gives_bullet_points_under_their_headings(page_of: Read) -> None:
    page = page_of(
        "trip.html",
        "<title>Our &amp; trip</title><nav>Home | About</nav><h2>Porto</h2><p>We saw the <b>bri</b>"
        "dge.<ul><li>one<li>two <ul><li>inner</ul></ul><table><tr><td>port<td>wine</table>"
        "<h2>Empty</h2><footer>imprint</footer>",
    )
    assert page.title == "Our & trip"
    under_porto = ["We saw the bridge.", "one", "two", "inner", "port | wine"]
    assert [(p.heading, p.text) for p in page.passages] == [
        *(("Porto", text) for text in under_porto),
        ("", "Empty"),
    ]


def test_pictures_beside_the_page_come_with_their_captions(
    page_of: Read, tmp_path: Path, jpegs: list[Path]
) -> None:
    folder = tmp_path / "pages" / "trip_files"
    folder.mkdir(parents=True)
    for name, source in zip(("a.jpg", "b c.jpg", "d.jpg"), jpegs, strict=False):
        (folder / name).write_bytes(source.read_bytes())
    page = page_of(
        "trip.html",
        '<h1>Zoo</h1><figure><img src="trip_files/a.jpg" alt="x.jpg"><figcaption>The <i>old</i> '
        'gate</figcaption></figure><img src="./trip_files/b%20c.jpg?v=2" alt="Two elephants">'
        '<p>Lunch there. <img src="http://cdn.example/d.jpg" srcset="trip_files/d.jpg 2x"></p>',
    )
    assert captions(page) == ["The old gate", "Two elephants", "Lunch there."]
    assert [Path(os.fsdecode(p.path)).name for p in page.pictures] == ["a.jpg", "b c.jpg", "d.jpg"]
    assert all(picture.is_original for picture in page.pictures)
    with Image.open(jpegs[0]) as image:
        assert (page.pictures[0].width, page.pictures[0].height) == image.size


def test_nothing_outside_the_folder_and_no_other_machine_is_read(
    page_of: Read, tmp_path: Path, jpegs: list[Path]
) -> None:
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(jpegs[0].read_bytes())
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "link.jpg").symlink_to(secret)
    references = ["../secret.jpg", str(secret), f"file://{secret}", "link.jpg", "..%2fsecret.jpg"]
    remote = [
        "http://a.example/x.jpg",
        "//a.example/x.jpg",
        "https:x.jpg",
        "ftp://a/x",
        "file://h/x",
    ]
    odd = ["gone.jpg", "a%00b.jpg", "data:image/png;base64,@@@", "data:nothing", "javascript:x()"]
    page = page_of("p.html", "x".join(f'<img src="{one}">' for one in [*references, *remote, *odd]))
    assert page.pictures == ()
    assert sum(page.left_out.values()) == len(references) + len(remote) + len(odd)
    assert page.left_out["pictures outside the folder"] == len(references)
    assert page.left_out["pictures on other machines"] >= len(remote)


def test_what_a_reader_never_sees_is_no_passage(page_of: Read) -> None:
    hidden = [
        "<script>alert('no')</script>", "<style>p{color:red}</style>", "<template>no</template>",
        "<p hidden>no</p>", "<p style='display: none'>no</p>", "<div class=h><p>no</p></div>",
        "<p style='font-size:0'>no</p>", "<p style='opacity:0'>no</p>", "<noscript>no</noscript>",
        "<p style='visibility:hidden'>no</p>", "<!-- no -->", "<p id=i>no</p>",
        "<p aria-hidden=true>no</p>", "<iframe srcdoc='no'>no</iframe>", "<textarea>no</textarea>",
        "<figure hidden><figcaption>no</figcaption></figure>",
    ]  # fmt: skip
    rules = (
        "<style>/* .s{display:none} */ .h, #i { color:red; display:none }"
        "@media print { .s { display: none } } .s:hover{display:none} ][{display:none}</style>"
    )
    shown = "<p class=s>yes</p><p style='opacity:0.9;font-size:10px'>also</p>"
    assert said(page_of("p.html", rules + "".join(hidden) + shown)) == ["yes", "also"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<p>café".encode(), "café"),
        ("<p>café".encode("cp1252"), "café"),
        ('<meta charset="latin1"><p>caf\xe9 \x80'.encode("latin1"), "café €"),
        ("\ufeff<p>北京".encode("utf-16-le"), "北京"),
        ('<meta charset="gb18030"><p>北京'.encode("gb18030"), "北京"),
        ('<meta charset="utf-7"><p>+ADw-x café'.encode(), "+ADw-x café"),
        (b'<meta charset="unicode_escape"><p>\\x41', "\\x41"),
        (b'<meta charset="utf-16"><p>plain', "plain"),
        (b'<meta charset="no-such"><p>plain', "plain"),
        (b"<p>a\0b &#0; &#xD800; &notin; &#9999999999;", "ab � � ∉ �"),
    ],
)
def test_encodings_and_entities(page_of: Read, raw: bytes, text: str) -> None:
    assert said(page_of("p.html", raw)) == [text]


def test_markdown_has_lines_lists_tables_and_pictures(
    page_of: Read, tmp_path: Path, jpegs: list[Path]
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "dog.jpg").write_bytes(jpegs[0].read_bytes())
    page = page_of(
        "n.md",
        "---\nsecret: x\n---\n# Family\n\nOur dog is *Bruno*.\n\n- Aunt Ada\n  lives in Porto\n"
        "- [Max](http://x.example)\n\n| a | b |\n|---|---|\n| c | d |\n\n"
        "![Bruno at home](dog.jpg)\n",
    )
    assert [(p.place, p.text) for p in page.passages] == [
        ("line 6", "Our dog is Bruno."),
        ("line 8", "Aunt Ada lives in Porto"),
        ("line 10", "Max"),
        ("line 12", "a | b"),
        ("line 14", "c | d"),
        ("line 16", "Bruno at home"),
    ]
    assert captions(page) == ["Bruno at home"]
    assert {passage.heading for passage in page.passages} == {"Family"}


def test_plain_text_is_cut_at_blank_lines_and_bullets(page_of: Read) -> None:
    page = page_of("n.txt", b"caf\xe9\r\n two lines\n\n- a <b>\n1) b\n\n  \n")
    assert [(p.place, p.text) for p in page.passages] == [
        ("line 1", "café two lines"),
        ("line 4", "a <b>"),
        ("line 5", "b"),
    ]


def test_a_single_file_page_brings_its_pictures_along(page_of: Read, jpegs: list[Path]) -> None:
    markup = (
        '<h1>Caf\u00e9</h1><img src="../pic/1.jpg" alt="first"><img src="cid:two@x" alt="second">'
        f'<img src="{data_uri(jpegs[2])}" alt="third"><img src="http://page.example/none.jpg">'
    )
    raw = mhtml(markup, {"http://page.example/pic/1.jpg": jpegs[0], "cid:two@x": jpegs[1]})
    page = page_of("p.mhtml", raw)
    assert captions(page) == ["first", "second", "third"]
    assert page.passages[0].heading == "Café"
    assert [Path(os.fsdecode(p.path)).read_bytes() for p in page.pictures] == [
        path.read_bytes() for path in jpegs[:3]
    ]
    assert not any(picture.is_original for picture in page.pictures)
    assert page.left_out == {"pictures on other machines": 1}


def test_a_pdf_gives_paragraphs_bullets_and_captions(page_of: Read, jpegs: list[Path]) -> None:
    first = Sheet(
        lines=[
            (72, 780, 20, "Lisbon guide"),
            (72, 740, 11, "The tower stands by the river and was fin-"),
            (72, 727, 11, "ished in 1519."),
            (72, 690, 11, "- open on Mondays"),
            (72, 677, 11, "- closed on Fridays"),
            (72, 385, 11, "Figure 1: the tower at dusk"),
            (72, -400, 11, "outside of the page"),
        ],
        pictures=[(jpegs[0], (72, 400, 300, 200))],
    )
    page = page_of("g.pdf", pdf(first, Sheet(lines=[(72, 700, 11, "Second page")]), title="Guide"))
    assert page.title == "Guide"
    assert [(p.place, p.text) for p in page.passages if p.picture is None] == [
        ("page 1", "Lisbon guide"),
        ("page 1", "The tower stands by the river and was finished in 1519."),
        ("page 1", "open on Mondays"),
        ("page 1", "closed on Fridays"),
        ("page 1", "Figure 1: the tower at dusk"),
        ("page 2", "Second page"),
    ]
    assert captions(page) == ["Figure 1: the tower at dusk"]
    with Image.open(jpegs[0]) as image:
        assert (page.pictures[0].width, page.pictures[0].height) == image.size


def refused(page_of: Read, name: str, content: bytes) -> str:
    with pytest.raises(PageError) as caught:
        page_of(name, content)
    assert caught.value.message
    return caught.value.reason


def test_what_cannot_be_read_has_a_reason(page_of: Read, jpegs: list[Path]) -> None:
    whole = pdf(Sheet(lines=[(72, 700, 11, "words")]))
    assert refused(page_of, "a.pdf", pdf(Sheet(lines=[(9, 9, 9, "x")]), encrypted=True)) == (
        "encrypted"
    )
    assert refused(page_of, "b.pdf", b"%PDF-1.4\nno more") == "damaged"
    assert refused(page_of, "c.pdf", b"") == "damaged"
    assert refused(page_of, "d.pdf", pdf(Sheet(pictures=[(jpegs[0], (0, 0, 595, 842))]))) == (
        "no-text"
    )
    assert page_of("cut.pdf", whole[:-20]).passages  # where its table of objects is, is not said
    assert refused(page_of, "a.mhtml", b"From: nobody\n\nno page") == "damaged"
    assert refused(page_of, "b.mhtml", mhtml("", {})) == "damaged"
    assert refused(page_of, "a.txt", os.urandom(3000)) == "damaged"
    assert refused(page_of, "a.html", b"<script>only()</script>") == "no-text"
    assert refused(page_of, "a.md", b"") == "no-text"


def test_limits_hold_and_are_told(
    page_of: Read, monkeypatch: pytest.MonkeyPatch, jpegs: list[Path]
) -> None:
    long = "A sentence of some words. " * 60 + "w" * 1200
    page = page_of("long.html", f"<h1>{long}</h1><p>{long}</p>")
    assert all(len(text) <= pages.LONGEST for text in said(page))
    assert "".join("".join(said(page)).split()) == "".join(long.split())
    assert len(page.passages[0].heading) <= pages.LONGEST_HEADING
    monkeypatch.setattr(draft, "MAX_PASSAGES", 3)
    assert page_of("many.html", "<li>a" * 10).left_out == {"passages beyond the limit": 7}
    monkeypatch.setattr(draft, "MAX_PICTURES", 1)
    two = "".join(f'<img src="{data_uri(path)}">' for path in jpegs[:2])
    assert page_of("two.html", two).left_out == {"pictures beyond the limit": 1}
    monkeypatch.setitem(pages.MAX_FILE_BYTES, "text", 10)
    assert refused(page_of, "large.txt", b"a" * 11) == "too-large"


def test_icons_and_broken_pictures_are_left_out(page_of: Read, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    Image.new("RGB", (1, 1)).save(folder / "dot.gif")
    (folder / "half.jpg").write_bytes(b"\xff\xd8\xff\xe0 torn")
    page = page_of("p.html", '<p>text<img src="dot.gif"><img src="half.jpg">')
    assert page.pictures == ()
    assert page.left_out == {
        "pictures too small to show anything": 1,
        "pictures that are broken": 1,
    }


@pytest.mark.parametrize(
    ("module", "name"), [("selectolax", "p.html"), ("pypdfium2", "p.pdf"), ("markdown_it", "p.md")]
)
def test_an_absent_package_names_its_extra(
    page_of: Read, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    for absent in (module, f"{module}.lexbor"):
        monkeypatch.setitem(__import__("sys").modules, absent, None)
    with pytest.raises(MissingExtraError) as caught:
        page_of(name, "<p>x" if name != "p.pdf" else pdf(Sheet(lines=[(9, 9, 9, "x")])))
    assert caught.value.module == module
    assert "photocraft-local[cpu]" in caught.value.hint
