"""What an answer says nothing of is checked all the same: kept, told to the model once, or told to
the person.

A condition that all photos meet becomes evidence. One that a photo breaks keeps the answer from
being accepted, once; whoever then insists is believed that it is none of the question, and the
person reads that it had no effect. Knows nothing of which conditions those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from photocraft_local.records import Evidence, Json, Observation, Photo
from photocraft_local.tools import evidence
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, listing, safe_text
from photocraft_local.tools.stated import Stated
from photocraft_local.tools.unclaimed import unclaimed

_MOST_LISTED = 20  # photos of a condition
_LONGEST = 200  # characters of a condition
_MOST_NAMED = 5  # photos that the person is told of


@dataclass(frozen=True, slots=True)
class Unmentioned:
    """``checked``: those decided by code, each with UID → evidence; ``by_eye``: looks that a model
    is to judge; ``insisted``: looks that the model was told of and left out again."""

    context: ToolContext
    photos: Sequence[Photo]
    checked: tuple[tuple[Stated, Mapping[str, list[Evidence]]], ...] = ()
    by_eye: tuple[Stated, ...] = ()
    insisted: tuple[Stated, ...] = ()

    @classmethod
    def of(
        cls,
        context: ToolContext,
        claims: Sequence[Mapping[str, Any]],
        not_used: Sequence[str],
        photos: Sequence[Photo],
    ) -> Unmentioned:
        """Of an answer with ``photos``; an empty one breaks nothing."""
        found = unclaimed(context, claims, " ".join(not_used)) if photos else []
        has_eyes = context.judge is not None and context.settings.verify
        eyed = [one for one in found if has_eyes and not one.is_fact]
        checked = [(one, _checked(context, one, photos)) for one in found if one not in eyed]
        told = context.stated.told
        return cls(
            context,
            photos,
            tuple(checked),
            tuple(one for one in eyed if safe_key(one) not in told),
            tuple(one for one in eyed if safe_key(one) in told),
        )

    @property
    def looks(self) -> list[tuple[dict[str, Any], dict[str, Photo]]]:
        """``by_eye`` as claims about every photo."""
        return [(_claim(one), {photo.uid: photo for photo in self.photos}) for one in self.by_eye]

    def to_be_told(self) -> list[Stated]:
        """Broken ones that the model does not know of yet; none in the last turn."""
        if self.context.is_last_turn:
            return []
        told = self.context.stated.told
        return [one for one, found in self.checked if _broken(found) and safe_key(one) not in told]

    def evidence(self, uid: str) -> list[Evidence]:
        """Of those conditions that all photos meet."""
        return [piece for _, found in self.checked if not _broken(found) for piece in found[uid]]

    def not_kept(self) -> list[str]:
        """For the person: what the answer does not keep to, with the photos that break it."""
        broken = {one: _broken(found) for one, found in self.checked}
        told = [
            f"{safe_text(one.text, _LONGEST)} ({_origin(one)};"
            f" broken by {listing(uids, _MOST_NAMED)})"
            for one, uids in broken.items()
            if uids
        ]
        by_eye = [f"{safe_text(one.text, _LONGEST)} ({_origin(one)})" for one in self.insisted]
        return told + by_eye

    def refused(self, tool: str, fresh: Sequence[Stated]) -> Observation:
        """Names each condition with the photos that break it, and the ways out."""
        rows = self.rows(fresh)
        return Observation(
            tool,
            data={"accepted": False, "unmentioned": rows},
            error=f"not accepted: {counted(len(rows), 'condition')} that the evidence does not "
            "mention broken by photos of the answer, see unmentioned; if it is a condition of the "
            "question, give other photos, or search on; if it is none, or only of an anchor, "
            "submit again: the person is told",
            brief=f"refused: breaks {counted(len(rows), 'condition')} that it does not mention",
        )

    def rows(self, stated: Sequence[Stated]) -> list[Json]:
        found = dict(self.checked)
        rows: list[Json] = []
        for one in stated:
            uids = _broken(found[one]) if one in found else []
            row: dict[str, Json] = {
                "check": one.check,
                "condition": safe_text(one.text, _LONGEST),
                "from": _origin(one),
            }
            if uids:
                row |= {"photos": uids[:_MOST_LISTED], "broken_by": len(uids)}
                row["value"] = found[one][uids[0]][0].value
            rows.append(row)
        return rows


def safe_key(one: Stated) -> str:
    """As it can be read off what a trace keeps."""
    return f"{one.check}: {safe_text(one.text, _LONGEST)}"


def _checked(
    context: ToolContext, one: Stated, photos: Sequence[Photo]
) -> dict[str, list[Evidence]]:
    concerned = {photo.uid: photo for photo in photos}
    return evidence.verified(context, [(_claim(one), concerned)], photos)


def _claim(one: Stated) -> dict[str, Any]:
    return {"constraint": one.text, **one.checks}


def _broken(found: Mapping[str, Sequence[Evidence]]) -> list[str]:
    return [uid for uid, pieces in found.items() if not all(piece.met for piece in pieces)]


def _origin(one: Stated) -> str:
    return f"step {one.step}" if one.step else "the question's own words"
