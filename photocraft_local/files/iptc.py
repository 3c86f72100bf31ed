"""IPTC-IIM records of a Photoshop segment: the day and time of creation, nothing else.

A time without a day is no date (some editors write only that). Source: IPTC IIM 4.2, record 2,
data sets 55 and 60; Adobe's image resource blocks.
"""

from __future__ import annotations

from typing import Final

from photocraft_local.files.time_text import Moment, parse_stamp

_PHOTOSHOP: Final = b"Photoshop 3.0\0"
_IPTC_BLOCK: Final = b"8BIM\x04\x04"
_DAY, _CLOCK = 55, 60


def created(segment: bytes) -> Moment | None:
    """When the picture was created by an APP13 segment; None without a day."""
    block = segment.find(_IPTC_BLOCK)
    if not segment.startswith(_PHOTOSHOP) or block < 0 or block + 7 > len(segment):
        return None
    name = segment[block + 6] + 1
    at = block + 6 + name + (name & 1) + 4  # name padded to even, then the size
    records = _records(segment, at)
    day, clock = records.get(_DAY, ""), records.get(_CLOCK, "")
    if len(day) != 8 or not day.isdecimal():
        return None
    stamp = f"{day[:4]}:{day[4:6]}:{day[6:]}"
    if len(clock) >= 6 and clock[:6].isdecimal():
        stamp += f" {clock[:2]}:{clock[2:4]}:{clock[4:6]}{clock[6:]}"
    return parse_stamp(stamp)


def _records(data: bytes, at: int) -> dict[int, str]:
    """Text of the data sets of record 2 from ``at`` on; the first of each counts."""
    found: dict[int, str] = {}
    while at + 5 <= len(data) and data[at] == 0x1C:
        record, number = data[at + 1], data[at + 2]
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if size & 0x8000:  # extended sizes belong to data sets that are not wanted
            break
        if record == 2 and number in (_DAY, _CLOCK):
            found.setdefault(number, data[at + 5 : at + 5 + size].decode("latin-1").strip())
        at += 5 + size
    return found
