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
    KS,
    Asker,
    Mask,
    ScoredQuery,
    absent_figures,
    embed,
    plain,
    ranking_figures,
    set_figures,
)
from photocraft_local.library.progress import Progress, silent
from photocraft_local.records import Json

Asked = tuple[CaptionedQuery, ScoredQuery]
_MOST_NAMED = 20  # queries without a right photo that yet return one


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """``ranking`` and ``sets`` by kind of query, ``absent`` of those without a right photo (empty
    without any), ``left_out`` by kind of the others, each put to the photos that are not right for
    it. ``returned``: which of ``absent`` return photos: id, words, how many. ``ks``: the ranks."""

    encoder: str
    num_photos: int
    num_queries: dict[str, int]
    ranking: dict[str, dict[str, float]]
    sets: dict[str, dict[str, float]]
    absent: dict[str, float]
    left_out: dict[str, dict[str, float]]
    returned: tuple[tuple[str, str, int], ...]
    cutoff: Calibrated
    problems: Problems
    ks: tuple[int, ...] = KS

    def to_json(self) -> dict[str, Json]:
        return {
            "encoder": self.encoder,
            "photos": self.num_photos,
            "queries": self.num_queries,
            "ranking": self.ranking,
            "sets": {kind: plain(part) for kind, part in self.sets.items()},
            "absent": self.absent,
            "left_out": self.left_out,
            "absent_yet_returned": [
                {"id": name, "text": text, "photos": number} for name, text, number in self.returned
            ],
            "calibration": self.cutoff.to_json(),
            "problems": self.problems.to_json(),
        }


def measure(
    encoder: Encoder,
    data: Captioned,
    *,
    workers: int = 1,
    progress: Progress = silent,
    shift: float = 0.0,
    ks: tuple[int, ...] = KS,
) -> RetrievalReport:
    """Embeds the photos and puts every query. A photo that cannot be decoded is named and left
    out; a query that wants it, too. ``shift``: the setting ``cutoff_shift``; ``ks``: of recall@k
    and hit@k. Raises EncoderError, EvaluationError if nothing is left."""
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
    asker = Asker(encoder, vectors, shift)
    asked = _asked(asker, data, names, lost)
    cutoff = _calibrated(encoder, names, data, asked, shift)
    return _report(encoder, len(names), data.problems, asked, ks, cutoff)


def _asked(asker: Asker, data: Captioned, names: list[str], lost: set[str]) -> list[Asked]:
    place = {name: at for at, name in enumerate(names)}
    complete: Mask = np.array([name in data.complete for name in names])
    found: list[Asked] = []
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
    problems: Problems,
    asked: list[Asked],
    ks: tuple[int, ...],
    cutoff: Calibrated,
) -> RetrievalReport:
    kinds: dict[str, list[ScoredQuery]] = {}
    for query, scored in asked:
        kinds.setdefault(query.kind, []).append(scored)
    absent = kinds.pop(ABSENT, [])
    parts = sorted(kinds.items())
    returned = [
        (query.id, query.text, int(scored.returned.sum()))
        for query, scored in asked
        if query.kind == ABSENT and scored.returned.any()
    ]
    returned.sort(key=lambda one: (-one[2], one[1], one[0]))
    return RetrievalReport(
        encoder=encoder.spec.space_id,
        num_photos=num_photos,
        num_queries={kind: len(part) for kind, part in parts}
        | ({ABSENT: len(absent)} if absent else {}),
        ranking={kind: ranking_figures(part, ks) for kind, part in parts},
        sets={kind: set_figures(part) for kind, part in parts},
        absent=absent_figures(absent) if absent else {},
        left_out={kind: absent_figures([one.left_out() for one in part]) for kind, part in parts},
        returned=tuple(returned[:_MOST_NAMED]),
        cutoff=cutoff,
        problems=problems,
        ks=ks,
    )


def _calibrated(
    encoder: Encoder, names: list[str], data: Captioned, asked: list[Asked], shift: float
) -> Calibrated:
    """Where some labels are complete, the sets are judged by those, and among the photos that have
    them: a caption names one photo, and others may show the same. Queries without a right photo are
    put to the same photos."""
    gallery: Mask = np.ones(len(names), np.bool_)
    chosen = [scored for query, scored in asked if query.kind == OBJECT]
    if chosen:
        gallery = np.array([name in data.complete for name in names])
    else:
        chosen = [scored for query, scored in asked if query.kind != ABSENT]
    present = [one for one in (query.among(gallery) for query in chosen) if one.relevant.any()]
    absent = [scored.among(gallery) for query, scored in asked if query.kind == ABSENT]
    return calibrated(present, absent, encoder.calibration.cutoff + shift, shift)
