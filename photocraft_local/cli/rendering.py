"""Photos as lines for people and as JSON for scripts; the JSON keys are stable (docs/cli.md).

Escaping is the console's business.
"""

from __future__ import annotations

from photocraft_local.app.results import PhotoDetails
from photocraft_local.app.spaces import SpaceCounts
from photocraft_local.records import Evidence, Json, Photo, Skipped, path_text, paths_json


def photo_json(photo: Photo) -> dict[str, Json]:
    """The object of ``list --json``."""
    return {
        "uid": photo.uid,
        **paths_json(photo.paths),
        "taken_at": photo.taken.isoformat() if photo.taken else None,
        "lat": photo.location.latitude if photo.location else None,
        "lon": photo.location.longitude if photo.location else None,
        "width": photo.width,
        "height": photo.height,
        "flags": list(photo.flags),
    }


def skipped_json(skipped: Skipped) -> dict[str, Json]:
    """``path`` as text, the reason's code and its message; exact bytes only where needed."""
    form = paths_json((skipped.path,))
    entry = {"path": form["paths"][0], "reason": skipped.reason, "message": skipped.message}
    if "paths_base64" in form:
        entry["path_base64"] = form["paths_base64"][0]
    return entry


def evidence_json(evidence: Evidence) -> dict[str, Json]:
    return {
        "constraint": evidence.constraint,
        "rule": evidence.rule,
        "value": evidence.value,
        "met": evidence.met,
        "score": evidence.score,
        "threshold": evidence.threshold,
        "anchors": list(evidence.anchors),
    }


def when_text(photo: Photo) -> str:
    """Local time to the minute, or a dash."""
    return photo.taken.local.strftime("%Y-%m-%d %H:%M") if photo.taken else "-"


def place_text(photo: Photo) -> str:
    if photo.place:
        return photo.place.address()
    if photo.location:
        return f"{photo.location.latitude:.4f}, {photo.location.longitude:.4f}"
    return "-"


def photo_line(photo: Photo, score: float | None = None, *, weak: bool = False) -> str:
    """UID, score, time, place and path in columns; ``weak`` marks a score below the cut-off."""
    number = "" if score is None else f"{score:6.2f}{'?' if weak else ' '} "
    gone = "  (offline)" if photo.offline else ""
    path = path_text(photo.paths[0]) if photo.paths else "-"
    return f"{photo.uid:<8}{number}{when_text(photo):<16}  {place_text(photo)}  {path}{gone}"


def evidence_line(evidence: Evidence) -> str:
    """``met: taken in June 2021: 2021-06-14T10:31:00 (2021-06-01 <= time < 2021-07-01)``."""
    verdict = "met" if evidence.met else "NOT MET"
    text = f"{verdict}: {evidence.constraint}: {evidence.value}"
    if evidence.rule:
        text += f" ({evidence.rule.removeprefix(f'{evidence.constraint}: ')})"
    if evidence.anchors:
        text += f" via {', '.join(evidence.anchors)}"
    return text


def count_text(count: int, noun: str, plural: str = "") -> str:
    """``1 photo``, ``1,200 photos``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def details_json(details: PhotoDetails) -> dict[str, Json]:
    """The object of ``show --json``: that of ``list --json`` and all the rest."""
    photo, event = details.photo, details.event
    return {
        **photo_json(photo),
        "format": photo.format,
        "sha256": photo.digest,
        "time_source": photo.taken.source if photo.taken else None,
        "camera": photo.camera or None,
        "address": photo.place.address() if photo.place else None,
        "companions": paths_json(photo.companions)["paths"],
        "offline": photo.offline,
        "event": None
        if event is None
        else {
            "id": event.event_id,
            "start": event.start.isoformat(),
            "end": event.end.isoformat(),
            "count": event.count,
            "place": event.place or None,
            "photos": [other.uid for other in details.neighbours],
        },
    }


def space_line(space: SpaceCounts) -> str:
    """``clip-1a2b3c4d5e  512 numbers, 1,204 vectors, 3 photos without one``."""
    text = f"{space.name}  {space.dim:,} numbers, {count_text(space.vectors, 'vector')}"
    if space.pending:
        text += f", {count_text(space.pending, 'photo')} without one"
    return text


def space_json(space: SpaceCounts) -> dict[str, Json]:
    return {
        "space": space.name,
        "encoder": space.encoder,
        "dim": space.dim,
        "vectors": space.vectors,
        "pending": space.pending,
    }
