"""Pictures of saved pages by what they show: vectors of the library's own encoder, one a picture.

Scores and cut-offs are those of photos (search/calibration.py), against these pictures.
"""

from __future__ import annotations

import numpy as np

from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.embeddings.encoding import encode_file
from photocraft_local.errors import PhotoError
from photocraft_local.knowledge.store import KnowledgeStore
from photocraft_local.library.progress import Progress, silent
from photocraft_local.search.calibration import Background
from photocraft_local.search.index import ExactIndex


def embed_pending(
    store: KnowledgeStore, encoder: Encoder, *, max_pixels: int, progress: Progress = silent
) -> int:
    """A vector for each picture that has none of this encoder yet; the number of new ones.

    One picture is one transaction. Raises EncoderError, MissingExtraError.
    """
    if not encoder.spec.decode_side:
        return 0
    space = encoder.spec.space_id
    pending = store.database.rows(
        "SELECT picture_id, uid FROM pictures WHERE picture_id NOT IN"
        " (SELECT picture_id FROM vectors WHERE space_id = ?) ORDER BY picture_id",
        (space,),
    )
    number = 0
    for at, (picture_id, uid) in enumerate(pending):
        progress("embed", at, len(pending))
        try:
            vector = encode_file(encoder, store.picture_path(uid), max_pixels=max_pixels)
        except PhotoError:
            continue  # gone since it was read
        if not np.isfinite(vector).all():
            continue
        with store.database.transaction():
            raw = vector.astype("<f2").tobytes()
            store.database.execute("INSERT INTO vectors VALUES (?, ?, ?)", (picture_id, space, raw))
        number += 1
    progress("embed", len(pending), len(pending))
    return number


def alike(
    store: KnowledgeStore, encoder: Encoder, text: str, *, most: int
) -> list[tuple[str, float]]:
    """(id, score) of pictures that show ``text``, best first; none if no word was understood."""
    rows = store.database.rows(
        "SELECT picture_id, uid, vector FROM vectors JOIN pictures USING (picture_id)"
        " WHERE space_id = ? ORDER BY picture_id",
        (encoder.spec.space_id,),
    )
    rows = [row for row in rows if len(row[2]) == 2 * encoder.spec.dim]
    wanted = encoder.encode_text(text) if rows else None
    if wanted is None or wanted.vector is None:
        return []
    vectors = np.stack([np.frombuffer(raw, "<f2") for _, _, raw in rows]).astype(np.float16)
    ids = np.array([row[0] for row in rows], np.int64)
    index = ExactIndex(vectors, ids)
    direction = Background(index, encoder.calibration).text(wanted)
    found = index.top_k(direction.vector, most)
    scores = direction.standardised(found.scores[0])
    names = {row[0]: row[1] for row in rows}
    return [
        (names[picture], float(score))
        for picture, score in zip(found.photo_ids[0].tolist(), scores.tolist(), strict=True)
        if score >= direction.cutoff
    ]
