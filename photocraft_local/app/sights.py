"""What a model gets to see: how pictures are shown in its prompt, and the question's own ones.

The question's pictures stay in the prompt for the whole episode, so they take a small part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from photocraft_local.tools.viewing import DETAILS, Viewing

if TYPE_CHECKING:
    from photocraft_local.agent.pictures import Picture
    from photocraft_local.serving.qwen.brain import Brain

_CALLS = 4  # so many calls that show as much as they may fill the window
_OWN = 8  # the question's pictures take at most an eighth of it


def viewing_of(brain: Brain, num_own: int) -> Viewing:
    """What one call may show to the model, beside ``num_own`` pictures of the question."""

    def left() -> int:
        most = _most(brain)
        return max(1, most - num_own) if most else 0

    viewing = _viewing(brain, left(), brain.window // _CALLS)
    return replace(viewing, learned=left)  # the server may refuse so many in the midst of it


def seen_by(brain: Brain, pictures: Sequence[Picture], max_pixels: int) -> dict[str, bytes]:
    """The question's pictures as JPEG, upright and in the family's sizes, by their ids.

    The same files give the same bytes. At most half of the pictures that a prompt holds; the
    model fetches the others when it needs them. Raises PhotoError.
    """
    from photocraft_local.files.decode import decode_upright
    from photocraft_local.imaging.pictures import jpeg_bytes

    most, longest = _most(brain), DETAILS["large"]
    shown = pictures[: most // 2] if most else pictures
    viewing = _viewing(brain, most, brain.window // _OWN)
    seen: dict[str, bytes] = {}
    for picture in shown:
        pixels = decode_upright(picture.path, short_side=longest, max_pixels=max_pixels).pixels
        view = viewing.view(pixels, longest=longest, share=len(shown))
        seen[picture.id] = jpeg_bytes(view.pixels)
    return seen


def _most(brain: Brain) -> int:
    """Pictures of one prompt; 0 where any number may be in it."""
    return min((limit for limit in (brain.max_pictures, brain.pictures.most) if limit), default=0)


def _viewing(brain: Brain, most: int, tokens: int) -> Viewing:
    rule = brain.pictures.rule
    if brain.counter is None:
        return Viewing(rule, most, tokens)
    return Viewing(rule, most, tokens, brain.counter.text)
