"""lookup: the person's own notes, offline. Stands where other systems search the web."""

from __future__ import annotations

from photocraft_local.records import Json, Observation, path_text
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, safe_text
from photocraft_local.tools.knowledge import SUFFIXES, Passage, best_passages, read_notes
from photocraft_local.tools.ports import Arguments

_LONGEST_PASSAGE = 600  # characters
_MOST_PASSAGES = 8


class Lookup:
    name = "lookup"
    description = (
        "Search the notes that the person put beside the library (Markdown or text: names of "
        "people and pets, trips, addresses). There is no web: what is not in the notes cannot "
        "be looked up. Returns passages with file and line, best first, by shared words."
    )
    parameters = schema.arguments(
        "query",
        query=schema.words("Words to look for, e.g. 'name of our dog'."),
        source=schema.words("Only notes whose file name contains this.", longest=200),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        folder = context.knowledge_folder
        notes = read_notes(folder, arguments.get("source", ""))
        found = best_passages(notes, arguments["query"], most=_MOST_PASSAGES)
        data: dict[str, Json] = {
            "count": len(found),
            "files_searched": notes.num_files,
            "passages": [_row(passage) for _, passage in found],
        }
        if notes.left_out:
            data["left_out"] = [safe_text(reason) for reason in notes.left_out[:10]]
        if not notes.num_files:
            where = safe_text(path_text(bytes(folder)), 300)
            kinds = ", ".join(SUFFIXES)
            data["note"] = (
                f"the person has added no such notes; {kinds} files put into the folder {where} "
                "are searched"
            )
        return Observation(self.name, data=data, brief=counted(len(found), "passage"))


def _row(passage: Passage) -> dict[str, Json]:
    return {
        "source": safe_text(passage.source),
        "line": passage.line,
        "text": safe_text(passage.text, _LONGEST_PASSAGE),
    }
