"""The memory of a question of a data set: no episodes, skills of other users, learned ones apart.

Leave-one-user-out: what a question's own user taught is never among its hints. Nothing that is
read changes while questions run.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.evaluation.results import safe_name
from photocraft_local.memory.skills import SkillStore

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.memory.memory import Memory

FOLDER = "skills"  # of a run: what its questions taught, one folder a user


class Skills:
    """``earlier``: the folder of an earlier run; None: no hints. ``run``: this one's, to learn
    into; None: nothing is learned."""

    def __init__(self, earlier: Path | None, run: Path | None) -> None:
        self._earlier, self._run = earlier, run
        self._stores: dict[str, SkillStore] = {}

    def memory(self, parts: Parts, user: str) -> Memory:
        """As the settings switch it. Without a store of episodes: each question finds it empty."""
        from photocraft_local.app.memories import memory_of

        memory = memory_of(parts)
        memory.store = None
        if memory.skills is not None:
            memory.skills = self._learned(user) if self._run else None
        return memory

    def of_others(self, user: str) -> Path:
        """A folder with the skills of all users of the earlier run but ``user``."""
        base = self._run or self._earlier or Path()
        if self._earlier is None:
            return base / "no-skills"
        folder = base / "skills-of-others" / safe_name(user)
        if not folder.is_dir():
            self._made(folder, safe_name(user))
        return folder

    def close(self) -> None:
        for store in self._stores.values():
            store.close()

    def _made(self, folder: Path, user: str) -> None:
        assert self._earlier is not None
        part = folder.with_name(f".{folder.name}.{os.getpid()}.{threading.get_ident()}")
        part.mkdir(parents=True, exist_ok=True)
        target = SkillStore(part)
        taught = self._earlier / FOLDER
        for source in sorted(taught.iterdir()) if taught.is_dir() else ():
            if source.name != user:
                store = SkillStore(source)
                for skill in store.list():
                    target.add(skill)
                store.close()
        target.close()
        try:
            part.rename(folder)
        except OSError:  # another thread was first
            shutil.rmtree(part)

    def _learned(self, user: str) -> SkillStore:
        assert self._run is not None
        if user not in self._stores:
            self._stores[user] = SkillStore(self._run / FOLDER / safe_name(user))
        return self._stores[user]
