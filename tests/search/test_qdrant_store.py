"""The Qdrant store against the client library's real local mode, in memory, on disk, and behind
its REST interface on a loopback port."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from photocraft_local import PhotoSearch
from photocraft_local.app.doctor import examine
from photocraft_local.errors import MissingExtraError, SearchError, SettingsError, UsageError
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores import qdrant
from photocraft_local.search.stores.addresses import permitted
from photocraft_local.search.stores.plain import PlainStore
from photocraft_local.search.stores.qdrant import QdrantStore
from photocraft_local.settings import Settings

qdrant_client = pytest.importorskip("qdrant_client")
# Local mode is exact whatever is asked, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")
N, DIM, NAME = 700, 24, "photocraft-test"


@pytest.fixture(scope="module")
def vectors(make_vectors: Any) -> Any:
    rng = np.random.default_rng(3)
    rows = make_vectors(rng, N, DIM)
    rows[rng.integers(0, N, 60)] = rows[11]  # copies, whose order only the rows decide
    return rows


@pytest.fixture(scope="module")
def ids() -> Any:
    return np.random.default_rng(4).permutation(5 * N)[:N].astype(np.int64) + 1


@pytest.fixture
def client() -> Iterator[Any]:
    client = qdrant_client.QdrantClient(":memory:")
    yield client
    client.close()


def opened(client: Any, vectors: Any, ids: Any) -> QdrantStore:
    return QdrantStore(client, NAME, vectors, ids, PlainStore(vectors), "here")


def held(client: Any) -> set[int]:
    return {point.id for point in client.scroll(NAME, limit=10 * N)[0]}


def assert_same_as_the_file(store: QdrantStore, vectors: Any, ids: Any) -> None:
    index, plain = ExactIndex(vectors, ids, engine=store), ExactIndex(vectors, ids, engine="numpy")
    rng = np.random.default_rng(5)
    queries = np.concatenate(
        [vectors[[11, 40]], rng.standard_normal((3, vectors.shape[1]))]
    ).astype(np.float32)
    alive = ids[ids >= 0]
    for chosen in (None, alive[:3], rng.permutation(alive)[:90], alive[60:]):
        for k in (1, 17, 400):
            found, wanted = index.top_k(queries, k, chosen), plain.top_k(queries, k, chosen)
            np.testing.assert_array_equal(found.photo_ids, wanted.photo_ids)
            np.testing.assert_array_equal(found.scores, wanted.scores)
    np.testing.assert_array_equal(index.scores(queries[0]), plain.scores(queries[0]))


def test_the_same_photos_and_scores_as_from_the_file(client: Any, vectors: Any, ids: Any) -> None:
    assert_same_as_the_file(opened(client, vectors, ids), vectors, ids)


@pytest.mark.parametrize("dim", [DIM, 512])
def test_qdrants_own_engine_gives_the_same_photos_and_scores(
    tmp_path: Path, make_vectors: Any, dim: int
) -> None:
    pytest.importorskip("qdrant_edge")
    from qdrant_edge_client import EdgeClient

    vectors = make_vectors(np.random.default_rng(dim), N, dim)
    vectors[::9] = vectors[11]
    ids = np.arange(7, N + 7)
    client = EdgeClient(tmp_path)
    opened(client, vectors[:500], ids[:500])
    erased, zeroed = ids.copy(), vectors.copy()
    erased[[5, 300]], zeroed[[5, 300]] = -1, 0
    store = opened(client, zeroed, erased)
    assert held(client) == set(erased.tolist()) - {-1}
    assert_same_as_the_file(store, zeroed, erased)
    client.close()


def test_what_was_cut_short_is_finished_and_what_is_gone_is_taken_back(
    tmp_path: Path, vectors: Any, ids: Any
) -> None:
    client = qdrant_client.QdrantClient(path=str(tmp_path / "q"))
    opened(client, vectors[:60], ids[:60])
    assert held(client) == set(ids[:60].tolist())
    client.close()
    client = qdrant_client.QdrantClient(path=str(tmp_path / "q"))
    erased, zeroed = ids[:120].copy(), vectors[:120].copy()
    erased[[5, 59, 90]], zeroed[[5, 59, 90]] = -1, 0
    store = opened(client, zeroed, erased)
    assert held(client) == set(erased.tolist()) - {-1}
    assert_same_as_the_file(store, zeroed, erased)
    client.close()


def test_photos_are_added_and_removed_without_a_rebuild(
    client: Any, vectors: Any, ids: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    index = ExactIndex(vectors[:600], ids[:600], engine=opened(client, vectors[:600], ids[:600]))
    upsert = client.upsert
    monkeypatch.setattr(
        client, "upsert", lambda name, batch, **how: (sent.extend(batch.ids), upsert(name, batch))
    )
    erased, zeroed = ids.copy(), vectors.copy()
    erased[100], zeroed[100] = -1, 0
    grown = index.followed(zeroed, erased)
    assert grown is not None
    assert sent == ids[600:].tolist()
    assert held(client) == set(erased.tolist()) - {-1}
    assert isinstance(grown.store, QdrantStore)
    assert_same_as_the_file(grown.store, zeroed, erased)


def test_a_photo_that_is_forgotten_stays_away_from_the_server(
    client: Any, vectors: Any, ids: Any
) -> None:
    """Also one that came and went between two looks at the file: no server takes its id, -1."""
    index = ExactIndex(vectors[:600], ids[:600], engine=opened(client, vectors[:600], ids[:600]))
    for size, gone in ((600, 100), (N, 650)):
        erased, zeroed = ids[:size].copy(), vectors[:size].copy()
        erased[[100, gone]], zeroed[[100, gone]] = -1, 0
        followed = index.followed(zeroed, erased)
        assert followed is not None
        assert isinstance(followed.store, QdrantStore)
        assert_same_as_the_file(followed.store, zeroed, erased)
        assert held(client) == set(erased.tolist()) - {-1}
        index = followed


@pytest.mark.parametrize("lost", ["points", "collection"])
def test_a_collection_that_lost_photos_gets_them_again(
    client: Any, vectors: Any, ids: Any, lost: str
) -> None:
    store = opened(client, vectors, ids)
    if lost == "points":
        qdrant.delete(client, NAME, ids[:10])
    else:
        qdrant.drop(client, NAME)
    assert_same_as_the_file(store, vectors, ids)
    assert held(client) == set(ids.tolist())


def test_over_the_wire_nothing_else_is_asked_and_no_proxy_is_taken(
    vectors: Any, ids: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdrant_stand_in import serving

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving() as server:
        url = permitted(f"qdrant:{server.url}/", "")
        assert url == server.url
        client = qdrant.connect(url, "a-key")
        store = opened(client, vectors, ids)
        assert_same_as_the_file(store, vectors, ids)
        assert qdrant.collections(client, "photocraft-") == [NAME]
        paths = {path.removeprefix(f"/collections/{NAME}") for _, path, _ in server.seen}
        assert paths == {
            "/collections", "/exists", "", "/points", "/points/scroll", "/points/query/batch",
            "/points/count",
        }  # fmt: skip
        assert {headers["api-key"] for _, _, headers in server.seen} == {"a-key"}
        server.down = True
        with pytest.raises(SearchError, match="did not answer as it should") as error:
            store.top_k(np.ones((1, DIM), np.float32), 3, None)
        assert "vector_store = 'auto'" in error.value.hint
        client.close()
    with pytest.raises(SearchError, match="did not answer"):
        opened(qdrant.connect(url), vectors, ids)


@pytest.mark.parametrize(
    ("url", "hosts", "wanted"),
    [
        ("http://127.0.0.1:6333", "", "http://127.0.0.1:6333"),
        ("http://localhost", "", "http://127.0.0.1:6333"),
        ("http://[::1]:7000/", "", "http://[::1]:7000"),
        ("https://nas.home", "other, NAS.home", "https://nas.home:6333"),
        ("https://10.0.0.5:443", "10.0.0.5:443", "https://10.0.0.5:443"),
    ],
)
def test_addresses_of_this_machine_and_of_the_list_are_permitted(
    url: str, hosts: str, wanted: str
) -> None:
    assert permitted(f"qdrant:{url}", hosts) == wanted


@pytest.mark.parametrize(
    ("url", "hosts", "why"),
    [
        ("https://nas.home", "", "not on this machine"),
        ("http://192.168.1.4:6333", "", "not on this machine"),
        ("https://nas.home.evil.net", "nas.home", "not on this machine"),
        ("https://10.0.0.5:444", "10.0.0.5:443", "not on this machine"),
        ("http://nas.home", "nas.home", "in the clear"),
        ("http://me:secret@127.0.0.1", "", "plain address"),
        ("http://127.0.0.1@nas.home", "", "plain address"),
        ("http://127.0.0.1/x?y", "", "plain address"),
        ("ftp://127.0.0.1", "", "plain address"),
        ("", "", "plain address"),
        ("http://127.0.0.1:99999", "", "vector_store"),
    ],
)
def test_other_addresses_are_refused(url: str, hosts: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as error:
        permitted(f"qdrant:{url}", hosts)
    assert "secret" not in error.value.message


def test_a_library_is_searched_and_a_photo_forgotten_on_the_server(
    shared: Path, tmp_path: Path, shared_cache: Path
) -> None:
    from qdrant_stand_in import serving

    names = ("DSCN0010", "DSCN0021", "DSCN0042")
    (tmp_path / "photos").mkdir()
    for name in names:
        shutil.copy(shared / "data" / "exif" / f"ia_{name}.jpg", tmp_path / "photos")
    settings = Settings(library=tmp_path / "library", cache=shared_cache, encoder="null")
    with PhotoSearch(settings) as photos:
        photos.index(tmp_path / "photos")
        example = photos.search(after="2000").photos[0].photo.uid
        local = photos.search(like=example, top_k=3)
    with serving() as server:
        there = dataclasses.replace(settings, vector_store=f"qdrant:{server.url}")
        with PhotoSearch(there) as photos:
            found = photos.search(like=example, top_k=3)
            assert found.photos == local.photos
            assert found.engine.startswith("qdrant: 3 vectors at http://127.0.0.1:")
            (collection,) = [one.name for one in server.local.get_collections().collections]
            said = next(one for one in examine(there) if one.name == "vectors")
            assert said.state == "ok"
            assert "it answers; 1 of its collections" in said.detail
            photos.forget(example)
            assert server.local.count(collection).count == 2
            assert len(photos.search(not_text="x", top_k=3).photos) <= 2
            server.down = True
            other = photos.search(after="2000").photos[0].photo.uid
            with pytest.raises(SearchError, match="did not answer"):
                photos.forget(other)
            server.down = False
        with PhotoSearch(there) as photos:  # the wish is carried out when the library is opened
            photos.index()
            assert server.local.count(collection).count == 1
    far = dataclasses.replace(settings, vector_store="qdrant:https://photos.example")
    with PhotoSearch(far) as photos:
        with pytest.raises(UsageError, match="vector_hosts"):
            photos.search(like=other, top_k=1)
        faults = [one for one in examine(far) if one.state == "fault"]
        assert any("vector_hosts" in one.detail for one in faults)


def test_a_space_that_is_removed_goes_from_the_server_too(
    shared: Path, tmp_path: Path, shared_cache: Path
) -> None:
    from qdrant_stand_in import serving

    (tmp_path / "photos").mkdir()
    shutil.copy(shared / "data/exif/ia_DSCN0010.jpg", tmp_path / "photos")
    with serving() as server:
        settings = Settings(
            library=tmp_path / "library",
            cache=shared_cache,
            encoder="null",
            vector_store=f"qdrant:{server.url}",
        )
        with PhotoSearch(settings) as photos:
            photos.index(tmp_path / "photos")
            assert photos.search("red", top_k=1).photos
            (space,) = photos.spaces.list()
            server.down = True
            with pytest.raises(SearchError, match="did not answer"):
                photos.spaces.remove(space.name)
            assert photos.spaces.list() == [space]
            server.down = False
            photos.spaces.remove(space.name)
            assert photos.spaces.list() == []
            assert server.local.get_collections().collections == []


def test_the_client_library_is_imported_in_one_module(root: Path) -> None:
    using = {
        str(path.relative_to(root))
        for path in (root / "photocraft_local").rglob("*.py")
        if "import qdrant_client" in (text := path.read_text("utf-8"))
        or "from qdrant_client" in text
    }
    assert using == {"photocraft_local/search/stores/qdrant.py"}


def test_by_default_no_other_machine_is_named() -> None:
    settings = Settings()
    assert (settings.vector_store, settings.vector_hosts) == ("auto", "")
    with pytest.raises(SettingsError, match="vector_store"):
        Settings(vector_store="milvus:http://127.0.0.1")


def test_without_the_client_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingExtraError, match="qdrant-client") as error:
        qdrant.connect("http://127.0.0.1:6333")
    assert "[qdrant]" in f"{error.value} {error.value.hint}"
