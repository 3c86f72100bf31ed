"""What memory holds, for the person: episodes of this library, skills for all of them.

Everything can be read, corrected, taken out, given away and taken back in. Text that comes back
from an editor or a file is checked whole before anything of it is stored.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from photocraft_local.errors import LibraryError, UsageError
from photocraft_local.memory import markdown
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.skills import SkillStore
from photocraft_local.memory.skills.markdown import from_markdown, to_markdown
from photocraft_local.memory.skills.skill import Skill, is_closed, new_skill_id
from photocraft_local.memory.store import MemoryStore
from photocraft_local.records import Json

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts

Item: TypeAlias = EpisodeRecord | Skill
KINDS = ("episodes", "skills")
_log = logging.getLogger(__name__)
_LARGEST = 1 << 20  # bytes of one file
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Ids by what became of them."""

    added: tuple[str, ...]
    unchanged: tuple[str, ...]


class Remembered:
    """``kind`` is one of KINDS, or empty for both; ids of the two never meet."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def episodes(self) -> MemoryStore:
        return MemoryStore(self._parts.library().path)

    @property
    def skills(self) -> SkillStore:
        return SkillStore.of(self._parts.settings)

    def list(self, kind: str = "") -> Sequence[Item]:
        """Episodes first, oldest first; then skills."""
        episodes = self.episodes.list() if kind != "skills" else ()
        return [*episodes, *(self.skills.list() if kind != "episodes" else ())]

    def show(self, item_id: str) -> Item:
        """Raises UsageError for an id that is not there."""
        for kind in KINDS:  # episodes can be had though the skills cannot be read
            for item in self.list(kind):
                if id_of(item) == item_id:
                    return item
        raise UsageError(
            f"memory holds neither an episode nor a skill {item_id!r}",
            hint="`photocraft memory list` shows the ids",
        )

    def edit(self, item_id: str, text: str) -> Item:
        """Stores ``text_of`` an item as a person changed it. Raises UsageError with the line of a
        mistake; nothing is stored then."""
        if isinstance(self.show(item_id), Skill):
            return self.skills.edit(item_id, text)
        record = edited_episode(item_id, text)
        self.episodes.replace(record)
        return record

    def check(self, item_id: str, text: str) -> None:
        """Raises what ``edit`` would raise for the text."""
        if isinstance(self.show(item_id), Skill):
            from_markdown(text, f"skill {item_id}")
        else:
            edited_episode(item_id, text)

    def forget(self, item_id: str) -> None:
        """With an episode go its trace and the skills that it alone taught. Raises UsageError."""
        if isinstance(self.show(item_id), Skill):
            self.skills.forget(item_id)
        else:
            self.skills.forget_episode(item_id)
            self.episodes.forget(item_id)

    def forget_all(self, kind: str = "") -> int:
        """How many there were. Without the skills of the package, which are hidden then."""
        count = 0
        if kind != "skills":
            gone = [record.episode_id for record in self.episodes.list()]
            count += self.episodes.forget_all()
            for episode_id in gone:
                self.skills.forget_episode(episode_id)
        return count + (self.skills.forget_all() if kind != "episodes" else 0)

    def forget_photo(self, uid: str) -> None:
        """Removes all that names the photo, and the skills that only such episodes taught.

        Skills hold nothing of a photo; where they cannot be written that is said, and the rest
        goes. They come first, since what a crash interrupts begins again with the episodes.
        """
        try:
            for episode_id in sorted(self.episodes.naming(uid)):
                self.skills.forget_episode(episode_id)
        except LibraryError as error:
            _log.warning("%s; %s", error.message, error.hint)
        self.episodes.forget_photo(uid)

    def export(self, folder: Path, kind: str = "") -> Sequence[Path]:
        """A Markdown file for each; returns the files. Raises UsageError, LibraryError."""
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{str(folder)!r} is no folder", hint="name a folder for the files")
        episodes = self.episodes.export(folder) if kind != "skills" else ()
        return [*episodes, *(self.skills.export(folder) if kind != "episodes" else ())]

    def import_from(self, source: Path) -> ImportReport:
        """Takes a file of ``export``, or all ``.md`` files of a folder: all of them, or none.

        Raises UsageError that names file and line for what is no such file, and for an id that
        memory holds with another content.
        """
        known = {id_of(item): item for item in self.list()}
        new: dict[str, Item] = {}
        unchanged: list[str] = []
        for path in _files(source):
            item = _read(path)
            if isinstance(item, Skill):
                item = _foreign_skill(item, self.skills.seeds)
            item_id = id_of(item)
            if item_id in new:
                raise UsageError(f"{path}: {item_id} is in another file too", hint="remove one")
            if item_id not in known:
                new[item_id] = item
            elif text_of(known[item_id]) == text_of(item):
                unchanged.append(item_id)
            else:
                raise UsageError(
                    f"{path}: memory holds {item_id} with another content; nothing is imported",
                    hint=f"photocraft memory forget {item_id} makes room for it",
                )
        for item in new.values():
            if isinstance(item, EpisodeRecord):
                self.episodes.add(item)
            else:
                self.skills.add(item)
        return ImportReport(tuple(new), tuple(unchanged))

    def stats(self) -> dict[str, Json]:
        """Numbers only, so that they can be told without telling of a question."""
        episodes, store = self.episodes.list(), self.episodes
        traces, trace_bytes = store.traces()
        return {
            "episodes": {
                "count": len(episodes),
                "accepted": sum(record.accepted for record in episodes),
                "empty": sum(not record.uids for record in episodes),
                "bytes": store.num_bytes(),
                "tools": dict(Counter(name for one in episodes for name in one.tools)),
            },
            "traces": {"count": traces, "bytes": trace_bytes},
            "skills": asdict(self.skills.stats()),
        }


def id_of(item: Item) -> str:
    return item.episode_id if isinstance(item, EpisodeRecord) else item.skill_id


def text_of(item: Item) -> str:
    """As Markdown."""
    if isinstance(item, EpisodeRecord):
        return markdown.to_markdown(item)
    return to_markdown(item)


def edited_episode(item_id: str, text: str) -> EpisodeRecord:
    record = markdown.from_markdown(text, f"episode {item_id}")
    if record.episode_id != item_id:
        raise UsageError(
            f"episode {item_id}, line 1: the id may not be changed", hint="leave the title as it is"
        )
    return record


def _files(source: Path) -> Iterable[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise UsageError(f"there is no file or folder {str(source)!r}", hint="check the spelling")
    files = sorted(source.glob("*.md"))
    if not files or len(files) > _MOST_FILES:
        raise UsageError(
            f"the folder {str(source)!r} holds {len(files)} Markdown files",
            hint=f"name a folder that `photocraft memory export` wrote, of at most {_MOST_FILES:,}",
        )
    return files


def _read(path: Path) -> Item:
    """Raises UsageError that names the file, and the line where there is one."""
    try:
        raw = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
        text = raw.decode("utf-8")
    except OSError as exc:
        raise UsageError(f"{path} cannot be read: {exc.strerror}", hint="check its mode") from exc
    except UnicodeDecodeError as exc:
        line = raw[: exc.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line}: no text in UTF-8", hint="save it as UTF-8") from exc
    readers: dict[str, Callable[[str, str], Item]] = {
        markdown.TITLE: markdown.from_markdown,
        "# Skill ": from_markdown,
    }
    for title, read in readers.items():
        if text.startswith(title):
            return read(text, str(path))
    raise UsageError(
        f"{path}, line 1: neither an episode nor a skill of photocraft",
        hint="name files that `photocraft memory export` wrote",
    )


def _foreign_skill(skill: Skill, seeds: Sequence[Skill]) -> Skill:
    """Nothing passes for learned or for the package's by saying so."""
    for seed in seeds:
        counted = replace(seed, wins=skill.wins, losses=skill.losses, last_used=skill.last_used)
        if text_of(counted) == text_of(skill):
            return counted
    if skill.origin == "seed":
        skill = replace(skill, skill_id=new_skill_id())
    return replace(skill, origin="learned" if is_closed(skill) else "written")
