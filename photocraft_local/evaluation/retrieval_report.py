"""An encoder on a captioned folder: everything that ``photocraft eval retrieval`` tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.captioned import ABSENT, OBJECT, Captioned, CaptionedQuery
from photocraft_local.evaluation.cutoffs import Calibrated, calibrated
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.retrieval import (
    Asker,
    Mask,
    ScoredQuery,
    absent_figures,
    embed,
    ranking_figures,
    set_figures,
)
from photocraft_local.library.progress import Progress, silent
from photocraft_local.records import Json

_MOST_NAMED = 20  # queries without a right photo that yet return one


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """``ranking`` and ``sets`` by kind of query, ``absent`` of those without a right photo (empty
    without any), ``returned``: which of these return photos, and how many."""

    encoder: str
    num_photos: int
    num_queries: dict[str, int]
    ranking: dict[str, dict[str, float]]
    sets: dict[str, dict[str, float]]
    absent: dict[str, float]
    returned: dict[str, int]
    cutoff: Calibrated
    problems: Problems

    def to_json(self) -> dict[str, Json]:
        return {
            "encoder": self.encoder,
            "photos": self.num_photos,
            "queries": self.num_queries,
            "ranking": self.ranking,
            "sets": {kind: _plain(part) for kind, part in self.sets.items()},
            "absent": self.absent,
            "absent_yet_returned": self.returned,
            "calibration": self.cutoff.to_json(),
            "problems": self.problems.to_json(),
        }


def measure(
    encoder: Encoder, data: Captioned, *, workers: int = 1, progress: Progress = silent
) -> RetrievalReport:
    """Embeds the photos and puts every query. A photo that cannot be decoded is named and left
    out; a query that wants it, too. Raises EncoderError, EvaluationError if nothing is left."""
    paths = [data.folder / name for name in data.files]
    vectors, broken = embed(encoder, paths, workers=workers, progress=progress)
    names = [name for at, name in enumerate(data.files) if at not in broken]
    lost = {data.files[at] for at in broken}
    problems = data.problems
    for at, why in sorted(broken.items()):
        problems.add("unreadable-image", data.files[at], why)
    for query in data.queries:
        if query.relevant & lost:
            what = "a right photo of it cannot be decoded"
            problems.add("unknown-answer", f"query {query.id!r}", what)
    if not names:
        raise EvaluationError(
            f"no photo of {data.folder} can be decoded: {problems.named[0]}",
            hint="check that the files are pictures",
        )
    asked = _asked(encoder, data, names, vectors, lost)
    return _report(encoder, len(names), asked, problems)


def _asked(
    encoder: Encoder, data: Captioned, names: list[str], vectors: np.ndarray, lost: set[str]
) -> list[tuple[CaptionedQuery, ScoredQuery]]:
    asker = Asker(encoder, vectors)
    place = {name: at for at, name in enumerate(names)}
    complete: Mask = np.array([name in data.complete for name in names])
    found = []
    for query in data.queries:
        if query.relevant & lost:
            continue
        relevant = np.zeros(len(names), np.bool_)
        relevant[[place[name] for name in query.relevant]] = True
        judged = complete if query.kind == OBJECT else None
        found.append((query, asker.ask(query.text, relevant, judged)))
    return found


def _report(
    encoder: Encoder,
    num_photos: int,
    asked: list[tuple[CaptionedQuery, ScoredQuery]],
    problems: Problems,
) -> RetrievalReport:
    kinds: dict[str, list[ScoredQuery]] = {}
    for query, scored in asked:
        kinds.setdefault(query.kind, []).append(scored)
    absent = kinds.pop(ABSENT, [])
    # Where some labels are complete, the sets are judged by those: a caption names one photo, and
    # others may show the same.
    present = kinds.get(OBJECT) or [query for part in kinds.values() for query in part]
    present = [query for query in present if query.where_judged().relevant.any()]
    returned = {query.text: int(query.returned.sum()) for query in absent if query.returned.any()}
    most = sorted(returned.items(), key=lambda item: (-item[1], item[0]))[:_MOST_NAMED]
    return RetrievalReport(
        encoder=encoder.spec.space_id,
        num_photos=num_photos,
        num_queries={kind: len(part) for kind, part in sorted(kinds.items())}
        | ({ABSENT: len(absent)} if absent else {}),
        ranking={kind: ranking_figures(part) for kind, part in sorted(kinds.items())},
        sets={kind: set_figures(part) for kind, part in sorted(kinds.items())},
        absent=absent_figures(absent) if absent else {},
        returned=dict(most),
        cutoff=calibrated(present, absent, encoder.calibration.cutoff),
        problems=problems,
    )


def _plain(figures: dict[str, float]) -> dict[str, Json]:
    return {name: None if value != value else value for name, value in figures.items()}
