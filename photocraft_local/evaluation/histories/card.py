"""The card of a history, in Markdown: what it is, its dials, its counts, its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_HEAD = """\
# {name}

A made-up life: {photos} files composed of {sources} labelled photos, and {questions} questions
whose right photos are known. Fingerprint `{fingerprint}`; the same sources and dials give the
same bytes (with the same versions of NumPy and Pillow).

## What is true

Times, towns, events, trips and cameras are the generator's (`truth.jsonl`); what a photo shows
are the labels of its source, and only sources with complete labels are taken. Each file has
bytes of its own: its source's compressed pixels as they are, or compressed again (quality 88),
or lightened by 6 %, or scaled to 90 %, and EXIF with an id of its own. Nothing is cut, moved or
covered, so the labels hold. Screenshots are drawn. A look-alike is the photo most like a sight
that does not show it, in colours, edges and what else it shows, chosen without any encoder.

A question stands only where the life as it was and the life as its files state it have the same
answer, in each reading that the wording allows (a teddy bear may be a bear; a chain's end may
belong to its beginning; a week may begin on Sunday, and the week after something may be the seven
days after it; a screenshot may be no photo). So a wrong clock can lead a search astray, but never
decides what is right. Questions are asked on 15 March 2024; the person has named "home" and "work".
"""

_LIMITS = """\
## Limits

* One source stands behind many files: what an encoder gets wrong in it, it gets wrong in all of
  them. Figures of two encoders differ more here than in an album of that many different photos.
* Events are put together by chance. In a life things belong together (a beach has no toasters).
* The questions are English, from templates; a chain of five links is harder to read than what
  people ask.
* "Without" and "no photo" trust that the sources' labels are complete.
* A town is one of a few, and every position lies within 2 km of its centre.
"""


def card(head: Mapping[str, Any], examples: Sequence[tuple[str, int, int]]) -> str:
    """``examples``: question, hops, number of photos."""
    counts = head["counts"]
    flat = {name: counts[name] for name in ("photos", "sources", "questions")}
    parts = [_HEAD.format(name=head["name"], fingerprint=head["fingerprint"], **flat)]
    parts.append(_table("Dials", head["dials"]))
    plain = {name: value for name, value in counts.items() if not isinstance(value, dict)}
    parts.append(_table("Counts", plain))
    parts += [
        _table(name.replace("_", " ").capitalize(), value)
        for name, value in counts.items()
        if isinstance(value, dict) and value
    ]
    rows = [f"| {text} | {hops} | {num} |" for text, hops, num in examples]
    header = ["## Examples", "", "| question | hops | photos |", "|---|---|---|"]
    parts.append("\n".join([*header, *rows]) + "\n")
    return "\n".join([*parts, _LIMITS])


def _table(title: str, values: Mapping[str, Any]) -> str:
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in values.items()]
    return "\n".join([f"## {title}", "", "| | |", "|---|---|", *rows]) + "\n"
