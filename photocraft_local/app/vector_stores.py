"""The vector store that the settings choose, where it is more than a name: a Qdrant server.

Each library has collections of its own there, one a vector space.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from photocraft_local.errors import SettingsError
from photocraft_local.search.stores.addresses import PREFIX, permitted
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.embeddings.space import VectorSpace
    from photocraft_local.search.stores.store import VectorStore


def store_of(settings: Settings, space: VectorSpace) -> str | VectorStore:
    """For ``ExactIndex(engine=…)``. Raises UsageError for an address that is not permitted,
    SearchError where the server does not answer, MissingExtraError."""
    if not settings.vector_store.startswith(PREFIX):
        return settings.vector_store
    from photocraft_local.search.stores.choice import make_store
    from photocraft_local.search.stores.qdrant import QdrantStore, collections, drop

    vectors, client = space.vectors, _client(settings)
    kind = _prefix(settings) + space.spec.space_id
    name = f"{kind}-{space.made}" if space.made else kind
    for old in collections(client, kind):
        if old != name:  # of a library or space that stood here before: its ids are other photos
            drop(client, old)
    return QdrantStore(
        client,
        name,
        vectors,
        space.photo_ids,
        make_store("auto", vectors),
        permitted(settings.vector_store, settings.vector_hosts),
    )


def forget_copies(settings: Settings, photo_id: int) -> None:
    """Delete what a server holds of a photo; nothing where none is chosen. Raises as
    ``store_of``, and the photo's forgetting then stays to be done."""
    if not settings.vector_store.startswith(PREFIX) or photo_id < 1:
        return
    import numpy as np

    from photocraft_local.search.stores.qdrant import collections, delete

    client = _client(settings)
    for name in collections(client, _prefix(settings)):
        delete(client, name, np.array([photo_id], np.int64))


def drop_copy(settings: Settings, space_id: str) -> None:
    """Delete what a server holds of a vector space; nothing where none is chosen. Raises as
    ``store_of``."""
    if settings.vector_store.startswith(PREFIX):
        from photocraft_local.search.stores.qdrant import collections, drop

        client = _client(settings)
        for name in collections(client, _prefix(settings) + space_id):
            drop(client, name)


def remote(settings: Settings) -> str | None:
    """What ``doctor`` says of a server; None where none is chosen. Raises as ``store_of``."""
    if not settings.vector_store.startswith(PREFIX):
        return None
    from photocraft_local.search.stores.qdrant import collections

    url = permitted(settings.vector_store, settings.vector_hosts)
    number = len(collections(_client(settings), _prefix(settings)))
    return f"qdrant at {url}: it answers; {number} of its collections are of this library"


def _client(settings: Settings) -> Any:
    from photocraft_local.search.stores.qdrant import connect

    return connect(permitted(settings.vector_store, settings.vector_hosts), _key(settings))


def _prefix(settings: Settings) -> str:
    path = str(settings.library).encode("utf-8", "surrogateescape")
    return f"photocraft-{hashlib.sha256(path).hexdigest()[:12]}-"


def _key(settings: Settings) -> str:
    if settings.vector_key_file is None:
        return ""
    try:
        return settings.vector_key_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(
            f"the key in {settings.vector_key_file} cannot be read: {exc}",
            hint="vector_key_file names a text file with the server's key, readable by you",
        ) from exc
