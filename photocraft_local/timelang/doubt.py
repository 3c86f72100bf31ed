"""Whether words that may be a time are meant as one, from what stands beside them: "may", "fall",
"le sapin de Noël", "a house built in 1850".

Knows the words of a text and the time that they would be; what is read is the caller's.
"""

from __future__ import annotations

from photocraft_local.timelang.feasts import name_at
from photocraft_local.timelang.recurring import season_word
from photocraft_local.timelang.relations import Phrase
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Words
from photocraft_local.timelang.years import year_number

_OF = {"of", "de", "du", "d", "del", "von", "vom"}
_FRENCH = {"en", "au", "de", "du", "le", "mois", "mi", "debut", "fin", "depuis", "jusqu"}
_FROM = {"from", "vom", "von", "de", "du"}


def is_a_things(words: Words, start: int, found: Phrase) -> bool:
    """ "le sapin de Noël": a holiday of every year behind "of" says what kind of thing."""
    every_year = found.when.year_days or found.when.holidays
    return bool(every_year) and words.key(start - 1) in _OF and name_at(words, start) is not None


def is_the_planet(words: Words, start: int, end: int) -> bool:
    """ "in Mars": March in French, a planet in English and with a capital."""
    if words.keys[start:end] != ["mars"]:
        return False
    before = words.key(start - 1)
    capital = words.tokens[start].text[0].isupper() and before not in _FRENCH
    return capital or before in ("in", "on", "from", "to")


def is_of_something_else(words: Words, at: int) -> bool:
    """ "a house built in 1850": not when the photo was taken."""
    before = at - 1
    while before > max(0, at - 4) and words.match("lead", before):
        before -= 1
    return words.match("nottimebefore", before) is not None


def is_cued_before(words: Words, at: int) -> bool:
    """ "photos from March"; "2021 except June": what is taken out of a time is a time."""
    if words.key(at) in _FROM and words.match("photo", at - 1):
        return True
    if words.fits("weather", at - 1, at) and not words.match("lead", at):  # "on a windy afternoon"
        return any(words.fits("cue", max(0, first), at - 1) for first in (at - 2, at - 3))
    return any(words.fits("not", max(0, before), at) for before in (at - 1, at - 2, at - 3))


def stands_for_a_time(words: Words, start: int, found: Phrase) -> bool:
    """An ordinary word without a cue: "winter photos", "Berlin, December 2019, evening", "May"."""
    return (
        words.match("photo", found.end) is not None
        or _opens(words, start, found.end)
        or _is_said_of_it(words, start, found.end)
        or _is_item_of_a_dated_list(words, start, found.end)
        or (start == 0 and found.end == len(words) and _is_named(found.when))
    )


def _is_said_of_it(words: Words, start: int, end: int) -> bool:
    """ "It was summer."; but "the nights were cold" and "it was spring water" say no time."""
    at = start - 1
    return words.match("copula", at) is not None and (
        end == len(words) or words.clause_ends[end] == end or words.match("lead", end) is not None
    )


def _is_named(when: When) -> bool:
    """A month or a weekday: unlike "winter" and "night", nothing that a photo shows."""
    return len(when.months) == 1 or bool(when.weekdays or when.holidays or when.year_days)


def _is_item_of_a_dated_list(words: Words, start: int, end: int) -> bool:
    """Whether commas set it apart in a text that names a year."""
    apart = start == 0 or words.shape(start - 1) == "comma"
    apart = apart and (end == len(words) or words.shape(end) == "comma")
    return apart and _names_a_year(words)


def _names_a_year(words: Words) -> bool:
    if words.names_a_year is None:
        words.names_a_year = any(year_number(words, at) for at in range(len(words)))
    return words.names_a_year


def _opens(words: Words, start: int, end: int) -> bool:
    """A season that opens the question, or is a person's own: "our summer in Lisbon"."""
    opening = start == 0 or words.key(start - 1) in ("our", "my")
    season = season_word(words, start) if opening else None
    return season is not None and season[0] == end and words.key(end) in ("in", "at", "on")
