"""UIDs are short, easy to read, free of collisions and forgiving when typed."""

from __future__ import annotations

import base64
import hashlib

from photocraft_local.library.uids import (
    ALPHABET,
    base32,
    make_uid,
    normalise,
    one_slip_away,
    split_crop,
)


def digest(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()


def test_base32_holds_all_bits_in_an_alphabet_without_look_alikes() -> None:
    assert len(ALPHABET) == len(set(ALPHABET)) == 32
    assert not set("ilou") & set(ALPHABET)
    standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    for number in range(20):
        expected = base64.b32encode(digest(number)).decode().rstrip("=")
        assert base32(digest(number)) == expected.translate(str.maketrans(standard, ALPHABET))


def test_the_shortest_free_prefix_is_taken() -> None:
    text = base32(digest(1))
    taken = {"p" + text[:5], "p" + text[:6]}
    assert make_uid(digest(1), set().__contains__) == "p" + text[:5]
    assert make_uid(digest(1), taken.__contains__) == "p" + text[:7]


def test_what_people_type_is_understood() -> None:
    assert normalise("  P7K3MQ ") == "p7k3mq"
    assert normalise("pOil00") == "p01100"
    assert normalise("P7K3MQ.C12") == "p7k3mq.c12"
    assert normalise("") == ""


def test_crops_name_their_parent() -> None:
    assert split_crop("p7k3mq.c12") == ("p7k3mq", 12)
    for other in ("p7k3mq", "p7k3mq.c0", "p7k3mq.x1", ".c1", "p7k3mq.c1.c2", "p7k3mq.c1\n"):
        assert split_crop(other) is None


def test_slips_of_one_character() -> None:
    near = set(one_slip_away("p7k3mq"))
    assert {"p7k3m", "p7k3mqq", "p7k3qm", "p7x3mq", "p73mq"} <= near
    assert "p7k3xx" not in near
