"""One running episode: its trajectory, its memory, and where it stands with its limits.

Knows which replies were refused in a row and which earlier calls the model can still see;
the loop decides what follows from that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from photocraft_local.agent.interrupts import CallRejected, FinalAnswerDue
from photocraft_local.agent.trajectory import Kept, Trajectory
from photocraft_local.memory.compaction import Compaction
from photocraft_local.memory.memory import EpisodeMemory
from photocraft_local.memory.text import shortened
from photocraft_local.records import Step, ToolCall
from photocraft_local.serving.chat_model import Message, Reply

_MOST_SAID = 2000  # characters that are kept of a reply without a call


@dataclass
class Episode:
    trajectory: Trajectory
    memory: EpisodeMemory
    kept: Kept
    num_refused: int = 0  # replies in a row that brought nothing
    correction: tuple[Message, ...] = ()  # rolls back with the next good call
    last_turn: FinalAnswerDue | None = None  # set once the next reply must be the answer
    _first_visible: int = 0  # index into steps; older ones were compacted away

    @property
    def num_steps(self) -> int:
        return len(self.trajectory.steps)

    def messages(self) -> list[Message]:
        last = self.last_turn.messages if self.last_turn else ()
        return [*self.memory.messages(), *last, *self.correction]

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
                "thought": shortened(reply.text, _MOST_SAID),
                "call": None if rejected.call is None else asdict(rejected.call),
                "usage": asdict(reply.usage),
                "correction": "\n".join(str(one["content"]) for one in rejected.messages),
            }
        )
        self.save()

    def force_answer(self, due: FinalAnswerDue) -> None:
        self.last_turn, self.num_refused, self.correction = due, 0, ()

    def earlier(self, call: ToolCall) -> Step | None:
        """The visible step that made the same call and would still bring the same; an answer that
        was doubted may be accepted when it is given again."""
        resaved: set[object] = set()
        for step in reversed(self.trajectory.steps[self._first_visible :]):
            if step.call.name == call.name and step.call.arguments == call.arguments:
                doubted = not {"doubtful", "unmentioned"}.isdisjoint(step.observation.data)
                return None if doubted or resaved & _sets_read(call) else step
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
