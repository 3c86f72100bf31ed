"""The memory of one library as the agent sees it: opens episodes, answers ``recall``.

``EpisodeMemory`` holds one running episode: its prompt, course and record. Failures to
store are logged, never raised: a question is answered with a broken memory, too.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from photocraft_local.errors import LibraryError
from photocraft_local.memory.compaction import FOLDS, Compaction, Prose, summary
from photocraft_local.memory.context import Context
from photocraft_local.memory.course import Course
from photocraft_local.memory.digest import leading_lines
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.shortening import Cut
from photocraft_local.memory.skills import (
    NoHints,
    SkillHints,
    SkillStore,
    StoredHints,
    learn,
)
from photocraft_local.memory.skills.likeness import Embed
from photocraft_local.memory.skills.masking import FindPlaces, no_places
from photocraft_local.memory.store import MemoryStore
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Answer, Intent, Step
from photocraft_local.serving.chat_model import Message
from photocraft_local.settings import Settings
from photocraft_local.tools.planning import stated

_MOST_NOTES = 4  # of one episode
_log = logging.getLogger(__name__)


class EpisodeMemory:
    """One episode while it runs."""

    def __init__(
        self,
        context: Context,
        record: EpisodeRecord,
        *,
        hints: Sequence[str] = (),
        episodic: bool = True,
    ) -> None:
        """``hints``: ids of the skills that stand in the prompt."""
        self.context = context
        self.hints = tuple(hints)
        self.record = record
        self.course = Course(episodic)
        self.working = self.course.working
        self._steps: list[Step] = []
        self.meant: list[Step] = []  # the same in the terms of our tools
        self._prose: Prose | None = None  # the newest that a model wrote, of steps to …
        self._told = 0
        self._by_rules = False  # the plan is theirs
        self.repaired: tuple[str, ...] = ()  # what was mended in the newest S

    @property
    def steps(self) -> Sequence[Step]:
        return self._steps

    def messages(self) -> list[Message]:
        return self.context.messages()

    def state(self, intent: Intent) -> None:
        """What rules understood of the question, before the first step. For the record alone: the
        prompt comes from steps."""
        if self.course.episodic:
            plan = stated(intent.breakdown)
            self.record = replace(self.record, intent=intent, plan=plan)
            self._by_rules = True

    def observe(self, step: Step, meant: Step | None = None) -> None:
        """Takes a finished step into the prompt, the working state and the record. ``meant``: a
        foreign tool's, in the terms of ours."""
        meant = meant or step
        self.record = self.course.into(self.record, meant)
        self._newest = step
        self._steps.append(replace(step, observation=meant.observation))
        self.meant.append(meant)
        self.context.add_turn(step, self.course.line)

    def finished(self, answer: Answer) -> EpisodeRecord:
        """Rules mark no steps: where their answer holds they have done them all."""
        record = self.record.with_answer(answer)
        if not (self._by_rules and record.accepted):
            return record
        return replace(record, plan=tuple(replace(one, status="done") for one in record.plan))

    def cut(self, cut: Cut) -> None:
        """Shows the last step shortened; before its turn is sent, never after."""
        if self.context.num_turns and cut.step == len(self._steps):
            self.context.drop_last_turn()
            self.context.add_turn(self._newest, self.course.line, cut)

    def compact(self, made: Compaction) -> int:
        """S = digest ⊕ session ⊕ working takes the place of the turns up to ``made.covered``.
        Returns its characters.

        Conditions, ids and sets are checked by code against the state, never an earlier S: none can
        be lost, however often this happens. A second call for the same steps, with
        another fold, makes S anew.
        """
        prose = Prose.from_plain(made.plain) if made.plain else made.prose
        if prose is not None:
            self._prose, self._told = prose, made.covered
            self.working.sub_goal = prose.sub_goal
            self.working.next_action = prose.next_action
        thoughts = [
            f"{step.index} {' '.join(step.thought.split())}"
            for step in self._steps[self._told : made.covered]
            if step.thought.strip()
        ]
        fold = FOLDS[made.fold]
        part = made.plain or self._prose
        whole = summary(self._steps, made.covered, self.working, part, thoughts, fold)
        self.context.compact(whole.text, keep=len(self._steps) - made.covered)
        self.repaired = whole.repaired
        return len(whole.text)


class Memory:
    """Memory over episodes. ``store`` and ``skills`` are None where they are switched off."""

    def __init__(
        self,
        store: MemoryStore | None,
        hints: SkillHints,
        skills: SkillStore | None = None,
        find_places: FindPlaces = no_places,
    ) -> None:
        self.store = store  # of episodes
        self.hints = hints
        self.skills = skills
        self._find_places = find_places
        self._wish = ""

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        find_places: FindPlaces = no_places,
        embed: Embed | None = None,
    ) -> Memory:
        """The library's episodes and the person's skills, as the settings switch them; nothing is
        read or written yet. ``find_places`` tells where a question names places, ``embed`` is an
        encoder's that can tell sentences apart."""
        is_kept = settings.memory and settings.episodic
        store = MemoryStore(settings.library) if is_kept else None
        if not (settings.memory and settings.skills):
            return cls(store, NoHints())
        skills = SkillStore.of(settings)
        return cls(store, StoredHints(skills, find_places, embed), skills, find_places)

    def finish(
        self, episode: EpisodeMemory, answer: Answer, steps: Sequence[Step] | None = None
    ) -> None:
        """Keeps a finished episode for later questions, and learns from it; from ``steps``, if it
        leans on earlier attempts, whose steps are among them."""
        record = episode.finished(answer)
        if self.store is not None:
            try:
                self.store.add(record)
            except LibraryError as error:
                told = "this question is not remembered: %s (%s)"
                _log.warning(told, error.message, error.hint)
        if self.skills is not None:
            steps = episode.meant if steps is None else steps
            learn(self.skills, record, answer, steps, episode.hints, self._find_places)

    def recall(self, text: str) -> list[str]:
        """Past episodes whose question, intent or plan share words with ``text``, then ways of
        searching that held for questions of its shape; one note each."""
        found = self.store.recall(text) if self.store else ()
        ways = [hint.text for hint in self.hints.for_question(text)]
        return [*map(_note, found), *ways]

    def request_compaction(self, reason: str) -> None:
        """The backbone's wish; the loop grants it after the step in hand."""
        self._wish = reason or "asked for"

    def take_compaction_request(self) -> str:
        """The pending reason, once; empty if there is none."""
        wish, self._wish = self._wish, ""
        return wish


def _note(record: EpisodeRecord) -> str:
    """What came of it, what it left behind, and behind that its steps: where photos were found,
    those that led to them."""
    found = f"{len(record.uids)} photos" if record.uids else f"no photos: {record.reason}"
    told = [f"{record.started} {prompt_json(record.question)} -> {found}."]
    if record.intent.episode:
        told.append(f"Context: {prompt_json(record.intent.episode)}.")
    told += [f"{note[:1].upper()}{note[1:]}." for note in list(record.notes())[:_MOST_NOTES]]
    steps = leading_lines(record.digest) if record.uids else record.digest
    return " ".join([*told, f"Steps: {'; '.join(steps)}"])
