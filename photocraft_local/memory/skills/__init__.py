"""Semantic memory: ways of searching that held, as skills of the person over all libraries.

``abstraction`` makes a skill of an accepted episode, ``masking`` leaves nothing of its words,
``store`` keeps it, ``retrieval`` gives it as a hint. Knows no loop and no model.
"""

from photocraft_local.memory.skills.hints import Hint, NoHints, SkillHints
from photocraft_local.memory.skills.learning import learn
from photocraft_local.memory.skills.retrieval import StoredHints
from photocraft_local.memory.skills.seeds import seeds
from photocraft_local.memory.skills.skill import Skill
from photocraft_local.memory.skills.store import SkillStats, SkillStore

__all__ = [
    "Hint",
    "NoHints",
    "Skill",
    "SkillHints",
    "SkillStats",
    "SkillStore",
    "StoredHints",
    "learn",
    "seeds",
]
