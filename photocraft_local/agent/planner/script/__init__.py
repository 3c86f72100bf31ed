"""A plan as lines of words that a person reads and corrects, and back again.

``lines`` knows the form, ``headers`` the words for relations, picks and asks, ``writing`` and
``building`` the two directions, ``sentence`` one sentence for a plan. Reads no question itself.
"""

from photocraft_local.agent.planner.script.building import from_text
from photocraft_local.agent.planner.script.resolving import Reader
from photocraft_local.agent.planner.script.sentence import in_words
from photocraft_local.agent.planner.script.writing import to_text

__all__ = ["Reader", "from_text", "in_words", "to_text"]
