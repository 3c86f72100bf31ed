"""The memory of one library as the agent sees it: opens episodes, answers ``recall``.

``EpisodeMemory`` holds one running episode: its prompt, working state and record. Failures to
store are logged, never raised: a question is answered with a broken memory, too.
"""

from __future__ import annotations

import logging

from photocraft_local.errors import LibraryError
from photocraft_local.memory.context import Context
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.skills import NoHints, SkillHints, ToolSketchHints
from photocraft_local.memory.store import MemoryStore
from photocraft_local.memory.text import prompt_json
from photocraft_local.memory.working import WorkingState
from photocraft_local.records import Answer, Step
from photocraft_local.serving.chat_model import Message
from photocraft_local.settings import Settings

_log = logging.getLogger(__name__)


class EpisodeMemory:
    """One episode while it runs."""

    def __init__(self, context: Context, record: EpisodeRecord) -> None:
        self.context = context
        self.record = record
        self.working = WorkingState()
        self._session: list[str] = []  # the backbone's own words, one a step

    def messages(self) -> list[Message]:
        return self.context.messages()

    def observe(self, step: Step) -> None:
        """Takes a finished step into the prompt, the working state and the record."""
        self.working.observe(step)
        self.record = self.record.with_step(step)
        if step.thought.strip():
            self._session.append(f"{step.index} {step.thought.strip()}")
        self.context.add_turn(step, self.working.line())

    def compact(self) -> None:
        """S = digest ⊕ session ⊕ working takes the place of all turns. All of it by code, so
        every constraint, id and set is copied and none can be lost."""
        state = self.working.to_json()
        self.context.compact(
            "Summary of the turns so far, as JSON; the turns themselves are gone.\n"
            + prompt_json(
                {"digest": [*self.record.digest], "session": self._session, "working": state}
            )
        )


class Memory:
    """Memory over episodes. ``store`` is None when it is switched off."""

    def __init__(self, store: MemoryStore | None, hints: SkillHints) -> None:
        self.store = store
        self.hints = hints
        self._wish = ""

    @classmethod
    def open(cls, settings: Settings) -> Memory:
        """The library's memory by ``settings.memory``; nothing is read or written yet."""
        if not settings.memory:
            return cls(None, NoHints())
        store = MemoryStore(settings.library)
        return cls(store, ToolSketchHints(store))

    def finish(self, episode: EpisodeMemory, answer: Answer) -> None:
        """Keeps a finished episode for later questions."""
        if self.store is None:
            return
        try:
            self.store.add(episode.record.with_answer(answer))
        except LibraryError as error:
            _log.warning("this question is not remembered: %s", error.message)

    def recall(self, text: str) -> list[str]:
        """Past episodes whose questions share words with ``text``, one note each."""
        found = self.store.recall(text) if self.store else ()
        return [_note(record) for record in found]

    def request_compaction(self, reason: str) -> None:
        """The backbone's wish; the loop grants it after the step in hand."""
        self._wish = reason or "asked for"

    def take_compaction_request(self) -> str:
        """The pending reason, once; empty if there is none."""
        wish, self._wish = self._wish, ""
        return wish


def _note(record: EpisodeRecord) -> str:
    found = f"{len(record.uids)} photos" if record.uids else f"no photos: {record.reason}"
    steps = "; ".join(record.digest)
    return f"{record.started} {prompt_json(record.question)} -> {found}. Steps: {steps}"
