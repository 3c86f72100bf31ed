"""From an accepted submission to the answer that the person gets, and the answer of none."""

from __future__ import annotations

from photocraft_local.records import Answer, Evidence, Json, Step

SUBMIT = "submit_answer"


def abstained(reason: str) -> Answer:
    return Answer(uids=(), reason=reason)


def answer_of(step: Step) -> Answer:
    """The answer as the submission tool has checked it."""
    data = step.observation.data
    return Answer(
        uids=tuple(data.get("photos", ())),
        evidence={uid: _evidence(rows) for uid, rows in data.get("evidence", {}).items()},
        text=data.get("text", ""),
        reason=data.get("reason", ""),
        understood=tuple(data.get("understood", ())),
        not_understood=tuple(data.get("not_understood", ())),
    )


def _evidence(rows: list[dict[str, Json]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(**{**row, "anchors": tuple(row.get("anchors", ()))}) for row in rows)
