"""A plan as one short line, for tables of questions: parts in a fixed order, conditions by the
question's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    Condition,
    FactCondition,
    PlaceCondition,
    Spot,
)
from photocraft_local.agent.planner.plan import Plan, Relation, Wanted

SMALL = re.compile(
    r"^(?:(?:in|on|at|from|of|the|during|for|to|taken|im|am|vom|von|aus|nach|en|à|au|du|de"
    r"|del|le|la|les|el|los|pendant|durante|with|my|our|not|but) |[在于从])+",
    re.IGNORECASE,
)


def plan_line(plan: Plan) -> str:
    parts = list(_plan_parts(plan))
    return "; ".join(parts)


def _plan_parts(plan: Plan) -> Iterator[str]:
    if plan.ask.kind != "photos":
        yield f"ask {plan.ask.kind} {plan.ask.unit}".strip()
    if plan.everything:
        yield "everything"
    yield from _parts(plan.wanted)
    if plan.other:
        yield f"other({wanted_line(plan.other)})"
    if plan.unused:
        yield f"unused {', '.join(part.words for part in plan.unused)}"
    if plan.blocked:
        yield f"blocked {', '.join(part.words for part in plan.blocked)}"


def wanted_line(wanted: Wanted) -> str:
    return "; ".join(_parts(wanted))


def _parts(wanted: Wanted) -> Iterator[str]:
    for look in wanted.looks:
        yield f"look {' / '.join(look.texts)}"
    for text in wanted.not_looks:
        yield f"no look {text}"
    for condition in wanted.conditions:
        if isinstance(condition, FactCondition):
            yield condition.where
            continue
        negated = "no " if getattr(condition, "negated", False) else ""
        yield negated + _condition(condition)
    yield from (_relation(relation) for relation in wanted.relations)
    if wanted.either:
        yield f"either({' || '.join(map(wanted_line, wanted.either))})"
    for part in wanted.but_not:
        yield f"but not({wanted_line(part)})"
    if wanted.like:
        yield f"like {','.join(wanted.like)}"
    if wanted.pick:
        pick = wanted.pick
        yield f"pick {pick.by} {pick.count}{f' {pick.place}' if pick.place else ''}"


def _condition(condition: Condition) -> str:
    """Without the small words around it, which are the time and place languages' own affair."""
    if isinstance(condition, PlaceCondition):
        return f"place {' / '.join(map(_spot, condition.spots))}"
    if isinstance(condition, CameraCondition):
        return f"camera {' / '.join(condition.names)}"
    return f"time {SMALL.sub('', condition.words)}"


def _spot(spot: Spot) -> str:
    how = spot.how
    if how is None or how.relation == "in":
        return spot.name
    km = f" {how.km:g} km" if how.km else ""
    side = f" {how.side}" if how.side else ""
    to = f" to {how.to.name}" if how.to else ""
    return f"{how.relation}{side}{km} {spot.name}{to}"


def _relation(relation: Relation) -> str:
    shift = f"{relation.shift:+d}" if relation.shift else ""
    which = f" {relation.which}" if relation.which != "each" else ""
    within = f" within {relation.within}" if relation.within else ""
    km = f" {relation.km:g} km" if relation.km else ""
    apart = f" another {relation.apart}" if relation.apart else ""
    negated = "not " if relation.negated else ""
    return (
        f"{negated}{relation.kind}{shift}{which}{within}{km}{apart}({wanted_line(relation.anchor)})"
    )
