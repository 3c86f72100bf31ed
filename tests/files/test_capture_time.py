"""Capture time: spellings, the order of fields, offsets, sidecars, names."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis.strategies import binary, text
from photo_maker import dms, exif_block, jpeg, write, xmp, xmp_segment

from photocraft_local.files.iptc import created
from photocraft_local.files.metadata import read_metadata
from photocraft_local.files.time_text import parse_day, parse_name, parse_offset, parse_stamp
from photocraft_local.files.xmp import parse_xmp

ORIGINAL, DIGITIZED, CHANGED = 0x9003, 0x9004, 0x0132
OFFSET_CHANGED, OFFSET_ORIGINAL, OFFSET_DIGITIZED = 0x9010, 0x9011, 0x9012
LISBON = {1: "N", 2: dms(38, 43, 2100), 3: "W", 4: dms(9, 8, 2000)}
NOW = datetime(2026, 11, 30)


def taken(folder: Path, data: bytes, name: str = "p.jpg", sidecar: bytes | None = None) -> str:
    found = read_metadata(write(folder / name, data), sidecar=sidecar).taken
    return f"{found.isoformat()} {found.source} {','.join(found.flags)}".strip() if found else ""


@pytest.mark.parametrize(
    ("stamp", "iso"),
    [
        ("2021:06:14 10:31:00", "2021-06-14T10:31:00"),
        ("2021:06-14 10:31:00", "2021-06-14T10:31:00"),
        ("2021-06-14T10:31:00+02:00", "2021-06-14T10:31:00+02:00"),
        ("2021-06-14T10:31:00Z", "2021-06-14T10:31:00+00:00"),
        ("2021:06:14 10:31:00-0430", "2021-06-14T10:31:00-04:30"),
        ("2021:06:14 10:31:00.5", "2021-06-14T10:31:00.500000"),
        ("2021:06:14 10:31:00,123456789", "2021-06-14T10:31:00.123456"),
        ("2021/06/14 10:31", "2021-06-14T10:31:00"),
        (" 2021:6:4  9:05:07 ", "2021-06-04T09:05:07"),
        ("2021: 6: 4  9: 5: 7", "2021-06-04T09:05:07"),
        ("2021:06:14 01:31:00 PM", "2021-06-14T13:31:00"),
        ("2021:06:14 12:05:00 am", "2021-06-14T00:05:00"),
        ("2016:12:31 23:59:60", "2016-12-31T23:59:59"),
        ("1850:01:01 00:00:00", "1850-01-01T00:00:00"),
        ("0000:00:00 00:00:00", ""),
        ("    :  :     :  :  ", ""),
        ("2021:02:30 10:00:00", ""),
        ("2021:13:01 10:00:00", ""),
        ("2021:06:14 25:00:00", ""),
        ("1970:01:01 00:00:00", ""),
        ("1970:01:01 01:00:00+01:00", ""),
        ("1969-12-31T16:00:00-08:00", ""),
        ("0001:01:01 00:00:00", ""),
        ("1601:01:01 00:00:00", ""),
        ("2021", ""),
        ("", ""),
        ("yesterday", ""),
    ],
)
def test_spellings_of_a_stamp(stamp: str, iso: str, tmp_path: Path) -> None:
    found = taken(tmp_path, jpeg(exif_block(exif={ORIGINAL: stamp})))
    assert found.partition(" ")[0] == iso


def test_sub_seconds_and_offsets_belong_to_their_own_field(tmp_path: Path) -> None:
    fields = {ORIGINAL: "2021:06:14 10:31:00", 0x9291: "042", OFFSET_DIGITIZED: "+05:00"}
    block = exif_block({OFFSET_CHANGED: "+03:00"}, fields)
    assert taken(tmp_path, jpeg(block)).startswith("2021-06-14T10:31:00.042000 exif:DateTimeO")
    block = exif_block(None, fields | {OFFSET_ORIGINAL: "+02:00"}, order=">")
    assert taken(tmp_path, jpeg(block)).startswith("2021-06-14T10:31:00.042000+02:00 ")
    digitized = {DIGITIZED: "2021:06:15 10:31:00", OFFSET_DIGITIZED: "-03:00"}
    block = exif_block({CHANGED: "2022:01:01 00:00:05"}, digitized)
    assert taken(tmp_path, jpeg(block)).startswith("2021-06-15T10:31:00-03:00 exif:DateTimeD")
    block = exif_block({CHANGED: "2022:01:01 00:00:05"}, {OFFSET_CHANGED: "+01:00"})
    assert taken(tmp_path, jpeg(block)).startswith("2022-01-01T00:00:05+01:00 exif:DateTime ")


def test_the_zero_of_a_clock_is_no_date_in_any_zone(tmp_path: Path) -> None:
    fields = {ORIGINAL: "1970:01:01 01:00:00", OFFSET_ORIGINAL: "+01:00"}
    assert taken(tmp_path, jpeg(exif_block(None, fields))) == ""
    fields[ORIGINAL] = "1970:01:01 13:00:00"
    assert taken(tmp_path, jpeg(exif_block(None, fields))).startswith("1970-01-01T13:00:00+01:00")


def test_time_zone_offset_tag(tmp_path: Path) -> None:
    block = exif_block(None, {ORIGINAL: "2019:04:04 10:04:12", 0x882A: (8, [-6, 2])})
    assert taken(tmp_path, jpeg(block)).startswith("2019-04-04T10:04:12-06:00")
    block = exif_block({CHANGED: "2019:04:04 10:04:12"}, {0x882A: (8, [-6, 2])})
    assert taken(tmp_path, jpeg(block)).startswith("2019-04-04T10:04:12+02:00")


@pytest.mark.parametrize("words", ["", "   :  ", "+25:00", "02:00", "+02:75", "junk"])
def test_nonsense_offsets_are_unknown(words: str) -> None:
    assert parse_offset(words) is None


def test_order_of_sources(tmp_path: Path) -> None:
    """Takes the best field away, one after another."""
    sidecar = write(tmp_path / "s.xmp", xmp('photoshop:DateCreated="2021-01-03T03:00:00"').encode())
    exif = {ORIGINAL: "2021:01:01 01:00:00", DIGITIZED: "2021:01:04 04:00:00"}
    gps = {7: [(5, 1), (0, 1), (0, 1)], 0x1D: "2021:01:05"} | LISBON
    main = {CHANGED: "2021:01:06 06:00:00"}
    packet = xmp('xmp:CreateDate="2021-01-02T02:00:00"')
    name = "IMG_20210107_070000.jpg"
    seen = [taken(tmp_path, jpeg(exif_block(main, exif, gps), packet), name, sidecar)]
    del exif[ORIGINAL]
    seen.append(taken(tmp_path, jpeg(exif_block(main, exif, gps), packet), name, sidecar))
    seen.append(taken(tmp_path, jpeg(exif_block(main, exif, gps)), name, sidecar))
    seen.append(taken(tmp_path, jpeg(exif_block(main, exif, gps)), name))
    seen.append(taken(tmp_path, jpeg(exif_block(main, {}, gps)), name))
    seen.append(taken(tmp_path, jpeg(exif_block(main)), name))
    seen.append(taken(tmp_path, jpeg(), name))
    seen.append(taken(tmp_path, jpeg()))
    assert seen == [
        "2021-01-01T01:00:00 exif:DateTimeOriginal",
        "2021-01-02T02:00:00 xmp:CreateDate",
        "2021-01-03T03:00:00 sidecar:DateCreated",
        "2021-01-04T04:00:00 exif:DateTimeDigitized time-from-fallback",
        "2021-01-05T05:00:00+00:00 gps time-from-fallback",
        "2021-01-06T06:00:00 exif:DateTime time-from-fallback",
        "2021-01-07T07:00:00 name time-from-fallback,time-from-name",
        "",
    ]


def test_satellite_time_becomes_the_wall_clock_there(tmp_path: Path) -> None:
    summer = {7: [(12, 1), (30, 1), (455, 10)], 0x1D: "2021:07:01"}
    found = taken(tmp_path, jpeg(exif_block(gps=summer | LISBON)))
    assert found == "2021-07-01T13:30:45.500000+01:00 gps time-from-fallback"
    found = taken(tmp_path, jpeg(exif_block(gps=summer)))
    assert found == "2021-07-01T12:30:45.500000+00:00 gps time-from-fallback,time-in-utc"


@pytest.mark.parametrize(
    "gps",
    [
        {7: [(12, 1), (30, 1), (45, 1)]},  # no day
        {7: [(12, 1), (30, 1), (45, 1)], 0x1D: "0000:00:00"},
        {7: [(12, 0), (30, 1), (45, 1)], 0x1D: "2021:07:01"},
        {7: [(77, 1), (30, 1), (45, 1)], 0x1D: "2021:07:01"},
        {0x1D: "2021:07:01"},
        {7: "12:30:45", 0x1D: "2021:07:01"},
    ],
)
def test_satellite_time_needs_a_sound_day_and_clock(gps: dict, tmp_path: Path) -> None:
    assert taken(tmp_path, jpeg(exif_block(gps=gps | LISBON))) == ""


def test_an_offset_is_proven_only_when_clock_satellite_and_place_agree(tmp_path: Path) -> None:
    utc = {7: [(9, 1), (30, 1), (0, 1)], 0x1D: "2021:07:01"} | LISBON
    right = exif_block(None, {ORIGINAL: "2021:07:01 10:31:30"}, utc)
    assert taken(tmp_path, jpeg(right)).startswith("2021-07-01T10:31:30+01:00 exif:DateTimeOr")
    assert taken(tmp_path, jpeg(right)).endswith("offset-from-gps")
    for wrong in ("2021:07:01 11:31:30", "2021:07:02 10:31:30", "2021:07:01 10:47:00"):
        block = exif_block(None, {ORIGINAL: wrong}, utc)
        assert "+" not in taken(tmp_path, jpeg(block))


def test_factory_dates_give_way_and_are_doubted_when_alone(tmp_path: Path) -> None:
    factory = {ORIGINAL: "2002:12:08 12:00:00"}
    block = exif_block({CHANGED: "2013:11:19 12:14:50"}, factory)
    assert taken(tmp_path, jpeg(block)).startswith("2013-11-19T12:14:50 exif:DateTime ")
    found = taken(tmp_path, jpeg(exif_block(None, factory)))
    assert found == "2002-12-08T12:00:00 exif:DateTimeOriginal time-factory-default"


def test_future_is_flagged_not_dropped(tmp_path: Path) -> None:
    found = taken(tmp_path, jpeg(exif_block(None, {ORIGINAL: "2090:01:01 00:00:00"})))
    assert found.endswith("time-in-future")


def test_a_day_without_a_clock_borrows_the_clock_of_the_same_day(tmp_path: Path) -> None:
    packet = xmp('photoshop:DateCreated="2010-05-03"')
    found = taken(tmp_path, jpeg(exif_block({CHANGED: "2020:01:01 12:00:00"}), packet))
    assert found == "2010-05-03T00:00:00 xmp:DateCreated time-of-day-unknown"
    found = taken(tmp_path, jpeg(exif_block({CHANGED: "2010:05:03 12:00:00"}), packet))
    assert found.startswith("2010-05-03T12:00:00 exif:DateTime")


@pytest.mark.parametrize(
    ("name", "iso", "day_only"),
    [
        (b"IMG_20210614_103100.jpg", "2021-06-14T10:31:00", False),
        (b"PXL_20210614_103100123.jpg", "2021-06-14T10:31:00.123000", False),
        (b"PXL_20210614_103100123.PORTRAIT.jpg", "2021-06-14T10:31:00.123000", False),
        (b"IMG-20210614-WA0001.jpg", "2021-06-14T00:00:00", True),
        (b"WhatsApp Image 2021-06-14 at 10.31.00.jpeg", "2021-06-14T10:31:00", False),
        (b"WhatsApp Image 2021-06-14 at 10.31.00 PM (1).jpeg", "2021-06-14T22:31:00", False),
        (b"Screenshot_2021-06-14-10-31-00-123_com.app.png", "2021-06-14T10:31:00", False),
        (b"Screenshot 2021-06-14 at 10.31.00.png", "2021-06-14T10:31:00", False),
        (b"Screenshot_20210614-103100.png", "2021-06-14T10:31:00", False),
        (b"2021-06-14 10.31.00.jpg", "2021-06-14T10:31:00", False),
        (b"2021-06-14T10:31:00.jpg", "2021-06-14T10:31:00", False),
        (b"20210614_103100(0).heic", "2021-06-14T10:31:00", False),
        (b"signal-2021-06-14-103100.jpg", "2021-06-14T10:31:00", False),
        (b"Bildschirmfoto 2021-06-14 um 10.31.00.png", "2021-06-14T10:31:00", False),
        (b"\xff\xfe 2021-06-14 10.31.00.jpg", "2021-06-14T10:31:00", False),
        (b"Screen Shot 2021-06-14 at 9.31.00 AM.png", "2021-06-14T09:31:00", False),
        ("Screenshot 2021-06-14 at 9.31.00\u202fPM.png".encode(), "2021-06-14T21:31:00", False),
        (b"20210614103100.jpg", "2021-06-14T10:31:00", False),
        (b"00100_BURST20210614103100123_COVER.jpg", "2021-06-14T10:31:00.123000", False),
        (b"IMG_20210614_9.jpg", "2021-06-14T00:00:00", True),
        (b"202106149999.jpg", None, False),
        (b"20210614103199.jpg", None, False),
        (b"2021-06-14.jpg", "2021-06-14T00:00:00", True),
        (b"000000000030.jpg", None, False),
        (b"DSCN0010.jpg", None, False),
        (b"20219914_103100.jpg", None, False),
        (b"IMG_20310614_103100.jpg", None, False),
        (b"IMG_19700101_000000.jpg", None, False),
        (b"120210614103100.jpg", None, False),
        (b"photo 2021.jpg", None, False),
    ],
)
def test_times_in_names(name: bytes, iso: str | None, day_only: bool) -> None:
    found = parse_name(name, latest=lambda: NOW)
    assert (found.local.isoformat() if found else None) == iso
    assert bool(found and found.day_only) == day_only


def test_nested_xmp_dates_do_not_count(tmp_path: Path) -> None:
    nested = (
        "<xmpMM:Pantry><rdf:Bag><rdf:li><rdf:Description xmp:CreateDate='2001-01-01T00:00:01'/>"
        "</rdf:li></rdf:Bag></xmpMM:Pantry><exif:DateTimeOriginal>2009-09-09T09:09:09"
        "</exif:DateTimeOriginal>"
    )
    found = taken(tmp_path, jpeg(xmp=xmp("", nested)))
    assert found == "2009-09-09T09:09:09 xmp:DateTimeOriginal"


def test_several_packets_complete_each_other(tmp_path: Path) -> None:
    first, second = xmp('xmp:CreatorTool="x"'), xmp('exif:DateTimeOriginal="2009-09-09T09:09:09"')
    third = xmp('exif:DateTimeOriginal="2001-01-01T01:01:01" tiff:Orientation="6"')
    data = jpeg()
    payloads = map(xmp_segment, (first, second, third))
    packets = b"".join(b"\xff\xe1" + pack(">H", len(p) + 2) + p for p in payloads)
    found = read_metadata(write(tmp_path / "p.jpg", data[:2] + packets + data[2:]))
    assert found.taken
    assert found.taken.isoformat() == "2009-09-09T09:09:09"
    assert (found.orientation, found.flags) == (6, ())


def test_broken_and_hostile_xmp_is_a_flag(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "b">]><x>DateTimeOriginal &a;</x>'
    cut = xmp("", "<xmp:CreateDate>2009-09-09T09:09:09</xmp:CreateDate><tiff:Orien")[:-90]
    for packet in (bomb, cut, "DateTimeOriginal no xml"):
        found = read_metadata(write(tmp_path / "x.jpg", jpeg(xmp=packet)))
        assert "unreadable-xmp" in found.flags, packet
    assert parse_stamp("2009-09-09T09:09:09") is not None


@given(text(), text(alphabet="0123456789:-+. TZ"), binary())
@settings(max_examples=300, deadline=None)
def test_no_text_makes_a_parser_fall_over(words: str, digits: str, data: bytes) -> None:
    for stamp in (words, digits, f"9999:12:31 23:59:59{digits}", f"2021:06:14 {digits}"):
        parse_stamp(stamp, fraction=words, offset=digits)
        parse_day(stamp)
    parse_name(data + digits.encode(), latest=lambda: NOW)
    parse_xmp(b"<" + data)
    created(b"Photoshop 3.0\x008BIM\x04\x04" + data)


def iptc(**sets: str) -> bytes:
    """A JPEG with an IPTC block; keys are ``day`` and ``clock``."""
    records = b"".join(
        b"\x1c\x02" + bytes([{"day": 55, "clock": 60}[key], 0, len(value)]) + value.encode()
        for key, value in sets.items()
    )
    block = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + len(records).to_bytes(4, "big") + records
    data = jpeg()
    return data[:2] + b"\xff\xed" + (len(block) + 2).to_bytes(2, "big") + block + data[2:]


def test_iptc_needs_a_day(tmp_path: Path) -> None:
    found = taken(tmp_path, iptc(day="20210614", clock="103100+0200"))
    assert found == "2021-06-14T10:31:00+02:00 iptc:DateCreated"
    found = taken(tmp_path, iptc(day="20210614"))
    assert found == "2021-06-14T00:00:00 iptc:DateCreated time-of-day-unknown"
    for nothing in (iptc(clock="103100+0200"), iptc(day="00000000", clock="103100"), iptc()):
        assert taken(tmp_path, nothing) == ""


def takeout(folder: Path, document: object) -> bytes:
    return write(folder / "p.jpg.json", json.dumps(document).encode())


def test_takeout_sidecar_gives_time_and_place(tmp_path: Path) -> None:
    time = {"photoTakenTime": {"timestamp": "1625142600", "formatted": "x"}}  # 2021-07-01 12:30
    place = {"geoData": {"latitude": 38.7225, "longitude": -9.1389}}
    path = write(tmp_path / "p.jpg", jpeg())
    found = read_metadata(path, sidecar=takeout(tmp_path, time | place))
    assert found.taken
    assert found.taken.isoformat() == "2021-07-01T13:30:00+01:00"
    assert found.location
    assert found.location.longitude == -9.1389
    assert "gps-from-sidecar" in found.flags
    nowhere = {"geoData": {"latitude": 0.0, "longitude": 0.0}}
    found = read_metadata(path, sidecar=takeout(tmp_path, time | nowhere))
    assert found.location is None
    assert found.flags == ("time-in-utc",)


@pytest.mark.parametrize(
    "document",
    [[], {"photoTakenTime": 5}, {"photoTakenTime": {"timestamp": "x"}},
     {"geoData": {"latitude": 1}}, {"photoTakenTime": {"timestamp": 10**30}},
     {"geoData": {"latitude": "a", "longitude": None}}],
)  # fmt: skip
def test_odd_takeout_files_are_no_error(document: object, tmp_path: Path) -> None:
    path = write(tmp_path / "p.jpg", jpeg())
    found = read_metadata(path, sidecar=takeout(tmp_path, document))
    assert found.taken is None
    assert found.location is None


def test_an_unreadable_sidecar_is_a_flag(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jpg", jpeg())
    broken = write(tmp_path / "p.jpg.json", b"{not json")
    assert read_metadata(path, sidecar=broken).flags == ("unreadable-sidecar",)
    assert read_metadata(path, sidecar=b"/no/such.xmp").flags == ("unreadable-sidecar",)
