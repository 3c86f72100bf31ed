"""What is left of a question when times, places and cameras are taken out: looks to be seen and
looks that must not be seen.
"""

from __future__ import annotations

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.draft import Draft, Unused


def claim_unwanted(draft: Draft, start: int = 0, end: int | None = None) -> list[str]:
    """Takes out "without people or cars" and the like; returns one phrase for each thing."""
    unwanted: list[str] = []
    while match := next(draft.matches(words.NOT, start, end), None):
        draft.claim(match.start(), match.end())
        upto = _scope_end(draft, match.end(), end)
        scope = draft.text[match.end() : upto]
        draft.claim(match.end(), upto)
        things = [phrase(part) for part in words.LIST_JOINT.split(scope)]
        found = [thing for thing in things if thing]
        if not found:
            draft.blocked.append(Unused(match.group().strip(), "what must not be seen is not said"))
        unwanted += found
    return unwanted


def _scope_end(draft: Draft, start: int, end: int | None = None) -> int:
    """Up to punctuation, "but", the next NOT, or the first word that means something else."""
    ends = [run_end for run_start, run_end in draft.segments(start, end) if run_start == start]
    limit = ends[0] if ends else start
    text = draft.text[start:limit]
    stops = [match.start() for match in words.SCOPE_END.finditer(text)]
    stops += [match.start() for match in words.NOT.finditer(text)]
    stops += [match.start() for match in words.OPEN_END.finditer(text)]
    if not words.ARTICLE.match(text):
        stops += [match.start() for match in words.NEW_THING.finditer(text)]
    return start + min(stops, default=len(text))


def phrase(text: str) -> str:
    """The words of ``text`` that can be seen: no commands, no small words at either end."""
    text = words.ELIDED.sub(" ", words.CJK_FILLER.sub(" ", text))
    things = [(match.start(), match.end()) for match in words.PHOTO_THING.finditer(text)]
    found = [
        match.group()
        for match in words.WORD.finditer(text)
        if match.group().casefold() not in words.INSIDE
        or any(start <= match.start() < end for start, end in things)
    ]
    found = _without_commands(found)
    while found and _is_edge(found[-1], words.EDGE - words.LEFT):
        if found[-1].casefold() in words.SHOW and len(found) > 1:
            break  # "an air show"
        found.pop()
    return " ".join(" ".join(found).split())


def _without_commands(found: list[str]) -> list[str]:
    """Without what begins it: commands, then small words."""
    while found and found[0].casefold() in words.COMMANDS | words.NO_ARTICLES:
        found = found[1:]
    while found and _is_edge(found[0], words.EDGE):
        if found[0].casefold() == "war" and not _is_edge(
            "".join(found[1:2]), words.GERMAN_ARTICLES
        ):
            break  # "war memorial", but "war das Schloss"
        if found[0].casefold() == "show" and "".join(found[1:2]).casefold() in words.OF_A_SHOW:
            break
        found = found[1:]
    return found


def _is_edge(word: str, edges: frozenset[str]) -> bool:
    return word.casefold() in edges
