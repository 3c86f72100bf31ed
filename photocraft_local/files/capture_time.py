"""When a photo was taken: the fields in their order, the first that makes sense, with doubts.

Owns the order of sources (design §2) and which offset belongs to which field. Does not read
files; zones of positions come from ``places``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from photocraft_local.files.iptc import created
from photocraft_local.files.tiff import Directories, Tags, Value, number, text
from photocraft_local.files.time_text import Moment, parse_day, parse_name, parse_stamp
from photocraft_local.places.zones import local_time
from photocraft_local.records import CaptureTime, GeoPoint

_EXPOSURE_SOURCES: Final = frozenset(
    ["exif:DateTimeOriginal", "xmp:DateTimeOriginal", "xmp:DateCreated", "xmp:CreateDate",
     "iptc:DateCreated", "sidecar:DateTimeOriginal", "sidecar:DateCreated", "sidecar:CreateDate",
     "sidecar:photoTakenTime"]
)  # fmt: skip
_XMP_TIMES: Final = (
    ("exif:DateTimeOriginal", "DateTimeOriginal"),
    ("photoshop:DateCreated", "DateCreated"),
    ("xmp:CreateDate", "CreateDate"),
    ("exif:DateTimeDigitized", "CreateDate"),
)
# A receiver's last fix may be some minutes old; zones differ by 15 minutes or more.
_FIX_AGE: Final = timedelta(minutes=7)
_FIRST_GPS_YEAR: Final = 1990
_FURTHEST_AHEAD: Final = timedelta(hours=14)  # of all wall clocks against UTC
_WIDEST_ZONE: Final = _FURTHEST_AHEAD + _FIX_AGE
_Clock = Callable[[], datetime]


class TimeEvidence(NamedTuple):
    """All that a file says about its time. ``xmp`` is called only if EXIF has no answer."""

    exif: Directories | None
    xmp: Callable[[], dict[str, str]]
    sidecar: Mapping[str, str]
    sidecar_utc: datetime | None = None
    point: GeoPoint | None = None
    name: bytes = b""
    photoshop: bytes = b""


_Candidate = tuple[str, Moment, tuple[str, ...]]  # source, moment, flags


def resolve(evidence: TimeEvidence, *, now: datetime | None = None) -> CaptureTime | None:
    """The best capture time of the evidence, None if nothing states one.

    Days without a time and factory dates give way to better statements. ``now`` is naive UTC.
    """

    def latest() -> datetime:
        return (now or datetime.now(UTC).replace(tzinfo=None)) + _FURTHEST_AHEAD

    candidates = _candidates(evidence, latest)
    deferred: _Candidate | None = None
    for candidate in candidates:
        moment = candidate[1]
        if moment.factory:
            deferred = deferred or candidate
        elif moment.day_only:
            return _finished(_with_clock(candidate, candidates), evidence, latest)
        else:
            return _finished(candidate, evidence, latest)
    if deferred is None:
        return None
    source, moment, flags = deferred
    return _finished((source, moment, (*flags, "time-factory-default")), evidence, latest)


def _with_clock(day: _Candidate, others: Iterator[_Candidate]) -> _Candidate:
    """The same day with the clock of a weaker field, if one has it."""
    for other in others:
        if not other[1].day_only and other[1].local.date() == day[1].local.date():
            return other
    return day[0], day[1], (*day[2], "time-of-day-unknown")


def _finished(candidate: _Candidate, evidence: TimeEvidence, latest: _Clock) -> CaptureTime:
    source, moment, flags = candidate
    if source not in _EXPOSURE_SOURCES:
        flags = ("time-from-fallback", *flags)
    if moment.local > latest():
        flags = (*flags, "time-in-future")
    offset = moment.offset_minutes
    if offset is None and evidence.point and not moment.day_only:
        offset = _proven_offset(moment.local, evidence)
        if offset is not None:
            flags = (*flags, "offset-from-gps")
    return CaptureTime(moment.local, offset, source, flags)


def _candidates(evidence: TimeEvidence, latest: _Clock) -> Iterator[_Candidate]:
    exif = evidence.exif
    if exif:
        zones = exif.exif.get(0x882A) or exif.main.get(0x882A)
        yield from _exif_field(exif, "exif:DateTimeOriginal", (0x9003, 0x9291, 0x9011), zones, 0)
    xmp = evidence.xmp()
    if xmp:
        yield from _xmp_fields(xmp, "xmp")
    if evidence.photoshop and (moment := created(evidence.photoshop)):
        yield "iptc:DateCreated", moment, ()
    if evidence.sidecar:
        yield from _xmp_fields(evidence.sidecar, "sidecar")
    if evidence.sidecar_utc:
        yield _from_utc("sidecar:photoTakenTime", evidence.sidecar_utc, evidence.point)
    if exif:
        yield from _exif_field(exif, "exif:DateTimeDigitized", (0x9004, 0x9292, 0x9012), None, 0)
    utc = (gps_utc(exif.gps) if exif else None) or _xmp_utc(xmp)
    if utc:
        yield _from_utc("gps", utc, evidence.point)
    if exif:
        yield from _exif_field(exif, "exif:DateTime", (0x0132, 0x9290, 0x9010), zones, 1)
    named = parse_name(evidence.name, latest=latest)
    if named:
        yield "name", named, ("time-from-name",)


def _exif_field(
    exif: Directories, source: str, tags: tuple[int, int, int], zones: Value | None, index: int
) -> Iterator[_Candidate]:
    stamp = exif.exif.get(tags[0]) or exif.main.get(tags[0])
    if stamp is None:
        return
    fraction, offset = (text(exif.exif.get(tag) or exif.main.get(tag)) for tag in tags[1:])
    moment = parse_stamp(text(stamp), fraction=fraction, offset=offset)
    if moment is None:
        return
    if moment.offset_minutes is None and isinstance(zones, tuple) and len(zones) > index:
        hours = number(zones[index : index + 1])
        if hours is not None and -12 <= hours <= 14:
            moment = moment._replace(offset_minutes=hours * 60)
    yield source, moment, ()


def _xmp_fields(properties: Mapping[str, str], origin: str) -> Iterator[_Candidate]:
    for key, name in _XMP_TIMES:
        stamp = properties.get(key)
        if not stamp:
            continue
        offset = properties.get("exif:OffsetTimeOriginal", "") if "Original" in key else ""
        moment = parse_stamp(stamp, offset=offset)
        if moment:
            yield f"{origin}:{name}", moment, ()


def _from_utc(source: str, utc: datetime, point: GeoPoint | None) -> _Candidate:
    there = local_time(utc, point.latitude, point.longitude) if point else None
    if there is None:
        return source, Moment(utc, 0), ("time-in-utc",)
    return source, Moment(*there), ()


def _proven_offset(local: datetime, evidence: TimeEvidence) -> int | None:
    """The zone's offset at the position, only if satellite time and wall clock agree with it."""
    utc = gps_utc(evidence.exif.gps) if evidence.exif else None
    if utc is None or evidence.point is None or abs(local - utc) > _WIDEST_ZONE:
        return None
    there = local_time(utc, evidence.point.latitude, evidence.point.longitude)
    return there[1] if there and abs(there[0] - local) <= _FIX_AGE else None


def gps_utc(tags: Tags) -> datetime | None:
    """Satellite time (naive UTC) of a GPS directory; None unless date and time are both there."""
    clock = tags.get(7)
    if not clock or not isinstance(clock, tuple):
        return None
    midnight = parse_day(text(tags.get(0x1D)))
    if midnight is None or midnight.year < _FIRST_GPS_YEAR:
        return None
    seconds = 0.0
    for unit, part in zip((3600, 60, 1), clock, strict=False):
        if not isinstance(part, tuple) or not part[1]:
            return None
        value = part[0] / part[1]
        if not 0 <= value < (24 if unit == 3600 else 61):
            return None
        seconds += value * unit
    return midnight + timedelta(seconds=round(seconds, 3))


def _xmp_utc(properties: dict[str, str]) -> datetime | None:
    stamp = properties.get("exif:GPSTimeStamp") or properties.get("exif:GPSDateTime")
    moment = parse_stamp(stamp) if stamp else None
    if moment is None or moment.day_only or moment.local.year < _FIRST_GPS_YEAR:
        return None
    return moment.local - timedelta(minutes=moment.offset_minutes or 0)
