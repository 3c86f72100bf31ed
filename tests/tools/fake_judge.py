"""A judge that says what a test tells it, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from photocraft_local.errors import ModelError
from photocraft_local.imaging.pictures import Pixels
from photocraft_local.serving.judging import ANY, Condition, Left, SetCheck, Subject, Verdicts


@dataclass
class Asked:
    question: str
    conditions: list[str]
    anchors: dict[str, Pixels]
    photos: dict[str, Pixels]
    threshold: float


@dataclass
class FakeJudge:
    """``sure``: UID → probability, 0.9 for all others; the pictures are decoded as by a model."""

    sure: dict[str, float] = field(default_factory=dict)
    strays: tuple[str, ...] = ()
    problem: ModelError | None = None
    failed: dict[str, str] = field(default_factory=dict)
    most_anchors: int = 4
    asked: list[Asked] = field(default_factory=list)

    def judge(
        self,
        question: str,
        conditions: Sequence[Condition],
        anchors: Sequence[Subject],
        photos: Sequence[Subject],
        *,
        threshold: float = 0.5,
        left: Left = ANY,
    ) -> Verdicts:
        if self.problem:
            raise self.problem
        self.asked.append(
            Asked(
                question,
                [one.words() for one in conditions],
                {one.uid: one.load() for one in anchors if one.uid not in self.failed},
                {one.uid: one.load() for one in photos if one.uid not in self.failed},
                threshold,
            )
        )
        told = {one.uid: self.sure.get(one.uid, 0.9) for one in photos}
        judged = {uid: value for uid, value in told.items() if uid not in self.failed}
        passing = [uid for uid, value in judged.items() if value >= threshold]
        whole = SetCheck(self.strays, "it is another dog" if self.strays else "", 1)
        asked = {*told, *(one.uid for one in anchors)}
        failed = {uid: why for uid, why in self.failed.items() if uid in asked}
        return Verdicts(judged, failed, 0.0, whole if passing[1:] else SetCheck())
