"""The days of holidays that move from year to year, as edges in time.

What a holiday's name means is timelang's to say; rows.py looks photos up between the edges.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from photocraft_local.timelang.holidays import all_days

_EPOCH = datetime(1970, 1, 1)


@lru_cache(maxsize=64)
def holiday_edges(name: str) -> NDArray[np.int64]:
    """Seconds since 1970 at which the days of a holiday begin and end by turns, ascending."""
    edges = [moment for interval in all_days(name) for moment in interval]
    return np.array([(moment - _EPOCH) // timedelta(seconds=1) for moment in edges], np.int64)
