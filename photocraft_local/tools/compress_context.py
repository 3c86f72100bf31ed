"""compress_context: the model's own wish for a compaction, passed on to memory."""

from __future__ import annotations

from photocraft_local.records import Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.ports import Arguments


class CompressContext:
    name = "compress_context"
    description = (
        "Ask for the conversation to be compacted before the next turn. Constraints, named "
        "sets, confirmed and rejected photos are kept; pictures leave the context and can be "
        "fetched again. Use it when many pictures were viewed or a line of search is finished."
    )
    parameters = schema.arguments(
        "reason", reason=schema.words("Why now, and what must not be lost.")
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        context.memory.request_compaction(arguments["reason"])
        return Observation(self.name, data={"requested": True}, brief="compaction requested")
