"""What photos show, said by a verb behind all that tells which photos are meant.

"Which photos of the day after the parade | show a dog?": the dog belongs to the photos that are
asked for, not to the parade; so the words that lean on others end before the verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from photocraft_local.agent.planner.understand.heads import Head
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet

_SENTENCE_END = re.compile(r"[;:?!。？！；]|\.(?=\s|$)")


def cut_at_predicate(sheet: Sheet, heads: list[Head]) -> list[Head]:
    """The heads, ending where the verb begins; the verb is claimed."""
    for subject, verb in (*_main_verbs(sheet), *_relatives(sheet)):
        at = _denial(sheet, verb.start())
        if at == verb.start():
            sheet.draft.claim(*verb.span())
        sheet.breaks.append(at)
        heads = [_ended(head, subject, at) for head in heads]
        for tail in list(sheet.draft.matches(phrase_of("predicates", "tail"), verb.end())):
            sheet.draft.claim(*tail.span())
    return heads


def _ended(head: Head, subject: int, at: int) -> Head:
    if not subject <= head.anchor_start < at < head.anchor_end:
        return head
    return replace(head, anchor_end=at, stop=min(head.stop, at))


def _denial(sheet: Sheet, start: int) -> int:
    """Where "do not" begins before a verb; ``start`` if nothing denies it."""
    found = sheet.draft.before(start, phrase_of("predicates", "denied"))
    return found.start() if found else start


def _main_verbs(sheet: Sheet) -> Iterator[tuple[int, re.Match[str]]]:
    """The last verb of each sentence whose subject is photos: one before it belongs to a name
    or to a relative clause, or says what is seen beside what a last one denies."""
    text = sheet.draft.text
    for subject in phrase_of("predicates", "subject").finditer(text):
        end = _SENTENCE_END.search(text, subject.end())
        stop = end.start() if end else len(text)
        relatives = [match.span() for match in _relative_matches(sheet, subject.end())]
        verbs = [
            verb
            for verb in phrase_of("predicates", "verb").finditer(text, subject.end(), stop)
            if not any(start <= verb.start() < upto for start, upto in relatives)
        ]
        if verbs:
            denied = _denial(sheet, verbs[-1].start()) < verbs[-1].start()
            for verb in reversed(verbs[-2:] if denied else verbs[-1:]):
                yield subject.end(), verb  # "tienen nieve y | no muestran gente"
            return


def _relative_matches(sheet: Sheet, start: int = 0) -> Iterator[re.Match[str]]:
    return phrase_of("predicates", "relative").finditer(sheet.draft.text, start)


def _relatives(sheet: Sheet) -> Iterator[tuple[int, re.Match[str]]]:
    """ "photos of the day after the parade that show a dog": the verb is the nearest photos'."""
    kinds = {"relative": "plural", "relative_one": "noun", "participle": "noun"}
    for key, noun in ((key, phrase_of("predicates", noun)) for key, noun in kinds.items()):
        for verb in list(sheet.draft.matches(phrase_of("predicates", key))):
            nouns = [match.end() for match in noun.finditer(sheet.draft.text, 0, verb.start())]
            if nouns:
                yield nouns[-1], verb
