"""AND and OR over conditions: how parts are joined, flattened and negated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from photocraft_local.search.expression.intervals import Intervals, intersection, union
from photocraft_local.search.expression.nodes import Leaf, Within


@dataclass(slots=True, eq=False)
class And:
    parts: tuple[Node, ...]

    def negated(self) -> Node:
        return disjoin([part.negated() for part in self.parts])

    def text(self) -> str:
        return " and ".join(
            f"({part.text()})" if isinstance(part, Or) else part.text() for part in self.parts
        )

    def notes(self) -> list[str]:
        return [note for part in self.parts for note in part.notes()]


@dataclass(slots=True, eq=False)
class Or:
    parts: tuple[Node, ...]

    def negated(self) -> Node:
        return conjoin([part.negated() for part in self.parts])

    def text(self) -> str:
        return " or ".join(part.text() for part in self.parts)

    def notes(self) -> list[str]:
        return [note for part in self.parts for note in part.notes()]


Node = Union[Leaf, And, Or]  # noqa: UP007 (And and Or name it before it is complete)


def conjoin(parts: list[Node]) -> Node:
    """AND of the parts: flat, intervals of one field intersected, time first."""
    ranges: dict[str, Within] = {}
    rest: list[Node] = []
    for part in parts:
        if isinstance(part, Within):
            _intersect(ranges, part)
        elif isinstance(part, And):
            for one in part.parts:
                if isinstance(one, Within):
                    _intersect(ranges, one)
                else:
                    rest.append(one)
        else:
            rest.append(part)
    merged: list[Node] = [*ranges.values(), *rest]
    if len(ranges) > 1 and "time" in ranges:
        merged.sort(key=lambda node: node is not ranges["time"])
    return merged[0] if len(merged) == 1 else And(tuple(merged))


def _intersect(ranges: dict[str, Within], node: Within) -> None:
    field = node.field
    if field in ranges:
        node = Within(field, intersection(ranges[field].intervals, node.intervals))
    ranges[field] = node


def disjoin(parts: list[Node]) -> Node:
    """OR of the parts: flat, intervals of one field joined."""
    if len(parts) == 1:
        return parts[0]
    ranges: dict[str, Intervals] = {}
    rest: list[Node] = []
    for part in parts:
        for one in part.parts if type(part) is Or else (part,):
            if type(one) is Within:
                ranges[one.field] = ranges.get(one.field, ()) + one.intervals
            else:
                rest.append(one)
    merged: list[Node] = [Within(field, union(parts)) for field, parts in ranges.items()]
    merged += rest
    return merged[0] if len(merged) == 1 else Or(tuple(merged))
