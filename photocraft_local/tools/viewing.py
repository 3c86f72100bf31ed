"""How pictures are shown to whoever drives the loop: how large, one by one or on sheets, how many.

A model's prompt holds so many pictures and so many tokens; its family takes certain sizes. For a
backbone that is no model the layout goes by number alone. Knows no photo and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from photocraft_local.imaging.crops import View, model_view
from photocraft_local.imaging.geometry import fit_for_model, fit_inside
from photocraft_local.imaging.pictures import Pixels, fitted
from photocraft_local.serving.pictures import cheapest
from photocraft_local.serving.tokens import PICTURE_MARKS, PictureRule

DETAILS = {"small": 288, "medium": 448, "large": 768}  # px of the longer side of each picture
LARGE_UP_TO = 6  # pictures that are shown large, and one by one, unless asked otherwise
_LEAST_SIDE = 28  # px; no picture is made smaller to save tokens

Layout = Literal["auto", "separate", "sheet"]


@dataclass(frozen=True, slots=True)
class Showing:
    """The first ``num`` pictures are shown, at ``detail``, one by one or on ``sheets`` sheets."""

    kind: Literal["separate", "sheet"]
    detail: str
    num: int
    sheets: int
    tokens: int = 0  # without a model's rule not known

    @property
    def on_each_sheet(self) -> int:
        return -(-self.num // self.sheets)


@dataclass(frozen=True, slots=True)
class Viewing:
    """``rule`` is the family's; None where no model looks. ``most`` pictures stand in one prompt
    beside those of the question, and ``tokens`` is what the pictures of one call may cost; 0 is
    no limit. ``count`` gives the tokens of a text; ``learned`` is the newest of ``most``, which a
    server may have told since."""

    rule: PictureRule | None = None
    most: int = 0
    tokens: int = 0
    count: Callable[[str], int] = lambda text: -(-len(text) // 3)
    learned: Callable[[], int] = lambda: 0

    def showing(
        self,
        sizes: Sequence[tuple[int, int]],
        labels: Sequence[str],
        detail: str = "",
        layout: Layout = "auto",
    ) -> Showing:
        """How to show pictures of ``sizes`` (width, height). ``detail`` is the one asked for, ""
        by their number; it gives way where the limits are tight, before pictures are left out."""
        detail = detail or start_detail(len(sizes))
        if self.rule is None:
            many = layout == "sheet" or (layout == "auto" and len(sizes) > LARGE_UP_TO)
            return Showing("sheet" if many else "separate", detail, len(sizes), 1)
        names = list(DETAILS)
        for name in reversed(names[: names.index(detail) + 1]):
            found = self._all_of(sizes, labels, name, layout)
            if found:
                return found
        return self._as_many_as_fit(sizes, labels, names[0], layout)

    def view(self, pixels: Pixels, *, longest: int, at_least: int = 0, share: int = 1) -> View:
        """One picture in a size that the model takes as it is, its longer side about ``longest``
        px, or enlarged to ``at_least``; at ``share`` of them in one call, what they may cost."""
        if self.rule is None:
            return model_view(pixels, longest=longest, at_least=at_least)
        height, width = pixels.shape[:2]
        size = fit_inside(width, height, longest)
        if at_least:
            wanted = fit_for_model(width, height, longest=longest, at_least=at_least)
            size = wanted.width, wanted.height
        if self.tokens:
            size = _affordable(size, max(1, self.tokens // share - PICTURE_MARKS), self.rule)
        fit = self.rule.fit(*size)
        return View(fitted(pixels, fit), width, height, fit.content)

    def _all_of(
        self, sizes: Sequence[tuple[int, int]], labels: Sequence[str], detail: str, layout: Layout
    ) -> Showing | None:
        """All pictures at ``detail``, the cheaper way of those that keep within the limits."""
        assert self.rule is not None
        num = len(sizes)
        cost = cheapest(sizes, DETAILS[detail], self.rule, labels, self.count)
        ways = []
        if layout != "sheet" and self._is_within(num, cost.separate):
            ways.append(Showing("separate", detail, num, num, cost.separate))
        if layout != "separate" and cost.sheet and self._is_within(cost.sheets, cost.sheet):
            ways.append(Showing("sheet", detail, num, cost.sheets, cost.sheet))
        return min(ways, key=lambda way: way.tokens, default=None)

    def _as_many_as_fit(
        self, sizes: Sequence[tuple[int, int]], labels: Sequence[str], detail: str, layout: Layout
    ) -> Showing:
        """The first pictures at the lowest detail; one is always shown."""
        for num in range(len(sizes) - 1, 0, -1):
            found = self._all_of(sizes[:num], labels[:num], detail, layout)
            if found:
                return found
        return Showing("separate", detail, 1, 1)

    def _is_within(self, num: int, tokens: int) -> bool:
        limits = [most for most in (self.most, self.learned()) if most]
        return num <= min(limits, default=num) and not (self.tokens and tokens > self.tokens)


def start_detail(num: int) -> str:
    """What ``num`` pictures are shown at unless something else is asked for."""
    return "large" if num <= LARGE_UP_TO else "small"


def _affordable(size: tuple[int, int], tokens: int, rule: PictureRule) -> tuple[int, int]:
    """``size``, or the largest tenth below it that costs no more than ``tokens``."""
    longest = max(size)
    while rule.tokens(*size) > tokens and longest > _LEAST_SIDE:
        longest = max(_LEAST_SIDE, longest * 9 // 10)
        size = fit_inside(*size, longest)
    return size
