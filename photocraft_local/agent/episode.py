"""One running episode: its trajectory, its memory, and where it stands with its limits.

Knows which replies were refused in a row and which earlier calls the model can still see;
the loop decides what follows from that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from photocraft_local.agent.attempts import LastTurn, Limit
from photocraft_local.agent.interrupts import CallRejected, FinalAnswerDue
from photocraft_local.agent.prompts import render
from photocraft_local.agent.trajectory import Kept, Trajectory
from photocraft_local.memory.compaction import Compaction
from photocraft_local.memory.memory import EpisodeMemory
from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.memory.working import WorkingState
from photocraft_local.records import Json, Step, ToolCall
from photocraft_local.serving.chat_model import Message, Reply
from photocraft_local.tools.plan import PlanTool

MOST_SAID = 2000  # characters that are kept of a reply without a call
_MOST_HELD, _MOST_SETS = 60, 12  # photos of each kind, and sets, that the last turn is offered


@dataclass
class Episode:
    trajectory: Trajectory
    memory: EpisodeMemory
    kept: Kept
    num_refused: int = 0  # replies in a row that brought nothing
    correction: tuple[Message, ...] = ()  # rolls back with the next good call
    _last_words: tuple[Message, ...] = ()  # of the last turn: the next reply must be the answer
    _first_visible: int = 0  # index into steps; older ones were compacted away

    @property
    def last_turn(self) -> LastTurn | None:
        return self.trajectory.last_turn

    @property
    def num_steps(self) -> int:
        return len(self.trajectory.steps)

    def messages(self) -> list[Message]:
        return [*self.memory.messages(), *self._last_words, *self.correction]

    def record(self, step: Step) -> None:
        """A good turn enters trajectory and memory; in the last turn, only an answer that the
        tool accepted counts as good."""
        self.num_refused = self.num_refused + 1 if self.last_turn else 0
        self.correction = ()
        self.take(step)
        self.save()

    def take(self, step: Step) -> None:
        self.trajectory.steps.append(step)
        self.memory.observe(step)

    def refuse(self, rejected: CallRejected, reply: Reply) -> None:
        """A bad reply leaves no turn behind; only the newest correction is shown."""
        self.num_refused += 1
        self.correction = rejected.messages
        self.trajectory.rejected.append(
            {
                "before_step": self.num_steps + 1,
                "reason": rejected.reason,
                "thought": shortened(reply.text, MOST_SAID),
                "call": None if rejected.call is None else asdict(rejected.call),
                "usage": asdict(reply.usage),
                "correction": "\n".join(str(one["content"]) for one in rejected.messages),
            }
        )
        self.save()

    def due(self, limit: Limit, why: str) -> FinalAnswerDue:
        """The end of the turns: the question again, and what the state of the search already
        holds, so that the answer is taken from it and not thought up anew."""
        question = prompt_json(self.trajectory.question)
        known = {} if self.memory.context.is_bare else held(self.memory.working)
        words = render("final_answer", why=why, question=question, held=prompt_json(known))
        return FinalAnswerDue(limit, why, words)

    def force_answer(self, due: FinalAnswerDue) -> None:
        record = self.trajectory
        num_rejected = len(record.rejected)
        record.last_turn = LastTurn(due.limit, due.why, due.words, self.num_steps, num_rejected)
        self._last_words, self.num_refused, self.correction = due.messages, 0, ()
        self.save()

    def put_back_limits(self) -> None:
        """Where an episode that was cut stood with its limits, as its trace tells."""
        record, last = self.trajectory, self.last_turn
        newest = [one for one in record.rejected if one["before_step"] > self.num_steps]
        if last is not None:
            self._last_words = (_user(last.words),)
            newest = newest[-(len(record.rejected) - last.after_rejected) or len(newest) :]
            self.num_refused = self.num_steps - last.after_step
            self.num_refused += len(record.rejected) - last.after_rejected
        else:
            self.num_refused = len(newest)
        if newest and newest[-1]["correction"]:
            self.correction = (_user(newest[-1]["correction"]),)

    def earlier(self, call: ToolCall) -> Step | None:
        """The visible step that made the same call and would still bring the same; an answer that
        was doubted may be accepted when it is given again."""
        resaved: set[object] = set()
        for step in reversed(self.trajectory.steps[self._first_visible :]):
            if step.call.name == call.name and step.call.arguments == call.arguments:
                doubted = not {"doubtful", "unmentioned"}.isdisjoint(step.observation.data)
                return None if doubted or resaved & _sets_read(call) else step
            if step.call.name == call.name == PlanTool.name:
                return None  # back to what the plan was before
            resaved.add(step.call.arguments.get("save_as"))
        return None

    def compact(self, made: Compaction) -> int:
        """Returns the characters of S."""
        self._first_visible = made.covered
        return self.memory.compact(made)

    def save(self) -> None:
        self.kept.save()


def _sets_read(call: ToolCall) -> set[object]:
    sets = call.arguments.get("sets")
    names = sets if isinstance(sets, list) else []
    single = {call.arguments.get(key) for key in ("within", "set", "compare")}
    return {*single, *names} - {None}


def held(working: WorkingState, most: int = _MOST_HELD, most_sets: int = _MOST_SETS) -> Json:
    """Confirmed photos by reason, rejected ones, and sets with their counts; the newest of many."""
    confirmed: dict[str, list[str]] = {}
    for uid, why in _newest(working.confirmed, most).items():
        confirmed.setdefault(shortened(why), []).append(uid)
    return {
        "confirmed": {why: " ".join(uids) for why, uids in confirmed.items()},
        "rejected": " ".join(_newest(working.rejected, most)),
        "sets": _newest(working.sets, most_sets),
    }


def _newest(items: dict[str, Json], most: int) -> dict[str, Json]:
    return dict(list(items.items())[max(0, len(items) - most) :])


def _user(text: str) -> Message:
    return {"role": "user", "content": text}
