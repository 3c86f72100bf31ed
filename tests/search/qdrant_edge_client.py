"""Qdrant's own engine, in this process: the storage and the exact search of the server, 16-bit
vectors included, by the calls of the client library that the store makes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qdrant_edge as edge
from qdrant_client import models


class EdgeClient:
    """One shard a collection, under a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[str, Any] = {}

    def collection_exists(self, name: str) -> bool:
        return name in self._shards

    def create_collection(self, name: str, *, vectors_config: Any, hnsw_config: Any) -> None:
        assert vectors_config.datatype is models.Datatype.FLOAT16
        assert vectors_config.distance is models.Distance.DOT
        kind = edge.EdgeVectorParams(
            size=vectors_config.size,
            distance=edge.Distance.Dot,
            datatype=edge.VectorStorageDatatype.Float16,
            hnsw_config=edge.HnswIndexConfig(
                m=hnsw_config.m, ef_construct=100, full_scan_threshold=10
            ),
        )
        (self._folder / name).mkdir()
        shard = edge.EdgeShard.create(str(self._folder / name), edge.EdgeConfig(vectors=kind))
        self._shards[name] = shard

    def upsert(self, name: str, batch: Any, wait: bool) -> None:
        points = [edge.Point(i, v, None) for i, v in zip(batch.ids, batch.vectors, strict=True)]
        self._shards[name].update(edge.UpdateOperation.upsert_points(points))

    def delete(self, name: str, selector: Any, wait: bool) -> None:
        self._shards[name].update(edge.UpdateOperation.delete_points(selector.points))

    def scroll(self, name: str, *, limit: int, offset: Any = None, **_: Any) -> tuple[Any, Any]:
        return self._shards[name].scroll(edge.ScrollRequest(offset=offset, limit=limit))

    def count(self, name: str, *, exact: bool) -> Any:
        return SimpleNamespace(count=self._shards[name].count(edge.CountRequest(exact=exact)))

    def query_batch_points(self, name: str, requests: list[Any]) -> list[Any]:
        return [
            SimpleNamespace(
                points=self._shards[name].query(
                    edge.QueryRequest(
                        limit=one.limit,
                        query=edge.Query.Nearest(one.query),
                        filter=_filter(one.filter),
                        params=edge.SearchParams(exact=one.params.exact),
                    )
                )
            )
            for one in requests
        ]

    def close(self) -> None:
        for shard in self._shards.values():
            shard.close()


def _filter(given: Any) -> Any:
    if given is None:
        return None
    parts = {
        part: [edge.HasIdCondition(set(one.has_id)) for one in conditions]
        for part in ("must", "must_not")
        if (conditions := getattr(given, part))
    }
    return edge.Filter(**parts)
