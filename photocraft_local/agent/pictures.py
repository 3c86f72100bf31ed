"""A question's own pictures: which file each is, and what it says of itself.

Only numbers and the gazetteer's names go to a backbone, never text out of a file. Reads no file.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from photocraft_local.records import Json, path_text


@dataclass(frozen=True, slots=True)
class Picture:
    """``id`` is its name in the question, "q1"; ``time`` is the wall clock where it was taken;
    ``latitude`` and ``longitude`` are signed degrees, both or neither known."""

    id: str
    path: bytes  # absolute
    digest: str = ""  # SHA-256 of the bytes, hex
    time: datetime | None = None
    latitude: float | None = None
    longitude: float | None = None
    address: str = ""  # of the position, by the gazetteer
    uid: str = ""  # of the library's photo with the same bytes, so that forgetting finds its trace

    @property
    def facts(self) -> dict[str, Json]:
        """What is known of it, as JSON."""
        known = {
            "time": self.time.isoformat() if self.time else None,
            "latitude": self.latitude,
            "longitude": self.longitude,
            "address": self.address or None,
        }
        return {key: value for key, value in known.items() if value is not None}

    def to_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "path": path_text(self.path),
            "path_base64": base64.b64encode(self.path).decode("ascii"),
            "sha256": self.digest,
            "uid": self.uid,
            "facts": self.facts,
        }


def picture_of(data: Mapping[str, Any]) -> Picture:
    """What ``to_json`` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    path = base64.b64decode(data["path_base64"], validate=True)
    bare = Picture(data["id"], path, data["sha256"], uid=data["uid"])
    return with_facts_of(bare, data["facts"])


def with_facts_of(picture: Picture, facts: Mapping[str, Any]) -> Picture:
    """The same picture with ``facts`` as its property of that name gives them."""
    time = facts.get("time")
    return replace(
        picture,
        time=datetime.fromisoformat(time) if time is not None else None,
        latitude=facts.get("latitude"),
        longitude=facts.get("longitude"),
        address=str(facts.get("address", "")),
    )


def facts_by_id(pictures: Sequence[Picture]) -> dict[str, Json]:
    """The form that goes into the question block."""
    return {picture.id: picture.facts for picture in pictures}
