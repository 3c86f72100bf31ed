"""A Qdrant server that fails half-way, lies, redirects, or holds what another library left."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from photocraft_local import PhotoSearch
from photocraft_local.errors import SearchError, UsageError
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores import qdrant
from photocraft_local.search.stores.addresses import permitted
from photocraft_local.search.stores.plain import PlainStore
from photocraft_local.search.stores.qdrant import QdrantStore
from photocraft_local.settings import Settings

pytest.importorskip("qdrant_client")
import qdrant_stand_in

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")
N, DIM, NAME = 200, 8, "photocraft-test"
UUID = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"
Change = Callable[[str, Any], Any]


@pytest.fixture
def server() -> Iterator[Any]:
    with qdrant_stand_in.serving() as running:
        yield running


@pytest.fixture
def vectors(make_vectors: Any) -> Any:
    return make_vectors(np.random.default_rng(3), N, DIM)


def opened(server: Any, vectors: Any, count: int = N) -> ExactIndex:
    ids = np.arange(1, count + 1)
    store = QdrantStore(
        qdrant.connect(server.url), NAME, vectors[:count], ids, PlainStore(vectors[:count]), "here"
    )
    return ExactIndex(vectors[:count], ids, engine=store)


def in_points(change: Callable[[list[Any]], Any]) -> Change:
    """Each answer to a query has other points."""

    def changed(path: str, result: Any) -> Any:
        if path.endswith("/query/batch"):
            for answer in result:
                answer["points"] = change(answer["points"])
        return result

    return changed


def every(**facts: Any) -> Change:
    return in_points(lambda points: [point | facts for point in points])


def of_path(end: str, result: Any) -> Change:
    return lambda path, right: result if path.endswith(end) else right


def listed(*ids: Any) -> Change:
    points = {"points": [{"id": one} for one in ids], "next_page_offset": None}
    return of_path("/scroll", points)


LIES: dict[str, Change] = {
    "fewer rows": in_points(lambda points: points[:-1]),
    "a row twice": in_points(lambda points: [points[0], *points[:-1]]),
    "a row that was not asked for": in_points(
        lambda points: [*points[:-1], points[-1] | {"id": 150}]
    ),
    "an unknown row": every(id=9_999),
    "negative ids": every(id=-3),
    "huge ids": every(id=2**63 + 4),
    "ids of another kind": every(id=UUID),
    "nan": every(score=float("nan")),
    "infinity": every(score=float("inf")),
    "other scores": every(score=0.25),
    "an answer less": lambda path, right: right[:-1] if path.endswith("batch") else right,
    "an answer more": lambda path, right: right * 2 if path.endswith("batch") else right,
    "no answers": of_path("batch", None),
    "answers of another shape": of_path("batch", {"x": 1}),
    "no list": of_path("/scroll", None),
    "a list of other ids": listed(UUID),
    "a wrong count, which listing it again does not mend": lambda path, right: (
        {"count": N + 1}
        if path.endswith("/count")
        else in_points(lambda points: points[1:])(path, right)
    ),
    "no count": of_path("/count", None),
    "a list of huge ids": listed(2**63 + 1),
    "neither there nor not": of_path("/exists", None),
    "nothing of what was sent": of_path("/points", None),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_answer_is_an_error_and_never_a_hit(
    lie: str, server: Any, vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = qdrant_stand_in._Handler._result

    def wrong(self: Any, path: str, given: Any) -> Any:
        return LIES[lie](path, right(self, path, given))

    monkeypatch.setattr(qdrant_stand_in._Handler, "_result", wrong)
    queries = vectors[[3, 4, 5]].astype(np.float32)
    with pytest.raises(SearchError, match=r"answer as it should|does not hold") as error:
        opened(server, vectors).top_k(queries, 5, np.arange(1, 101))
    assert error.value.hint


@pytest.mark.parametrize("length", [1e-30, 1e-7, 1e7, 1e30])
def test_queries_of_any_length_find_the_same(server: Any, vectors: Any, length: float) -> None:
    """16-bit numbers, in which a server rounds a query, have no room for such lengths."""
    index = opened(server, vectors)
    plain = ExactIndex(vectors, np.arange(1, N + 1), engine="numpy")
    dice = np.random.default_rng(4)
    queries = (dice.standard_normal((4, DIM)) * length).astype(np.float32)
    found, wanted = index.top_k(queries, 9), plain.top_k(queries, 9)
    np.testing.assert_array_equal(found.photo_ids, wanted.photo_ids)
    np.testing.assert_array_equal(found.scores, wanted.scores)


def test_a_server_that_is_down_while_photos_are_added_gets_them_the_next_time(
    server: Any, vectors: Any
) -> None:
    index, ids = opened(server, vectors, 150), np.arange(1, N + 1)
    query = vectors[180].astype(np.float32)
    server.down = True
    with pytest.raises(SearchError, match="did not answer"):
        index.followed(vectors, ids)
    server.down = False
    assert index.top_k(query, 1).photo_ids.max() <= 150  # as it was
    grown = index.followed(vectors, ids)
    assert grown is not None
    assert grown.top_k(query, 1).photo_ids.tolist() == [[181]]
    assert server.local.count(NAME).count == N


def test_what_another_process_took_from_the_server_is_sent_again(server: Any, vectors: Any) -> None:
    """One that still has the library as it was deletes what it does not know."""
    index = opened(server, vectors)
    query = vectors[180].astype(np.float32)
    wanted = index.top_k(query, N)
    opened(server, vectors, 150)
    assert server.local.count(NAME).count == 150
    for k, within in ((N, None), (3, None), (3, np.arange(170, N + 1))):
        found = index.top_k(query, k, within)
        plain = ExactIndex(vectors, np.arange(1, N + 1), engine="numpy").top_k(query, k, within)
        np.testing.assert_array_equal(found.photo_ids, plain.photo_ids)
        opened(server, vectors, 150)
    np.testing.assert_array_equal(index.top_k(query, N).photo_ids, wanted.photo_ids)


class _Elsewhere(BaseHTTPRequestHandler):
    """Sends all that is asked to another address."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(307)
        self.send_header("Location", f"{self.server.target}{self.path}")  # type: ignore[attr-defined]
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_DELETE = do_GET


