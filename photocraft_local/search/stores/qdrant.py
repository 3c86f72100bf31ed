"""The store for libraries past one machine's memory: a Qdrant server holds a copy of the vectors.

The file of the library stays the truth: points carry photo ids, opening sends what is missing and
takes back what is gone, so that a kill in between only leaves work to do. Every search is exact
(``exact=True``, no graph is built). Qdrant ranks in its own rounding, the few rows at the border
are scored again from the file (exact.py), so that answers are those of any other store.

The client library is imported here alone; addresses.py says where it may connect to.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import MissingExtraError, SearchError
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.row_lookup import Ids, RowLookup
from photocraft_local.search.stores.exact import exact_scores, settled
from photocraft_local.search.stores.store import Found, VectorStore

_ERROR = 2.0**-10  # of a product: the server keeps fp16 and rounds the query to it as well
_POINTS = 512  # that are sent at once: 3 MiB of JSON at 512 numbers
_PAGE = 10_000  # ids that are listed at once
_QUERIES = 16  # that are asked at once
_SECONDS = 120


def connect(url: str, key: str = "") -> Any:
    """A client for a server at an address that addresses.py has let pass. Nothing is sent yet."""
    qdrant = _library()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a key over the loopback interface is fine
        return qdrant.QdrantClient(
            url=url,
            api_key=key or None,
            timeout=_SECONDS,
            prefer_grpc=False,
            check_compatibility=False,
            trust_env=False,  # no proxy of the environment: it would see the vectors
            follow_redirects=False,
        )


class _Known(NamedTuple):
    """The file as it was taken in: a search ends with what it began with."""

    vectors: Halves
    ids: Ids
    lookup: RowLookup


class QdrantStore:
    """``beside`` is a store over the same file on this machine: it gives all scores at once, which
    no server hands out."""

    name = "qdrant"

    def __init__(
        self,
        client: Any,
        collection: str,
        vectors: Halves,
        photo_ids: Ids,
        beside: VectorStore,
        where: str,
    ) -> None:
        self._models = _library().models
        self._client = client
        self._collection = collection
        self._beside = beside
        self._where = where
        self._lock = threading.Lock()
        self._known = _known(vectors, photo_ids)
        self._synchronise()

    @property
    def reason(self) -> str:
        return f"{int((self._known.ids >= 0).sum()):,} vectors at {self._where}, exact"

    def top_k(self, queries: Singles, k: int, rows: Rows | None) -> Found:
        """``VectorStore.top_k``."""
        known = self._known
        chosen = np.arange(len(known.ids)) if rows is None else rows
        if self._count() != np.count_nonzero(known.ids >= 0):
            # Points that are missing would be missed without a word: another process may have
            # opened the library as it was before, or after.
            self._synchronise()
        passing = self._filter(known.ids, chosen)
        allowed = np.zeros(len(known.ids), np.bool_)
        allowed[chosen] = True

        def fetch(some: Singles, wide: int) -> Found:
            found = self._ask(some, wide, passing, known)
            if found is None or not _right(known.vectors, some, found, allowed):
                raise _not_ours(self._collection)
            return found

        return settled(fetch, known.vectors, queries, k, len(chosen), _ERROR)

    def scores(self, queries: Singles, rows: Rows | None) -> Singles:
        """``VectorStore.scores``, from the file."""
        return self._beside.scores(queries, rows)

    def grow(self, vectors: Halves, photo_ids: Ids) -> None:
        """``VectorStore.grow``: sends the new rows."""
        with self._lock:
            # Adopted once it is there: where the server fails, the next call sends it again.
            rows = np.arange(len(self._known.ids), len(photo_ids))
            self._send(rows[photo_ids[rows] >= 0], vectors, photo_ids)
            self._known = _known(vectors, photo_ids)
        self._beside.grow(vectors, photo_ids)

    def remove(self, rows: Rows) -> None:
        """``VectorStore.remove``: the server deletes its copies."""
        with self._lock:
            vectors, ids, _ = self._known
            delete(self._client, self._collection, ids[rows])
            # Else the next search would miss them there, and send them again.
            left = ids.copy()
            left[rows] = -1
            self._known = _known(vectors, left)
        self._beside.remove(rows)

    # -- the copy --------------------------------------------------------------------------

    def _synchronise(self) -> None:
        with self._lock, _mapped():
            if not self._client.collection_exists(self._collection):
                self._create()
            there = self._listed()
            vectors, ids, _ = self._known
            delete(self._client, self._collection, np.setdiff1d(there, ids[ids >= 0]))
            self._send(np.flatnonzero((ids >= 0) & ~np.isin(ids, there)), vectors, ids)

    def _create(self) -> None:
        models = self._models
        self._client.create_collection(
            self._collection,
            vectors_config=models.VectorParams(
                size=self._known.vectors.shape[1],
                distance=models.Distance.DOT,
                datatype=models.Datatype.FLOAT16,
                on_disk=True,
            ),
            hnsw_config=models.HnswConfigDiff(m=0),  # no graph: every search is exact
        )

    def _count(self) -> int:
        """Points there; none where the collection was deleted on the server."""
        try:
            with _mapped():
                return int(self._client.count(self._collection, exact=True).count)
        except SearchError:
            with _mapped():
                if self._client.collection_exists(self._collection):
                    raise
            return 0

    def _listed(self) -> Ids:
        ids: list[int] = []
        at = None
        while True:
            points, at = self._client.scroll(
                self._collection, limit=_PAGE, offset=at, with_payload=False, with_vectors=False
            )
            ids += [point.id for point in points]
            if at is None:
                return np.array(ids, np.int64)

    def _send(self, rows: NDArray[np.intp], vectors: Halves, photo_ids: Ids) -> None:
        with _mapped():
            for at in range(0, len(rows), _POINTS):
                some = rows[at : at + _POINTS]
                self._client.upsert(
                    self._collection,
                    self._models.Batch(
                        ids=photo_ids[some].tolist(),
                        vectors=vectors[some].astype(np.float32).tolist(),
                    ),
                    wait=True,
                )

    # -- a search --------------------------------------------------------------------------

    def _filter(self, ids: Ids, rows: Rows) -> Any:
        """What passes: by the shorter of two lists, those that pass or those that do not."""
        if len(rows) == len(ids):
            return None
        models = self._models
        if 2 * len(rows) <= len(ids):
            return models.Filter(must=[models.HasIdCondition(has_id=ids[rows].tolist())])
        others = np.delete(ids, rows)
        others = others[others >= 0]
        return models.Filter(must_not=[models.HasIdCondition(has_id=others.tolist())])

    def _ask(self, queries: Singles, k: int, passing: Any, known: _Known) -> Found | None:
        """What the server answers; None if it has other points than are known."""
        scores = np.empty((len(queries), k), np.float32)
        ids = np.empty((len(queries), k), np.int64)
        for at in range(0, len(queries), _QUERIES):
            part = queries[at : at + _QUERIES]
            requests = [
                self._models.QueryRequest(
                    query=query.tolist(),
                    filter=passing,
                    params=self._models.SearchParams(exact=True),
                    limit=k,
                    with_payload=False,
                    with_vector=False,
                )
                for query in part
            ]
            with _mapped():
                answers = self._client.query_batch_points(self._collection, requests)
                if len(answers) != len(part) or any(len(one.points) != k for one in answers):
                    return None
                for line, answer in enumerate(answers, at):
                    scores[line] = [point.score for point in answer.points]
                    ids[line] = [point.id for point in answer.points]
        return scores, known.lookup.rows_of(ids.ravel()).reshape(ids.shape)


def _known(vectors: Halves, photo_ids: Ids) -> _Known:
    ids = np.array(photo_ids, np.int64)
    return _Known(vectors, ids, RowLookup(ids))


def _right(vectors: Halves, queries: Singles, found: Found, allowed: NDArray[np.bool_]) -> bool:
    """Whether each row was asked for, comes once, and has the score that its vector here has."""
    scores, rows = found
    known = bool((rows >= 0).all()) and bool(allowed[rows].all())
    if not known or not (np.diff(np.sort(rows, axis=1), axis=1) > 0).all():
        return False
    for query, line, told in zip(queries, rows, scores, strict=True):
        off = np.abs(exact_scores(vectors, query, line) - told)
        if not (off <= _ERROR).all():  # nan is no such score either
            return False
    return True


def delete(client: Any, collection: str, photo_ids: Ids) -> None:
    """Delete the points of these photos; those that are not there are passed over."""
    models = _library().models
    ids = [photo_id for photo_id in photo_ids.tolist() if photo_id >= 0]
    with _mapped():
        for at in range(0, len(ids), _PAGE):
            selector = models.PointIdsList(points=ids[at : at + _PAGE])
            client.delete(collection, selector, wait=True)


def drop(client: Any, collection: str) -> None:
    """Delete a whole collection, if it is there."""
    with _mapped():
        if client.collection_exists(collection):
            client.delete_collection(collection)


def collections(client: Any, prefix: str) -> list[str]:
    """Names of the server's collections that begin with ``prefix``. Raises SearchError where the
    server does not answer."""
    with _mapped():
        names = [one.name for one in client.get_collections().collections]
    return [name for name in names if name.startswith(prefix)]


def _library() -> Any:
    try:
        import qdrant_client
    except ImportError as exc:
        raise MissingExtraError("qdrant-client", "qdrant", "a Qdrant server") from exc
    return qdrant_client


@contextmanager
def _mapped() -> Iterator[None]:
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except (ApiException, OSError, ValueError, OverflowError, AssertionError) as exc:
        told = str(exc).partition("\n")[0][:200]
        raise SearchError(
            f"the Qdrant server did not answer as it should: {told or type(exc).__name__}",
            hint="see that it runs and can be reached; or set vector_store = 'auto' to search the"
            " file of this machine",
        ) from exc


def _not_ours(collection: str) -> SearchError:
    return SearchError(
        f"the Qdrant collection {collection!r} does not hold the photos of this library",
        hint="search again: it is brought up to date when it is opened; if it says so once more,"
        " delete the collection on the server, and it is sent anew",
    )
