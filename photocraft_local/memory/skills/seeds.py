"""The skills that ship with the package: written for the common shapes of questions.

They can be switched off (``skill_seeds``); no figure that is reported was measured with them.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

from photocraft_local.memory.skills.skill import Skill

_FILE = Path(__file__).parent / "data" / "seeds.toml"


@lru_cache(maxsize=1)
def seeds() -> tuple[Skill, ...]:
    """By id."""
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    made = [
        Skill.from_json({"skill_id": f"seed-{name}", "origin": "seed", **table})
        for name, table in tables.items()
    ]
    return tuple(sorted(made, key=lambda skill: skill.skill_id))
