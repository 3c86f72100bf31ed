"""Semantic memory: ways of searching that held, as skills of the person over all libraries.

``abstraction`` makes a skill of an accepted episode, ``masking`` leaves nothing of its words,
``store`` keeps it. Knows no loop and no model.
"""

from photocraft_local.memory.skills.skill import Skill
from photocraft_local.memory.skills.store import Imported, SkillStats, SkillStore
from photocraft_local.memory.skills.tool_sketch import NoHints, SkillHints, ToolSketchHints

__all__ = [
    "Imported",
    "NoHints",
    "Skill",
    "SkillHints",
    "SkillStats",
    "SkillStore",
    "ToolSketchHints",
]
