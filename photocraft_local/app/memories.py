"""Opens the memory of a question: what it needs of the library's places and of the encoder.

Nothing is loaded before a question is masked or a skill is compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from photocraft_local.memory.memory import Memory

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.memory.skills.likeness import Vector
    from photocraft_local.memory.skills.masking import Span

# Encoders that know single words or colours: they cannot tell one shape of a question from another.
_NO_SENTENCES = ("labels", "null")


def memory_of(parts: Parts) -> Memory:
    """As the settings switch it."""

    def places(text: str) -> Iterable[Span]:
        from photocraft_local.places.phrases import find_places

        known = parts.places()
        return [(found.start, found.end) for found in find_places(text, known)] if known else ()

    def embed(text: str) -> Vector | None:
        return parts.encoder().encode_text(text).vector

    tells = parts.settings.encoder not in _NO_SENTENCES
    return Memory.open(parts.settings, find_places=places, embed=embed if tells else None)
