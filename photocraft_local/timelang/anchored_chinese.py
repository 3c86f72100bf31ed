"""Times beside an event in Chinese, where the event comes first: "婚礼后的第二天".

The head is found by its form, the event is what stands before it in the clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang.anchored_time import SIZES, AnchoredTime, Side, Unit, Which
from photocraft_local.timelang.grammar import phrase
from photocraft_local.timelang.lexicon import table
from photocraft_local.timelang.recurring import PARTS
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Words

_NUMBER = "[一二两三四五六七八九十几半]|\\d{1,2}"
_UNIT = "天|日|周末|周|个?星期|个?月|年|个?小时|个?钟头|分钟"
_PART = "早上|早晨|上午|中午|下午|傍晚|晚上|夜里"
_AFTER, _BEFORE = "之后|以后|过后|后", "之前|以前|前"
_LONGEST = 24  # characters of an event
_CLAUSE = "，。？！、；,.?!; \u3000\n"
_UNITS: dict[str, Unit] = {
    "天": "day", "日": "day", "周末": "weekend", "周": "week", "星期": "week", "月": "month",
    "年": "year", "小时": "hour", "钟头": "hour", "分钟": "minute",
}  # fmt: skip
_NUMBERS = {word: at for at, word in enumerate("零一二三四五六七八九十")} | {"两": 2, "几": 3}
_TODAY = date(2000, 1, 1)

# Groups: a after, b before; n number, u unit, i "within", p part of the day. The first that fits
# at a place wins, so the longer forms come first.
_HEADS = re.compile(
    "|".join(
        (
            f"(?P<ord>(?:{_AFTER})?的?第(?P<nth>{_NUMBER})(?P<nu>天|周|个?星期|个?月|年))",
            "(?P<last>的?最后(?:一|的)?(?:个)?(?P<lu>天|周|星期|月|年|晚|小时|周末))",
            f"(?P<off>(?:(?P<a>{_AFTER})|(?P<b>{_BEFORE}))的?(?:那|头)?(?P<n>{_NUMBER})?个?"
            f"(?P<u>{_UNIT})(?P<i>之?以?[内里]|之内|以内)?)",
            f"(?P<same>的?(?:当|那|同)一?个?(?P<su>天|日|周末|周|星期|月|年)(?:的?(?P<sp>{_PART}))?)",
            "(?P<night>的?(?:当晚|那晚|那天夜里))",
            f"(?P<part>的(?P<p>{_PART}))",
            "(?P<since>以来|开始以后|开始)",
            "(?P<during>期间|的时候)",
            f"(?P<after>{_AFTER})|(?P<before>{_BEFORE})",
        )
    )
)
_BETWEEN = re.compile(
    r"(?P<head>在|从)(?P<one>[^，。？！、]{1,12}?)(?P<joint>和|与|到|至)"
    r"(?P<two>[^，。？！、]{1,12}?)(?P<tail>之间|期间)"
)
_LEAD = re.compile(r".*(?:自从|看到|看见|拍到|在|从|自|于|看看|看|找|显示|拍的|直到)")
_ARRIVAL = re.compile(r"(?:我们|我|咱们)?(?:(?P<first>到达了?|抵达了?|到了?)|(?P<last>离开了?))")
_WE = re.compile(r"我们|我|咱们")


@dataclass(frozen=True, slots=True)
class _Meaning:
    unit: Unit
    side: Side
    shift: int = 0
    within: timedelta | None = None
    which: Which = ""
    part: str = ""
    needs_event: bool = False


def find(text: str) -> list[AnchoredTime]:
    """Times beside an event in ``text``, in order; none where a time by itself is meant."""
    if text.isascii():
        return []
    found: list[AnchoredTime] = []
    at = 0
    for pair in _BETWEEN.finditer(text):
        if _is_event(pair["one"]) or _is_event(pair["two"]):
            found += _pair(text, pair)
            at = pair.end()
    for head in _HEADS.finditer(text, at):
        if head.start() >= at and (time := _time(text, at, head)):
            found.append(time)
            at = head.end()
    return found


def _pair(text: str, match: re.Match[str]) -> list[AnchoredTime]:
    def side(head: str, anchor: str, stop: int, way: Side) -> AnchoredTime:
        start, end = match.span(head)
        return AnchoredTime(
            start, end, match.start(anchor), match.end(anchor), stop, match[head], "moment", way
        )

    return [
        side("head", "one", match.end("one"), "since"),
        side("joint", "two", match.end("tail"), "until"),
    ]


def _time(text: str, begin: int, head: re.Match[str]) -> AnchoredTime | None:
    begin = max(begin, head.start() - _LONGEST)
    start = max([begin, *(text.rfind(sign, begin, head.start()) + 1 for sign in _CLAUSE)])
    before = text[start : head.start()]
    if lead := _LEAD.match(before):
        start += lead.end()
    elif not _ARRIVAL.match(before) and (who := _WE.match(before)):
        start += who.end()
    event = text[start : head.start()]
    meaning = _meaning(head)
    if not event or _is_a_time(event):
        return None
    which = meaning.which
    if came := _ARRIVAL.match(event):
        which = which or ("first" if came["first"] else "last")
        start += came.end()
    elif meaning.needs_event and not _is_event(event):
        return None
    hours = When(hours=PARTS[meaning.part]) if meaning.part else None
    return AnchoredTime(
        head.start(), head.end(), start, head.start(), head.end(), head[0], meaning.unit,
        meaning.side, meaning.shift, meaning.within, which, hours,
    )  # fmt: skip


def _is_event(text: str) -> bool:
    return any(form[0] in text for form in table()["event"] if not form[0].isascii())


def _is_a_time(text: str) -> bool:
    """Whether the words before the head end with a time by itself: "2020年之前"."""
    words = Words(text, _TODAY)
    try:
        found = [phrase(words, at, cued=True) for at in range(len(words))]
    except TimeWordsError:  # a date that does not exist: find_times says so
        return True
    return any(time is not None and time.end == len(words) for time in found)


def _meaning(head: re.Match[str]) -> _Meaning:
    kind = head.lastgroup
    if head["ord"]:
        number, after = _number(head["nth"]), head["ord"][0] != "第" and head["ord"][0] != "的"
        if after:
            return _Meaning(_unit(head["nu"]), "at", max(1, number - 1))
        return _Meaning(_unit(head["nu"]), "at", number - 1, which="first")
    if head["last"]:
        if head["lu"] == "晚":
            return _Meaning("day", "at", which="last", part="evening")
        return _Meaning(_unit(head["lu"]), "at", which="last")
    if head["off"]:
        return _offset(head)
    if head["same"]:
        part = table()["part"][(head["sp"],)] if head["sp"] else ""
        return _Meaning(_unit(head["su"]), "at", part=part)
    if head["night"]:
        return _Meaning("day", "at", part="evening", needs_event=True)
    if head["part"]:
        return _Meaning("day", "at", part=table()["part"][(head["p"],)], needs_event=True)
    side: Side = {"since": "since", "during": "at", "after": "after"}.get(kind or "", "before")  # type: ignore[assignment]
    return _Meaning("moment", side, needs_event=True)


def _offset(head: re.Match[str]) -> _Meaning:
    unit, side = _unit(head["u"]), "after" if head["a"] else "before"
    count = _number(head["n"] or "一")
    size = SIZES[unit] / 2 if head["n"] == "半" else count * SIZES[unit]
    if unit in ("hour", "minute") or head["i"]:
        return _Meaning(unit, side, within=size)  # type: ignore[arg-type]
    return _Meaning(unit, "at", count if side == "after" else -count)


def _unit(word: str) -> Unit:
    return _UNITS[word.lstrip("个")]


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.get(word, 1)
