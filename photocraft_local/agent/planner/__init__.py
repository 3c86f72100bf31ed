"""The rule-based backbone: a question with a look, a time and a place becomes tool calls.

``reading`` splits the question, ``plan`` turns it into the next call, ``planner`` is the
ChatModel. It sees messages only, like any other backbone.
"""

from photocraft_local.agent.planner.planner import Planner

__all__ = ["Planner"]
