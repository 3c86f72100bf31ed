"""recall: a look into memory. What memory is, only the layer above knows."""

from __future__ import annotations

from photocraft_local.records import Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, safe_text
from photocraft_local.tools.ports import Arguments

_LONGEST_NOTE = 600  # characters


class Recall:
    name = "recall"
    description = (
        "Look into memory: notes on this library, how past questions were answered, and skills "
        "that helped. Use it when the question refers to something found before, or when you "
        "do not know how to go on. Returns short notes, best first; none is a normal result."
    )
    parameters = schema.arguments(
        "text", text=schema.words("What to remember, in words, e.g. 'trip to the lake'.")
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        notes = context.memory.recall(arguments["text"])
        data = {"count": len(notes), "notes": [safe_text(note, _LONGEST_NOTE) for note in notes]}
        return Observation(self.name, data=data, brief=counted(len(notes), "note"))
