"""Words for time → intervals and recurring masks, against a stated today.

English, German, French, Spanish and Chinese. Knows nothing of photos and places.
"""

from photocraft_local.timelang.reading import find_times, parse_bound, parse_when
from photocraft_local.timelang.when import TimeMention, When

__all__ = ["TimeMention", "When", "find_times", "parse_bound", "parse_when"]
