"""A selection in sums: its span, days, events, trips, places and cameras, over all its photos.

So that "how many cities" is answered without listing photos. Knows nothing of questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from photocraft_local.places.distance import haversine_km, unit_vectors
from photocraft_local.records import Json, address
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import degrees, kilometres, photo_row, safe_text
from photocraft_local.tools.photos import photos_by_uid
from photocraft_local.tools.units import NONE, journey_keys, unit_keys

if TYPE_CHECKING:
    from photocraft_local.search.catalog import Catalog
    from photocraft_local.search.selection import Selection

MOST_LISTED = 30
_DAY = 86_400


def summary(context: ToolContext, selection: Selection) -> dict[str, Json]:
    """``places`` and ``cameras`` list the most frequent, ``num_…`` count all of them."""
    catalog, rows = selection.catalog, selection.rows
    dated = rows[rows < catalog.columns.num_dated]
    moments = catalog.columns.times[dated].astype("datetime64[s]")
    facts: dict[str, Json] = {
        "dated": len(dated),
        "located": int(catalog.columns.located[rows].sum()),
        "num_days": len(np.unique(catalog.columns.times[dated] // _DAY)),
        "num_months": len(np.unique(moments.astype("datetime64[M]"))),
        "num_years": len(np.unique(moments.astype("datetime64[Y]"))),
        "num_events": _distinct(unit_keys(catalog, "event")[rows]),
        **_trips(catalog, rows),
        **_places(catalog, rows),
        **_words(catalog, rows, "camera"),
    }
    if len(dated):
        ends = photos_by_uid(context, catalog.uids_at(dated[[0, -1]]))
        facts["first"], facts["last"] = photo_row(ends[0]), photo_row(ends[-1])
    if middle := _middle(catalog, rows):
        facts["middle"] = {"latitude": degrees(middle[0]), "longitude": degrees(middle[1])}
    return facts


def apart(one: Selection, other: Selection) -> dict[str, Json]:
    """Kilometres between the middles of two selections and between their nearest photos, days
    between their first ones; what is not known is left out."""
    catalog = one.catalog
    facts: dict[str, Json] = {}
    middles = _middle(catalog, one.rows), _middle(catalog, other.rows)
    if middles[0] and middles[1]:
        facts["km"] = kilometres(float(haversine_km(*middles[0], *middles[1])))
    firsts = [
        rows[0]
        for rows in (one.rows, other.rows)
        if len(rows) and rows[0] < catalog.columns.num_dated
    ]
    if len(firsts) == 2:
        days = catalog.columns.times[firsts] // _DAY
        facts["days_between_firsts"] = int(days[1] - days[0])
    return facts


def _distinct(keys: NDArray[np.int64]) -> int:
    return len(np.unique(keys[keys != NONE]))


def _trips(catalog: Catalog, rows: NDArray[np.intp]) -> dict[str, Json]:
    """The journeys from home that the photos are of, each with its span and place."""
    keys = unit_keys(catalog, "trip")[rows]
    journeys = np.intersect1d(keys, journey_keys(catalog))
    listed = []
    for journey in journeys[:MOST_LISTED].tolist():
        own = rows[keys == journey]
        times = catalog.columns.times[own[[0, -1]]].astype("datetime64[s]")
        listed.append(
            {
                "start": str(times[0]),
                "end": str(times[1]),
                "place": _whereabouts(catalog, own),
                "photos": len(own),
            }
        )
    return {"num_trips": len(journeys), "trips": listed}


def _whereabouts(catalog: Catalog, rows: NDArray[np.intp]) -> str:
    """The town if there is but one, else the country most photographed; ``-`` if unknown."""
    places = _places(catalog, rows)
    if not places["places"]:
        return "-"
    most = places["places"][0]
    names = [most["city"] if places["num_cities"] == 1 else "", most["country"] or most["region"]]
    return address(*names) or "-"


def _places(catalog: Catalog, rows: NDArray[np.intp]) -> dict[str, Json]:
    names = ("city", "region", "country")
    columns = [catalog.columns.words(name) for name in names]
    codes = np.stack([column.codes[rows] for column in columns], axis=1)
    found, counts = np.unique(codes[codes.any(axis=1)], axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_LISTED]
    listed = [
        {
            **{
                name: safe_text(column.words[code])
                for name, column, code in zip(names, columns, found[at].tolist(), strict=True)
            },
            "photos": int(counts[at]),
        }
        for at in order
    ]
    towns = found[found[:, 0] > 0]
    return {
        "num_cities": len(towns),
        "num_countries": len(np.unique(found[found[:, 2] > 0, 2])),
        "num_places": len(found),
        "places": listed,
        "without_place": int(len(rows) - counts.sum()),
    }


def _words(catalog: Catalog, rows: NDArray[np.intp], name: str) -> dict[str, Json]:
    column = catalog.columns.words(name)
    codes, counts = np.unique(column.codes[rows], return_counts=True)
    known = codes > 0
    order = np.argsort(-counts[known], kind="stable")[:MOST_LISTED]
    listed = [
        {"name": safe_text(column.words[codes[known][at]]), "photos": int(counts[known][at])}
        for at in order
    ]
    return {
        f"num_{name}s": int(known.sum()),
        f"{name}s": listed,
        f"without_{name}": int(counts[~known].sum()),
    }


def _middle(catalog: Catalog, rows: NDArray[np.intp]) -> tuple[float, float] | None:
    """Mean position on the sphere in degrees, none where nothing is located."""
    columns = catalog.columns
    located = rows[columns.located[rows]]
    if not len(located):
        return None
    mean = unit_vectors(columns.latitude[located], columns.longitude[located]).mean(axis=0)
    length = float(np.linalg.norm(mean))
    if length < 1e-6:  # all round the globe
        return None
    x, y, z = (mean / length).tolist()
    return float(np.degrees(np.arcsin(z))), float(np.degrees(np.arctan2(y, x)))
