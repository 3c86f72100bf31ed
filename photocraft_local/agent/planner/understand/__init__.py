"""From a question to a plan: ``understand``.

``phrases`` loads the tables of words (``data/*.tsv``), the recognisers claim what they know in a
fixed order on one ``Sheet``, and ``clauses`` builds the described sets from what they found.
Knows no library and no tool.
"""

from photocraft_local.agent.planner.understand.question import understand

__all__ = ["understand"]
