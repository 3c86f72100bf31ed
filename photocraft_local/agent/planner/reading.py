"""A question taken apart: what is asked of time, place, camera and look, what is to be counted,
and which words could not be used, each with the reason.

Words that matter but cannot be followed (``blocked``) make the planner abstain: a set that
drops a condition would be wrong. Words that do not change the set (``unused``) are only named.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import date

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.cameras import claim_cameras, claim_lone_camera
from photocraft_local.agent.planner.conditions import Condition, FactCondition
from photocraft_local.agent.planner.draft import Draft, Unused, plain
from photocraft_local.agent.planner.looks import claim_unwanted, look_of
from photocraft_local.agent.planner.mentions import Places, claim_places, claim_times
from photocraft_local.errors import QuestionNotUnderstood

LONGEST = 1000  # characters; also the longest text that a tool takes
_KNOWN_TOWN = 50_000  # people
_SLIP = 0.8  # likeness of two spellings of one name
EXAMPLES = (
    "ask for photos by what they show, when, where or with which camera, e.g. 'dog on a beach in "
    "Lisbon in June 2021', 'photos without people from last summer', 'how many photos of cats'"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """``conditions`` are decided by metadata; ``look`` and ``not_looks`` by what is seen."""

    conditions: tuple[Condition, ...] = ()
    look: str = ""
    not_looks: tuple[str, ...] = ()
    count: bool = False
    everything: bool = False  # the whole library is asked for
    namesakes: tuple[str, ...] = ()  # words of the look that a place bears too
    unused: tuple[Unused, ...] = ()
    blocked: tuple[Unused, ...] = ()

    @property
    def is_empty(self) -> bool:
        asked = self.conditions or self.look or self.not_looks or self.count or self.everything
        return not (asked or self.blocked)

    def in_words(self) -> str:
        """What is asked for, e.g. ``looks like 'dog'; in Lisbon; not 'people'``."""
        parts = [f"looks like '{self.look}'"] if self.look else []
        parts += [condition.words for condition in self.conditions]
        parts += [f"does not look like '{look}'" for look in self.not_looks]
        return "; ".join(parts)


def read(question: str, *, today: date, places: Places) -> Reading:
    """Raises QuestionNotUnderstood for a form that the planner does not answer and for a
    question of which nothing can be used, TimeWordsError for a date that does not exist."""
    text = plain(question)
    _check_form(text)
    draft = Draft(text)
    count = bool(draft.claim_all(words.COUNT))
    draft.claim_all(words.MUCH)
    cameras = claim_cameras(draft)
    times = claim_times(draft, today)
    spots = claim_places(draft, places)
    facts = _claim_facts(draft)
    _set_aside(draft, places)
    cameras += claim_lone_camera(draft)
    not_looks = claim_unwanted(draft)
    _block_loose_or(draft)
    look = look_of(draft)
    reading = Reading(
        conditions=(*times, *spots, *cameras, *facts),
        look=look,
        not_looks=tuple(dict.fromkeys(not_looks)),
        count=count,
        everything=bool(words.ALL.match(text)),
        namesakes=_namesakes(look, places),
        unused=tuple(draft.unused),
        blocked=tuple(draft.blocked),
    )
    if reading.is_empty or not words.LETTER.search(text):
        raise QuestionNotUnderstood("no word of the question could be used", hint=EXAMPLES)
    return reading


def _check_form(text: str) -> None:
    if not text:
        raise QuestionNotUnderstood("the question is empty", hint=EXAMPLES)
    if len(text) > LONGEST:
        raise QuestionNotUnderstood(
            f"the question has {len(text)} characters; at most {LONGEST} are read",
            hint="say it in one or two sentences",
        )
    if words.UNSUPPORTED.search(text):
        raise QuestionNotUnderstood(
            "this form of question is not answered yet: it does not ask for photos or a count",
            hint=EXAMPLES,
        )


def _meant(name: str, places: Places) -> str:
    """Near names, if they are so near that a slip of the finger explains them."""
    near = difflib.get_close_matches(name, places.suggest(name), n=2, cutoff=_SLIP)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _namesakes(look: str, places: Places) -> tuple[str, ...]:
    """Lower-case words of a look that are a known town's or country's whole name: "siena"."""
    parts = look.split()
    runs = [" ".join(parts[at : at + size]) for size in (2, 1) for at in range(len(parts))]
    return tuple(run for run in dict.fromkeys(runs) if _is_known_place(run, places))


def _is_known_place(name: str, places: Places) -> bool:
    return any(
        area.name.casefold() == name.casefold()
        and (area.kind == "country" or area.population >= _KNOWN_TOWN)
        for area in places.find(name)[:1]
    )


def _claim_facts(draft: Draft) -> list[FactCondition]:
    return [
        FactCondition(said.strip(), where)
        for pattern, where in words.FACTS.items()
        for said in draft.claim_all(pattern)
    ]


def _block_loose_or(draft: Draft) -> None:
    """An "or" between conditions of two kinds would otherwise be read as "and"."""
    for match in draft.matches(words.LOOSE_OR):
        left = len(draft.text[: match.start()].rstrip(" ,"))
        right = len(draft.text) - len(draft.text[match.end() :].lstrip(" ,"))
        beside = (left > 0 and not draft.is_free(left - 1, left)) or (
            right < len(draft.text) and not draft.is_free(right, right + 1)
        )
        if beside:
            said = draft.claim(match.start(), match.end())
            reason = "a choice between conditions of different kinds is not followed yet"
            draft.blocked.append(Unused(said, reason))


def _set_aside(draft: Draft, places: Places) -> None:
    """Words that no condition of this planner stands for; unknown places before looks, since
    "in Atlantis" looks like nothing."""
    draft.block(words.RELATION, "what leans on other photos is not followed yet")
    draft.block(words.BY_WHOM, "who took a photo is not known")
    draft.block(words.CONTINENT, "continents are not followed yet; name countries")
    for match in draft.matches(words.UNKNOWN_PLACE):
        draft.claim(match.start(), match.end())
        reason = f"neither a time nor a place that is known{_meant(match['name'], places)}"
        draft.blocked.append(Unused(match["name"], reason))
    draft.block(words.FUTURE, "no photo is of the future")
    draft.block(words.UNKNOWN_TIME, "no time that is known")
    draft.block(words.ORDER, "an order or judgement of photos is not followed yet")
    draft.set_aside(words.WISHED_NUMBER, "all photos that fit are given")
    draft.set_aside(words.ONLY, "that nothing else is seen cannot be checked")
    draft.set_aside(words.SOMEONE, "persons are not told apart")
