"""Notes are cut into passages and found by the words they share with the question."""

from __future__ import annotations

from pathlib import Path

from photocraft_local.tools.knowledge import best_passages, read_notes

NOTE = """# Family
Our dog is called Bruno.
- Aunt Ada lives in Porto
- Uncle Max: born 1950,
  likes trains

Second paragraph about the cabin by the lake.
"""


def test_paragraphs_and_bullets_are_passages_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "family.md").write_text(NOTE, "utf-8")
    notes = read_notes(tmp_path)
    assert [(p.line, p.text) for p in notes.passages] == [
        (1, "# Family Our dog is called Bruno."),
        (3, "Aunt Ada lives in Porto"),
        (4, "Uncle Max: born 1950, likes trains"),
        (7, "Second paragraph about the cabin by the lake."),
    ]


def test_the_passage_with_the_rarer_words_comes_first(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(NOTE, "utf-8")
    found = best_passages(read_notes(tmp_path), "where does aunt Ada live? Porto")
    assert found[0][1].text == "Aunt Ada lives in Porto"
    assert found[0][0] > 0
    assert best_passages(read_notes(tmp_path), "zeppelin") == []


def test_other_scripts_are_searched_by_character(tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("奶奶住在北京\n\n狗叫小黑\n", "utf-8")
    assert best_passages(read_notes(tmp_path), "北京")[0][1].text == "奶奶住在北京"


def test_only_notes_are_read_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.txt").write_bytes(b"caf\xe9 note")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "big.md").write_bytes(b"a" * 2_000_001)
    (tmp_path / "link.txt").symlink_to("/etc/hostname")
    notes = read_notes(tmp_path)
    assert [p.source for p in notes.passages] == ["sub/x.txt"]
    assert notes.left_out == ("big.md: larger than 2000000 bytes",)
    assert read_notes(tmp_path, "x").num_files == 1
    assert read_notes(tmp_path, "nothing").num_files == 0


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    notes = read_notes(tmp_path / "absent")
    assert (notes.passages, notes.num_files) == ((), 0)
    assert best_passages(notes, "dog") == []
