"""Makes a small folder in DISBench's published layout from the shared photos of everyday life.

As a script: ``python tests/evaluation/made_disbench.py SHARED TARGET``. Users, times, places and
questions are made up; what a photo shows is what its labels say.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

USERS = ("11@N00", "22@N01", "33@N02")
NUM_PHOTOS = 12  # a user
_TRIPS = [
    ("2012-05-04 09:30:00", -9.1393, 38.7223, "Rua Augusta, Santa Maria Maior, Lisbon, Portugal"),
    ("2012-08-17 15:00:00", 2.3522, 48.8566, "Rue de Rivoli, Paris, Ile-de-France, France"),
    ("2013-01-02 11:15:00", None, None, None),
]


def photos_of(shared: Path) -> list[tuple[Path, set[str]]]:
    folder = shared / "data/captioned"
    with (folder / "captions.csv").open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["labels_complete"] == "1"]
    return [(folder / row["file"], set(row["labels"].split("|"))) for row in rows if row["labels"]]


def metadata(number: int) -> dict[str, Any] | None:
    """Of a user's photo by number: three trips, with what is missing, null or left out."""
    start, longitude, latitude, address = _TRIPS[number * len(_TRIPS) // NUM_PHOTOS]
    time = datetime.fromisoformat(start) + timedelta(minutes=20 * (number % 4))
    facts: dict[str, Any] = {
        "taken_time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "longitude": longitude,
        "latitude": latitude,
        "accuracy": 16.0,
        "address": address,
        "capturedevice": "Canon EOS 5D" if number % 2 else None,
    }
    if number == 3:
        facts["taken_time"] = None
    if number == 5:
        del facts["longitude"], facts["latitude"]
    return None if number == NUM_PHOTOS - 1 else facts


def made(shared: Path, target: Path, num_users: int = len(USERS)) -> Path:
    """The folder ``target``, filled."""
    stock = photos_of(shared)
    queries: list[dict[str, Any]] = []
    (target / "metadata").mkdir(parents=True)
    for user_number, user in enumerate(USERS[:num_users]):
        own = stock[user_number * NUM_PHOTOS : (user_number + 1) * NUM_PHOTOS]
        images = target / "images" / user
        images.mkdir(parents=True)
        lines = []
        for number, (source, _) in enumerate(own):
            shutil.copyfile(source, images / f"{photo_id(user_number, number)}.jpg")
            if number != NUM_PHOTOS - 2:  # a photo without a line
                line = {"photo_id": photo_id(user_number, number), "metadata": metadata(number)}
                lines.append(json.dumps(line))
        (target / "metadata" / f"{user}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        queries += queries_of(user_number, user, [labels for _, labels in own])
    text = "".join(json.dumps(query) + "\n" for query in queries)
    (target / "queries.jsonl").write_text(text, "utf-8")
    return target


def photo_id(user_number: int, number: int) -> str:
    return f"{7000 + user_number}{number:06d}"


def queries_of(user_number: int, user: str, labels: list[set[str]]) -> list[dict[str, Any]]:
    """By time and place alone, and by what is seen there."""

    def query(name: str, text: str, numbers: list[int], kind: str) -> dict[str, Any]:
        return {
            "query_id": f"{user_number}-{name}",
            "user_id": user,
            "query": text,
            "answer": [photo_id(user_number, number) for number in numbers],
            "event_type": kind,
        }

    in_paris = list(range(4, 8))
    dated = [number for number in range(4) if number != 3]
    seen = sorted(labels[4])[0]
    shown = [number for number in in_paris if seen in labels[number]]
    every = [number for number in range(NUM_PHOTOS) if seen in labels[number]]
    return [
        query("may", "photos taken in May 2012", dated, "intra-event"),
        query("august", "all photos from August 2012", in_paris, "intra-event"),
        query("seen", f"photos of a {seen} in August 2012", shown, "intra-event"),
        query("ever", f"photos of a {seen}", every, "inter-event"),
        query("riddle", "the one which we would rather not talk about", [0], "inter-event"),
    ]


if __name__ == "__main__":
    made(Path(sys.argv[1]), Path(sys.argv[2]))
