"""Random filters against an independent reading: Python's own ``ast`` says how the text is
built, and three-valued logic photo by photo says what is true."""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from photocraft_local.places.distance import haversine_km
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.expression.common import parse_common
from photocraft_local.search.expression.context import Context
from photocraft_local.search.expression.parser import parse

Truth = bool | None
CITIES = ["", "Lisbon", "Porto", "São Paulo", "Zürich"]
CAMERAS = ["", "Nikon D750", "iPhone 12", "Canon EOS R5"]
FLAGS = ["screenshot", "truncated"]
COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def random_photos(rng: random.Random, number: int) -> list[dict[str, Any]]:
    photos = []
    for at in range(number):
        photo: dict[str, Any] = {"uid": f"p{at:04d}"}
        if rng.random() < 0.8:
            moment = datetime(2018, 1, 1) + timedelta(seconds=rng.randrange(6 * 365 * 86_400))
            photo["time"] = moment.replace(minute=rng.choice([0, 30]), second=0).isoformat()
        if rng.random() < 0.7:
            photo["gps"] = (round(rng.uniform(37, 42), 2), round(rng.uniform(-10, -7), 2))
        photo["city"] = rng.choice(CITIES)
        photo["country"] = "Land" if photo["city"] else ""
        photo["camera"] = rng.choice(CAMERAS)
        photo["flags"] = tuple(flag for flag in FLAGS if rng.random() < 0.2)
        photo["size"] = (rng.choice([1000, 4000]), rng.choice([1000, 3000]))
        if rng.random() < 0.5:
            photo["event"] = rng.randrange(5)
        photos.append(photo)
    return photos


