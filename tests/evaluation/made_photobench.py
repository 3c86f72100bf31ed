"""Makes a small folder in PhotoBench's published layout from the shared photos of everyday life.

As a script: ``python tests/evaluation/made_photobench.py SHARED TARGET``. Times, places and
questions are made up.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from made_disbench import photos_of

ALBUM = "album1"
NUM_PHOTOS = 10


def made(shared: Path, target: Path) -> Path:
    """The folder ``target``, filled."""
    images = target / ALBUM / "images"
    images.mkdir(parents=True)
    for number, (source, _) in enumerate(photos_of(shared)[40 : 40 + NUM_PHOTOS]):
        shutil.copyfile(source, images / name(number))
    (target / ALBUM / "metadata.json").write_text(json.dumps(metadata()), "utf-8")
    faces = {"face_id_to_nicknames": {"1": ["me"]}, "image_to_face_ids": {name(0): ["1"]}}
    (target / ALBUM / "face_info_en.json").write_text(json.dumps(faces), "utf-8")
    (target / "test.json").write_text(json.dumps(questions(), ensure_ascii=False), "utf-8")
    return target


def name(number: int) -> str:
    return f"IMG {number:04d}.JPG"


def metadata() -> dict[str, Any]:
    """In each of the forms in which a place was published."""
    facts: dict[str, Any] = {}
    for number in range(NUM_PHOTOS - 1):  # the last photo has none
        month = 5 if number < 4 else 8
        facts[name(number)] = {"time": f"2025-{month:02d}-0{number % 4 + 1}T12:00:00"}
    for number in range(4):
        facts[name(number)]["location"] = [38.7139, -9.1394]
    facts[name(4)] |= {"latitude": 48.8566, "longitude": 2.3522}
    facts[name(5)] |= {"latitude": None, "longitude": None}
    facts[name(6)] |= {"location": "Rue de Rivoli, Paris, France"}
    facts[name(7)]["time"] = ""
    return facts


def questions() -> list[dict[str, Any]]:
    def row(number: int, text: str, source: str, gold: list[int] | None) -> dict[str, Any]:
        told = {
            "Query": text,
            "query_cn": f"\N{CJK UNIFIED IDEOGRAPH-7167}{number}",
            "Query_id": number,
            "Album_id": ALBUM,
            "Source_type": source,
            "Reasoning_type": ["fact"],
        }
        return told if gold is None else {**told, "GroundTruth": [name(one) for one in gold]}

    return [
        row(1, "photos taken in May 2025", "M", [0, 1, 2, 3]),
        row(2, "photos from Lisbon", "M", [0, 1, 2, 3]),
        row(3, "photos from December 2019", "M", []),
        row(4, "photos from Paris", "M", [4, 6]),
        row(5, "photos of 2025 that nobody has labelled", "V", None),
    ]


if __name__ == "__main__":
    made(Path(sys.argv[1]), Path(sys.argv[2]))
