"""Words for time → intervals and recurring masks, against a stated today.

English, German, French, Spanish and Chinese. Knows nothing of photos and places.
"""

from photocraft_local.timelang.anchored import find_anchored
from photocraft_local.timelang.anchored_time import AnchoredTime
from photocraft_local.timelang.habits import USUAL, Habits
from photocraft_local.timelang.reading import find_times, parse_bound, parse_when
from photocraft_local.timelang.when import TimeMention, When

__all__ = [
    "USUAL",
    "AnchoredTime",
    "Habits",
    "TimeMention",
    "When",
    "find_anchored",
    "find_times",
    "parse_bound",
    "parse_when",
]
