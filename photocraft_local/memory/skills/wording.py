"""The closed lists beside the symbols: kinds of conditions, and what to beware of, in words.

What went wrong in an episode is told by code with one of these lines, never in its own words.
"""

from __future__ import annotations

KINDS = {
    "time": "taken at some time",
    "place": "taken at some place",
    "camera": "taken with some camera",
    "facts": "another fact of the photo",
    "look": "something is seen",
    "not-look": "something is not seen",
    "relation": "stands to other photos in time, place, event or trip",
    "order": "the first, last or nearest of many",
    "likeness": "like a given picture",
    "judged": "seen by looking, photo by photo",
    "sets": "several sets joined or taken away",
    "words": "an answer in words",
}

PITFALLS = {
    "empty search": "a first search of looks came back empty; other words for it found some",
    "empty filter": "a first filter came back empty; a wider one found some",
    "empty relation": "a first relation came back empty; another one found some",
    "refused call": "a call was refused; its error said what was allowed",
    "refused answer": "an answer was refused for photos that broke a condition; "
    "check each condition on each photo before submitting",
    "doubted answer": "photos that looked right were doubted; compare_photos before submitting",
}
