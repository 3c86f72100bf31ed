"""Qdrant's REST interface on a loopback port, answered by the client library's own local mode.

For what local mode alone does not show: what crosses the wire, and where to. It keeps a list of the
requests; ``down`` makes it answer 503.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qdrant_client import QdrantClient, models


class Server(ThreadingHTTPServer):
    down = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.local = QdrantClient(":memory:")
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.busy = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        given = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.partition("?")[0]
        self.server.seen.append((self.command, path, dict(self.headers)))
        with self.server.busy:
            code, result = (503, None) if self.server.down else (200, self._result(path, given))
        body = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = _answer

    def _result(self, path: str, given: dict[str, Any]) -> Any:
        local = self.server.local
        name = (re.match(r"/collections/([^/]+)", path) or [None, ""])[1]
        match path.removeprefix(f"/collections/{name}"), self.command:
            case ("/collections", "GET"):
                return json.loads(local.get_collections().model_dump_json())
            case ("/exists", "GET"):
                return {"exists": local.collection_exists(name)}
            case ("", "PUT"):
                made = models.CreateCollection(**given)
                assert made.hnsw_config is not None
                assert made.hnsw_config.m == 0
                return local.create_collection(name, made.vectors)
            case ("", "DELETE"):
                return local.delete_collection(name)
            case ("/points/scroll", "POST"):
                asked = models.ScrollRequest(**given)
                points, at = local.scroll(
                    name, limit=asked.limit, offset=asked.offset, with_vectors=False
                )
                return {"points": [{"id": p.id} for p in points], "next_page_offset": at}
            case ("/points/count", "POST"):
                assert models.CountRequest(**given).exact
                return {"count": local.count(name, exact=True).count}
            case ("/points", "PUT"):
                local.upsert(name, models.PointsBatch(**given).batch)
            case ("/points/delete", "POST"):
                local.delete(name, models.PointIdsList(**given))
            case ("/points/query/batch", "POST"):
                asked_all = models.QueryRequestBatch(**given).searches
                assert all(one.params and one.params.exact for one in asked_all)
                answers = local.query_batch_points(name, asked_all)
                return [json.loads(answer.model_dump_json()) for answer in answers]
            case other:
                raise AssertionError(other)
        return {"operation_id": 1, "status": "completed"}


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        server.local.close()
