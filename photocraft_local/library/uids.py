"""Short names for photos: ``p`` and the first characters of the content's digest in base 32.

The alphabet (Crockford's) has no i, l, o, u, so that 1, 0 and v are never mistaken for them. A
UID is the shortest prefix of at least five characters that is free when the photo is added;
stored then, it never changes. A crop of ``p7k3mq`` is ``p7k3mq.c1``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
SHORTEST = 5

_CROP = re.compile(r"^(?P<parent>[^.]+)\.c(?P<number>[1-9][0-9]{0,8})\Z")
_LOOKALIKES = str.maketrans("oil", "011")


def base32(digest: bytes) -> str:
    """All bits of ``digest`` in the alphabet, highest first."""
    bits = len(digest) * 8
    length = -(-bits // 5)
    number = int.from_bytes(digest, "big") << (length * 5 - bits)
    return "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(length)))


def make_uid(digest: bytes, taken: Callable[[str], bool], *, letter: str = "p") -> str:
    """The shortest UID of ``digest`` that is not ``taken``; ``letter`` says of what kind it is."""
    text = base32(digest)
    for length in range(SHORTEST, len(text) + 1):
        uid = letter + text[:length]
        if not taken(uid):
            return uid
    raise ValueError("two photos of one digest")


def normalise(uid: str) -> str:
    """What a person or a model meant: lower case, without blanks, look-alike letters mapped."""
    uid = uid.strip().lower()
    return uid[:1] + uid[1:].partition(".")[0].translate(_LOOKALIKES) + _suffix(uid)


def split_crop(uid: str) -> tuple[str, int] | None:
    """``("p7k3mq", 1)`` of ``p7k3mq.c1``; None if it names no crop."""
    match = _CROP.match(uid)
    return (match["parent"], int(match["number"])) if match else None


def one_slip_away(uid: str) -> Iterator[str]:
    """Every UID that one wrong, doubled, dropped or swapped character makes of ``uid``."""
    for place in range(1, len(uid) + 1):
        head, tail = uid[:place], uid[place:]
        yield from (head + letter + tail for letter in ALPHABET)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in ALPHABET)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def _suffix(uid: str) -> str:
    _, dot, rest = uid[1:].partition(".")
    return dot + rest
