"""Which photos of a folder have which captions, in the four layouts that are commonly found.

A table ``captions.csv`` (or ``captions.txt``, as Flickr8k has it), COCO's ``captions*.json``, and
text files beside the photos. docs/evaluation.md describes them. Knows no query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.pictures import fault_of, is_usable, pictures_of, plain_name
from photocraft_local.evaluation.problems import Problems, document, text_lines
from photocraft_local.evaluation.tables import columns_of, place_of, read_table

TABLES = ("captions.csv", "captions.txt")
HEADS = ("file", "image", "file_name", "filename")
_CAPTION = re.compile(r"captions?(_\d+)?")
_COCO = ("captions*.json", "annotations/captions*.json")
_COCO_FOLDERS = ("", "images")


@dataclass(frozen=True, slots=True)
class CaptionLine:
    """``may_repeat``: a photo may have several such lines."""

    where: str
    file: str
    captions: tuple[str, ...]
    is_complete: bool = True
    may_repeat: bool = True


def caption_lines(folder: Path, problems: Problems) -> Iterator[CaptionLine]:
    """Raises EvaluationError for a folder of none of the layouts."""
    for name in TABLES:
        if (folder / name).exists():
            return _table(folder / name, problems)
    files = sorted(path for pattern in _COCO for path in folder.glob(pattern))
    if files:
        return (line for path in files for line in _coco(folder, path, problems))
    if lines := list(_sidecars(folder, problems)):
        return iter(lines)
    raise EvaluationError(
        f"there is no table of captions in {folder}",
        hint="captions.csv (file,caption), COCO's captions*.json, or NAME.txt beside NAME.jpg;"
        " docs/evaluation.md describes them",
    )


def _table(path: Path, problems: Problems) -> Iterator[CaptionLine]:
    heads = columns_of(path)
    file = next((head for head in HEADS if head in heads), HEADS[0])
    captions = [head for head in heads if _CAPTION.fullmatch(head)]
    for row in read_table(path, {file}, problems):
        yield CaptionLine(
            place_of(path, row),
            row[file],
            tuple(row[head] for head in captions if row[head]),
            row.get("labels_complete", "1") == "1",
            may_repeat=len(captions) == 1,  # in two columns a photo needs no second line
        )


def _coco(folder: Path, path: Path, problems: Problems) -> Iterator[CaptionLine]:
    """``images`` (``id``, ``file_name``), ``annotations`` (``image_id``, ``caption``)."""
    found = document(path, problems)
    images, told = (_objects(found, name) for name in ("images", "annotations"))
    if images is None or told is None:
        problems.add("bad-line", path.name, "no object with images and annotations")
        return
    names: dict[Any, str] = {}
    for number, image in enumerate(images):
        name, mark = image.get("file_name"), image.get("id")
        if isinstance(name, str) and isinstance(mark, int | str):
            names[mark] = _in_folder(folder, name)
            yield CaptionLine(f"{path.name} images[{number}]", names[mark], ())
        else:
            problems.add("bad-line", f"{path.name} images[{number}]", "no id and file_name")
    for number, note in enumerate(told):
        mark, text = note.get("image_id"), note.get("caption")
        where = f"{path.name} annotations[{number}]"
        if not isinstance(mark, int | str) or not isinstance(text, str):
            problems.add("bad-line", where, "no image_id and caption")
        elif mark not in names:
            problems.add("missing-image", where, f"there is no image {mark!r}")
        elif text.strip():
            yield CaptionLine(where, names[mark], (text.strip(),))


def _objects(found: Any, name: str) -> list[dict[str, Any]] | None:
    part = found.get(name) if isinstance(found, dict) else None
    if not isinstance(part, list):
        return None
    return [one if isinstance(one, dict) else {} for one in part]


def _in_folder(folder: Path, name: str) -> str:
    """Beside the file, or where COCO's own archives put it."""
    for part in _COCO_FOLDERS:
        inner = plain_name(f"{part}/{name}" if part else name)
        if fault_of(folder, inner) == ("", ""):
            return inner
    return name


def _sidecars(folder: Path, problems: Problems) -> Iterator[CaptionLine]:
    """A caption a line; a photo without a text is in the gallery all the same."""
    pictures = pictures_of(folder, problems, keep_ending=True)
    texts = {path.stem: path for path in folder.glob("*.txt")} if folder.is_dir() else {}
    if not any(path.stem in texts for path in pictures.values()):
        return
    for name, path in pictures.items():
        captions: tuple[str, ...] = ()
        beside = texts.get(path.stem)
        if beside and is_usable(folder, beside.name, problems, where=beside.name):
            captions = tuple(text for _, text in text_lines(beside, problems))
        yield CaptionLine(path.name, name, captions)