def random_filter(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.3:
        return random_condition(rng)
    parts = [random_filter(rng, depth - 1) for _ in range(rng.randint(2, 3))]
    kind = rng.choice(["and", "or", "not", "brackets"])
    if kind == "not":
        return f"not {parts[0]}" if rng.random() < 0.5 else f"not ({parts[0]})"
    return f"({parts[0]})" if kind == "brackets" else f" {kind} ".join(parts)


def random_condition(rng: random.Random) -> str:
    order = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    day = f"{rng.randint(2018, 2023)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    minute = f"{day}T{rng.randint(0, 23):02d}:{rng.choice(['00', '30'])}"
    literal = rng.choice([day[:4], day[:7], day])
    south, west = round(rng.uniform(37, 40), 1), round(rng.uniform(-10, -8), 1)
    return rng.choice(
        [
            f'date {order} "{literal}"',
            f'time {order} "{minute}"',
            f'"{minute}" {order} time',
            f'"{day[:4]}" <= date {rng.choice(["<", "<="])} "{literal}"',
            f"year {order} {rng.randint(2017, 2024)}",
            f"{rng.randint(1, 6)} <= month < {rng.randint(6, 12)}",
            f"hour {order} {rng.randint(0, 23)}",
            f"day in ({rng.randint(1, 28)}, {rng.randint(1, 28)},)",
            f"weekday not in ({rng.randint(0, 6)}, {rng.randint(0, 6)})",
            f"event {order} {rng.randint(0, 4)}",
            f"width {order} {rng.choice([1000, 2000.5, 4000])}",
            f'city == "{rng.choice(CITIES[1:])}"',
            f'city in ("{rng.choice(CITIES[1:])}", "Nowhere")',
            f'"{rng.choice(["nikon", "iPhone", "Leica"])}" in camera',
            "has_time",
            "has_gps",
            f'flag("{rng.choice(FLAGS)}")',
            f"box({south}, {west}, {round(south + 2, 1)}, {round(west + 1.5, 1)})",
            f'near("39.1,-8.6", {rng.choice([20, 80, 150])})',
        ]
    )


def span(text: str) -> tuple[datetime, datetime]:
    """The first moment of a literal and the first moment after it."""
    if len(text) == 4:
        return datetime(int(text), 1, 1), datetime(int(text) + 1, 1, 1)
    if len(text) == 7:
        year, month = int(text[:4]), int(text[5:])
        return datetime(year, month, 1), datetime(year + month // 12, month % 12 + 1, 1)
    start = datetime.fromisoformat(text)
    return start, start + (timedelta(days=1) if len(text) == 10 else timedelta(minutes=1))


def value_of(field: str, photo: dict[str, Any]) -> Any:
    moment = datetime.fromisoformat(photo["time"]) if "time" in photo else None
    if field in ("date", "time"):
        return moment
    if field == "weekday":
        return None if moment is None else moment.weekday()
    if field in ("year", "month", "day", "hour"):
        return None if moment is None else getattr(moment, field)
    if field in ("width", "height"):
        return photo["size"][field == "height"]
    return photo.get(field) or (None if field != "event" else photo.get("event"))


def compare(left: ast.expr, op: ast.cmpop, right: ast.expr, photo: dict[str, Any]) -> Truth:
    if isinstance(op, ast.In | ast.NotIn):
        if isinstance(left, ast.Constant):
            assert isinstance(right, ast.Name)
            camera = value_of(right.id, photo)
            return None if camera is None else left.value.casefold() in camera.casefold()
        assert isinstance(right, ast.Tuple)
        known = [compare(left, ast.Eq(), one, photo) for one in right.elts]
        inside = None if None in known else any(known)
        return inside if isinstance(op, ast.In) or inside is None else not inside
    if isinstance(left, ast.Constant):
        mirrored = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
        return compare(right, mirrored.get(type(op), type(op))(), left, photo)
    assert isinstance(left, ast.Name)
    assert isinstance(right, ast.Constant)
    value, literal = value_of(left.id, photo), right.value
    if value is None:
        return None
    if left.id not in ("date", "time"):
        return COMPARE[type(op)](value, literal)
    start, end = span(literal)
    inside = start <= value < end
    return {
        ast.Eq: inside, ast.NotEq: not inside, ast.Lt: value < start,
        ast.LtE: value < end, ast.Gt: value >= end, ast.GtE: value >= start,
    }[type(op)]  # fmt: skip


def call(node: ast.Call, photo: dict[str, Any]) -> Truth:
    assert isinstance(node.func, ast.Name)
    arguments = [ast.literal_eval(argument) for argument in node.args]
    if node.func.id == "flag":
        return arguments[0] in photo["flags"]
    if "gps" not in photo:
        return None
    latitude, longitude = photo["gps"]
    if node.func.id == "box":
        south, west, north, east = arguments
        return south <= latitude <= north and west <= longitude <= east
    lat, lon = map(float, arguments[0].split(","))
    return bool(haversine_km(lat, lon, latitude, longitude) <= arguments[1])


def truth(node: ast.expr, photo: dict[str, Any]) -> Truth:
    """Kleene's logic: None is "not known"."""
    if isinstance(node, ast.BoolOp):
        parts = [truth(part, photo) for part in node.values]
        decisive = isinstance(node.op, ast.Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    if isinstance(node, ast.UnaryOp):
        inner = truth(node.operand, photo)
        return None if inner is None else not inner
    if isinstance(node, ast.Name):
        return {"has_time": "time", "has_gps": "gps"}[node.id] in photo
    if isinstance(node, ast.Call):
        return call(node, photo)
    assert isinstance(node, ast.Compare)
    operands = [node.left, *node.comparators]
    links = zip(operands, node.ops, operands[1:], strict=False)
    parts = [compare(left, op, right, photo) for left, op, right in links]
    return False if False in parts else None if None in parts else True


@pytest.mark.parametrize("seed", range(4))
def test_random_filters_mean_what_python_syntax_says(make_columns: Any, seed: int) -> None:
    rng = random.Random(seed)
    photos = random_photos(rng, 150)
    catalog = Catalog.from_columns(make_columns(photos))
    sizes = set()
    for _ in range(250):
        text = random_filter(rng, 3)
        tree = ast.parse(text, mode="eval").body
        expected = {photo["uid"] for photo in photos if truth(tree, photo) is True}
        selection = catalog.filter(text)
        assert set(selection.uids()) == expected, text
        again = catalog.filter(selection.expression)
        assert set(again.uids()) == expected, (text, selection.expression)
        sizes.add(len(expected))
    assert len(sizes) > 30


def test_the_short_way_reads_as_the_general_parser_does() -> None:
    rng = random.Random(9)
    context = Context(flags=FLAGS)
    short = 0
    for _ in range(2_000):
        text = " and ".join(random_condition(rng) for _ in range(rng.randint(1, 3)))
        node = parse_common(text, context)
        if node is not None:
            short += 1
            assert node.text() == parse(text, context).text(), text
    assert short > 500
