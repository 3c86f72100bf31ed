"""The set as a whole: photos that passed one by one, shown together, and which do not belong.

As few prompts as the window and the limit on pictures allow. Knows no threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from photocraft_local.errors import ModelError, ServerLost
from photocraft_local.imaging.geometry import fit_inside
from photocraft_local.imaging.pictures import Pixels, resized
from photocraft_local.records import Usage
from photocraft_local.serving.judging import SetCheck
from photocraft_local.serving.pictures import Arrangement, cheapest
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest
from photocraft_local.serving.qwen.conversation import conversation
from photocraft_local.serving.qwen.judge_prompt import Prefix, numbered, read_set, set_schema
from photocraft_local.serving.qwen.judge_purse import Purse
from photocraft_local.serving.tool_calls import Form

_SMALL = {24: 224, 100: 128}  # photos of a prompt up to which each is so many px there
_SHARE = 0.6  # of the window for the pictures
_REPLY = 320  # tokens of a reply, and some for each number
_NUMBER = 6


@dataclass(slots=True)
class Comparison:
    """``photos`` are small copies by UID, added with ``keep``; ``usages`` what it cost."""

    brain: Brain
    shared: Prefix
    most_pictures: int
    purse: Purse
    photos: dict[str, Pixels] = field(default_factory=dict)
    usages: list[Usage] = field(default_factory=list)

    def keep(self, uid: str, pixels: Pixels) -> None:
        size = fit_inside(pixels.shape[1], pixels.shape[0], max(_SMALL.values()))
        self.photos[uid] = resized(pixels, *size)

    def checked(self, uids: Sequence[str], told: Callable[[str], None]) -> SetCheck:
        """Raises ServerLost; whatever else fails is told in the result."""
        if len(uids) < 2:
            return SetCheck()
        told(f"comparing {len(uids)} photos with one another")
        parts = self._parts(uids)
        if not parts:
            return SetCheck(error="the backbone's window takes no two of these photos at once")
        strays: list[str] = []
        whys: list[str] = []
        try:
            for part in parts:
                out, why = self._compared(part)
                strays += [part[number - 1] for number in out]
                whys += [why] if out and why else []
        except ServerLost:
            raise
        except ModelError as exc:
            return SetCheck(error=exc.message)
        return SetCheck(tuple(strays), "; ".join(whys), len(parts))

    def _parts(self, uids: Sequence[str]) -> list[Sequence[str]]:
        """About equal, and as few as can be; one photo alone is compared with nothing."""
        num = -(-len(uids) // max(_SMALL))
        while num < len(uids) and not self._layout(uids[: -(-len(uids) // num)]):
            num += 1
        step = -(-len(uids) // num)
        parts = [uids[at : at + step] for at in range(0, len(uids), step)]
        return [part for part in parts if len(part) > 1]

    def _layout(self, uids: Sequence[str]) -> Arrangement | None:
        """The cheapest that keeps within the limits, None if neither way does."""
        sizes = [(self.photos[uid].shape[1], self.photos[uid].shape[0]) for uid in uids]
        how = cheapest(sizes, _detail(len(uids)), self.brain.pictures.rule)
        room = self.most_pictures - len(self.shared.references)
        most = self.brain.window * _SHARE
        for way in (how, replace(how, kind="sheet" if how.kind == "separate" else "separate")):
            num = len(uids) if way.kind == "separate" else way.sheets
            if way.tokens and num <= room and (not most or way.tokens <= most):
                return way
        return None

    def _compared(self, uids: Sequence[str]) -> tuple[list[int], str]:
        """Numbers in ``uids``, from 1, and why."""
        how = self._layout(uids)
        if how is None:
            raise ModelError("the backbone's window does not take these photos at once")
        store, num = self.brain.pictures, len(uids)
        small = [self.photos[uid] for uid in uids]
        shown = numbered(small, how, _detail(num), store.rule)
        messages = self.shared.whole(shown, thinking=self.brain.thinking)
        talk = conversation(messages, (), Form.JSON, store)
        most = _REPLY + _NUMBER * num
        if not self.purse.pays_for([talk], most + how.tokens * (self.brain.counter is None)):
            raise ModelError(self.purse.why)
        request = ChatRequest(
            talk.messages, schema=set_schema(num), max_tokens=most, seconds=self.purse.seconds
        )
        reply = self.brain.chat.chat(request)
        self.purse.paid([reply.usage])
        pictures = len(talk.pictures)
        self.usages.append(replace(reply.usage, pictures=pictures, pictures_sent=pictures))
        if reply.finish == "length":
            raise ModelError("the reply on the set was cut off")
        return read_set(reply.text or reply.reasoning, num)


def _detail(num: int) -> int:
    return next((detail for most, detail in _SMALL.items() if num <= most), min(_SMALL.values()))
