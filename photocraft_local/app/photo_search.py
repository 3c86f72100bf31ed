"""``PhotoSearch``: one library of photos, to be indexed, searched and asked.

Every public method opens only the parts that it needs. Errors are those of ``errors.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.asking import Question, ask, resume
from photocraft_local.app.asking import plan as understood
from photocraft_local.app.episodes import Listeners
from photocraft_local.app.filters import Filters
from photocraft_local.app.indexing import absolute, index
from photocraft_local.app.parts import Parts
from photocraft_local.app.results import (
    AskAnswer,
    AskedPlan,
    Candidates,
    CompactReport,
    IndexSummary,
    LibraryStatus,
    PhotoDetails,
    SearchAnswer,
)
from photocraft_local.app.searching import Look, search
from photocraft_local.app.texts import plain
from photocraft_local.app.viewing import show, status
from photocraft_local.records import Photo, Step
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.app.knowledge import Knowledge
    from photocraft_local.app.places import NamedPlaces
    from photocraft_local.app.remembered import Remembered
    from photocraft_local.app.spaces import Spaces
    from photocraft_local.app.traces import Traces
    from photocraft_local.library.progress import Progress


class PhotoSearch:
    """One library; a context manager. ``settings=None`` reads the file and the environment.

    >>> from photocraft_local import PhotoSearch
    >>> with PhotoSearch() as photos:
    ...     photos.index("~/Pictures")
    ...     for found in photos.search("dog on a beach", after="2021-06", near="Lisbon").photos:
    ...         print(found.photo.uid, found.score)
    """

    def __init__(self, settings: Settings | None = None, *, today: date | None = None) -> None:
        self.settings = settings or Settings.load()
        self.today = today or date.today()  # what "last summer" is read against
        self._parts = Parts(self.settings)

    def __enter__(self) -> PhotoSearch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and models; the next call opens them again."""
        self._parts.close()

    def index(self, *folders: str | bytes | Path, progress: Progress | None = None) -> IndexSummary:
        """Take the photos of ``folders`` into the library and embed what has no vector yet.

        Without folders: those of the earlier runs. The folders are only read. ``progress`` is
        called with (stage, done, total or None). May be interrupted and run again at any time.
        Raises UsageError for what is no folder, LibraryError, MissingExtraError, EncoderError.
        """
        return index(self._parts, folders, progress)

    def search(
        self,
        text: str = "",
        *,
        like: str | Path | Sequence[str | Path] = (),
        not_text: str | Sequence[str] = (),
        after: str | None = None,
        before: str | None = None,
        when: str | None = None,
        near: str | None = None,
        km: float | None = None,
        place: str | None = None,
        camera: str | None = None,
        where: str | None = None,
        top_k: int | None = None,
    ) -> SearchAnswer:
        """Photos that look like ``text`` and ``like`` (UIDs or picture files) and not like
        ``not_text``, one or several of each, among those that meet every condition; ``Filters``
        says what each means.

        Every match and nothing else, best first, possibly none: a match scores ``cutoff`` or
        more. With ``top_k``, that many of the nearest photos, matches or not. Without a look,
        all photos that meet the conditions, by time.
        Raises SearchError and its kin, UsageError, EncoderError, MissingExtraError.
        """
        filters = Filters(
            after=plain(after),
            before=plain(before),
            when=plain(when),
            near=plain(near),
            km=km,
            place=plain(place),
            camera=plain(camera),
            where=plain(where),
        )
        # A text is a sequence of letters, too: "people" is one thing, not six.
        examples = (like,) if isinstance(like, str | Path) else tuple(like)
        unwanted = (not_text,) if isinstance(not_text, str) else tuple(not_text)
        wanted = Look(plain(text), examples, tuple(map(plain, unwanted)))
        return search(self._parts, wanted, filters, top_k, self.today)

    def ask(
        self,
        question: str = "",
        *,
        pictures: Sequence[str | bytes | Path] = (),
        plan: str = "",
        on_plan: Callable[[AskedPlan], None] | None = None,
        on_candidates: Callable[[Candidates], None] | None = None,
        on_step: Callable[[Step], None] | None = None,
        on_stage: Callable[[str], None] | None = None,
    ) -> AskAnswer:
        """Answer a question with an exact set of photos, possibly empty, and the evidence.

        ``pictures`` are files that the question speaks of ("where was this"); alone they ask
        for more like them. ``plan`` is the text of a plan (``plan().text``, corrected), which
        then says what is wanted. Listeners hear, in this order, what was understood, each set on
        the way as soon as it is there, and each step as it ends; ``on_stage`` first of all hears
        how the model's server starts, where one is needed.
        Raises AgentError, UsageError, PhotoError, and what ``search`` raises.
        """
        listeners = _listeners(on_plan, on_candidates, on_step, on_stage)
        return ask(self._parts, Question(question, pictures, plan), listeners, self.today)

    def plan(
        self, question: str = "", *, pictures: Sequence[str | bytes | Path] = (), plan: str = ""
    ) -> AskedPlan:
        """What ``ask`` would look for, without looking: in words, and as text to be corrected.
        Raises what ``ask`` raises before it searches."""
        return understood(self._parts, Question(question, pictures, plan), self.today)

    def resume(
        self,
        trace: str | Path | None = None,
        *,
        on_plan: Callable[[AskedPlan], None] | None = None,
        on_candidates: Callable[[Candidates], None] | None = None,
        on_step: Callable[[Step], None] | None = None,
        on_stage: Callable[[str], None] | None = None,
    ) -> AskAnswer:
        """Go on with a question that was cut: a trace file, the id of an episode, or the last
        one that has no answer. Raises UsageError if there is none, AgentError if the trace is
        broken, or the library or a picture has changed since, and what ``ask`` raises."""
        listeners = _listeners(on_plan, on_candidates, on_step, on_stage)
        return resume(self._parts, self._trace(trace), listeners)

    def _trace(self, named: str | Path | None) -> Path:
        from photocraft_local.app.traces import last_cut, trace_named

        folder = self._parts.library().path / "traces"
        return last_cut(folder) if named is None else trace_named(folder, str(named))

    def list(self) -> Iterator[Photo]:
        """Every photo, in the order in which they were added."""
        yield from self._parts.library().photos()

    def show(self, uid: str) -> PhotoDetails:
        """All that is known of one photo. Raises UnknownPhoto."""
        return show(self._parts, plain(uid))

    def status(self) -> LibraryStatus:
        """Counts, folders, and every skipped file with its reason."""
        return status(self._parts)

    def forget(self, uid: str) -> str:
        """Remove a photo's row, vector, crops, traces and memories; its file is not touched.

        Returns the UID. Raises UnknownPhoto.
        """
        return self._parts.library().forget(plain(uid)).uid

    def remove_folder(self, folder: str | bytes | Path) -> int:
        """Stop knowing an indexed folder; gives the number of photos that are gone with it.

        Nothing on disk is touched. Raises UsageError for a folder that was never indexed.
        """
        return self._parts.library().remove_root(absolute(folder))

    def compact(self) -> CompactReport:
        """Drop what is kept of photos whose files are gone, and pictures of crops that were not
        used for long (settings ``crops_days``, ``crops_megabytes``); these can be cut again."""
        dropped = self._parts.library().compact()
        return CompactReport(dropped.photos, dropped.vectors, dropped.crops, dropped.crop_bytes)

    @property
    def places(self) -> NamedPlaces:
        """Places of the person's own: ``add("home", at=(38.7139, -9.1394))``, ``list()``,
        ``remove("home")``. Questions and filters know them: ``place("home")``."""
        from photocraft_local.app.places import NamedPlaces

        return NamedPlaces(self._parts)

    @property
    def spaces(self) -> Spaces:
        """The vectors of each encoder that was used: ``list()``, ``remove(name)``."""
        from photocraft_local.app.spaces import Spaces

        return Spaces(self._parts)

    @property
    def traces(self) -> Traces:
        """What is kept of questions: ``list()``, ``open(id)``, ``photos(record)``,
        ``replay(id)``, which makes the calls of one again and compares."""
        from photocraft_local.app.traces import Traces

        return Traces(self._parts)

    @property
    def knowledge(self) -> Knowledge:
        """Saved pages, notes and PDF to look things up in: ``add("~/Notes")``, ``list()``,
        ``remove("~/Notes")``."""
        from photocraft_local.app.knowledge import Knowledge

        return Knowledge(self._parts)

    @property
    def memory(self) -> Remembered:
        """Episodes of earlier questions, and skills: ``list()``, ``show(id)``, ``edit(id, text)``,
        ``forget(id)``, ``forget_all()``, ``export(folder)``, ``import_from(path)``, ``stats()``."""
        from photocraft_local.app.remembered import Remembered

        return Remembered(self._parts)


def _listeners(
    on_plan: Callable[[AskedPlan], None] | None,
    on_candidates: Callable[[Candidates], None] | None,
    on_step: Callable[[Step], None] | None,
    on_stage: Callable[[str], None] | None,
) -> Listeners:
    given = {
        "on_plan": on_plan,
        "on_candidates": on_candidates,
        "on_step": on_step,
        "on_stage": on_stage,
    }
    return Listeners(**{name: listener for name, listener in given.items() if listener})  # type: ignore[arg-type]