def test_a_redirect_is_not_followed(server: Any, vectors: Any) -> None:
    sending = HTTPServer(("127.0.0.1", 0), _Elsewhere)
    sending.target = server.url  # type: ignore[attr-defined]
    thread = Thread(target=sending.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        client = qdrant.connect(f"http://127.0.0.1:{sending.server_port}")
        with pytest.raises(SearchError, match="did not answer"):
            QdrantStore(client, NAME, vectors, np.arange(1, N + 1), PlainStore(vectors), "here")
    finally:
        sending.shutdown()
        thread.join()
        sending.server_close()
    assert server.seen == []


LISTED = "nas.home, 10.0.0.5:443, 2001:db8::1:6333, straße.example"


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1.evil.com",
        "http://127.0.0.1.",
        "http://localhost.evil.com",
        "http://localhost.",
        "http://[::ffff:10.0.0.5]",
        "http://[fe80::1]",
        "http://[::1].evil.com",
        "http://[::1]evil.com",
        "http://[::]",
        "http://0.0.0.0",
        "http://0",
        "http://127.1",
        "http://2130706433",
        "http://0x7f.0.0.1",
        "http://0177.0.0.1",
        "http://127.0.0.1\\@evil.com",
        "http://evil.com\\@127.0.0.1",
        "http://evil.com#@127.0.0.1",
        "http://evil.com?@127.0.0.1",
        "http://evil.com/@127.0.0.1",
        "http://127.0.0.1%2eevil.com",
        "http://127.0.0.1%00.evil.com",
        "http://127。0。0。1.evil.com",
        "http://１２７.0.0.1",
        "http://ⓛocalhost.evil.com",
        "http:///127.0.0.1",
        "http:127.0.0.1",
        "//127.0.0.1",
        "https://nas.home.evil.com",
        "https://nas.home.",
        "https://evil-nas.home",
        "https://nas.home@evil.com",
        "https://nas.home:443@evil.com",
        "https://nas%2ehome",
        "https://nаs.home",  # a Cyrillic letter
        "https://10.0.0.5",
        "https://10.0.0.5:4430",
        "https://[2001:db8::1]:6333",  # not the address whose last group is 6333
        "https://*",
        "https://,",
    ],
)
def test_no_spelling_of_an_address_leads_off_the_list(address: str) -> None:
    with pytest.raises(UsageError) as error:
        permitted(f"qdrant:{address}", LISTED)
    assert "vector_hosts" in f"{error.value.message} {error.value.hint}"


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("HTTP://LOCALHOST", "http://127.0.0.1:6333"),
        ("http://127.5.6.7:1", "http://127.5.6.7:1"),
        ("https://NAS.home", "https://nas.home:6333"),
        ("https://[2001:db8::1:6333]", "https://[2001:db8::1:6333]:6333"),
        (
            "https://strasse.example",
            "https://strasse.example:6333",
        ),  # what is sent is what is listed
        ("https://straße.example", "https://strasse.example:6333"),
    ],
)
def test_what_is_spelled_otherwise_goes_where_the_check_looked(address: str, wanted: str) -> None:
    assert permitted(f"qdrant:{address}", LISTED) == wanted


def test_a_library_made_anew_in_the_same_place_has_nothing_of_the_old_one(
    server: Any, shared: Path, tmp_path: Path, shared_cache: Path
) -> None:
    """Its photos have the numbers that others had."""
    settings = Settings(
        library=tmp_path / "library",
        cache=shared_cache,
        encoder="null",
        vector_store=f"qdrant:{server.url}",
    )
    names: list[set[str]] = []
    for number, taken in enumerate((("0010", "0021", "0042"), ("0042", "0010"))):
        folder = tmp_path / f"photos{number}"
        folder.mkdir()
        for at, name in enumerate(taken):  # in another order
            shutil.copy(shared / f"data/exif/ia_DSCN{name}.jpg", folder / f"{at}.jpg")
        with PhotoSearch(settings) as photos:
            photos.index(folder)
            names.append({space.name for space in photos.spaces.list()})
            here = Settings(library=settings.library, cache=shared_cache, encoder="null")
            for picture in folder.iterdir():
                with PhotoSearch(here) as beside:
                    wanted = beside.search(like=picture, top_k=3).photos
                assert photos.search(like=picture, top_k=3).photos == wanted
        (collection,) = [one.name for one in server.local.get_collections().collections]
        assert server.local.count(collection).count == len(taken)
        shutil.rmtree(settings.library)
    assert names[0] == names[1]
