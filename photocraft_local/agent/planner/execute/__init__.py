"""From a plan to tool calls and, at the end, an answer: ``moves``.

``finding`` and ``narrowing`` make a described set step by step, ``relating`` leans one on another,
``claims`` says what the answer has to prove, ``answering`` puts it into words. Knows no
library: only what the tools said.
"""

from photocraft_local.agent.planner.execute.moves import moves, nothing
from photocraft_local.agent.planner.execute.steps import Move, Moves, Result

__all__ = ["Move", "Moves", "Result", "moves", "nothing"]
