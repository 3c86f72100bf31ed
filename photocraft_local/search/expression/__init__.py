"""The filter language: text → typed tree → rows of a catalog. Parsed, never evaluated.

A subset of Python's expressions, with the same precedence and chains: ``and or not``,
comparisons, ``in (…)``, strings, numbers, and the fields and functions of fields.py and
functions.py. The parser is our own, since ``ast.parse`` alone takes most of the time that a
whole filter may (17 of 27 µs; benchmarks/time_box_filter.py); a test holds it to ``ast``'s
reading of the same text.

* A date literal spans what it leaves open: ``date == "2021-06"`` is that month, ``date >
  "2021-06"`` begins in July. Times are the wall clock where the photo was taken.
* ``clock`` is the time of day to the minute: ``"18:30" <= clock < "20:00"``; ``holiday("easter")``
  holds on the days of every year's, ``holiday("monday after easter")`` on days beside them.
* ``weekday`` and ``month`` take names or numbers; Monday is 0, January is 1.
* ``city``, ``region`` and ``country`` are equal whatever the case, accents or language;
  ``camera`` and ``address`` need only hold the words: ``camera == "nikon"``.
* ``place("Portugal")`` goes by the photo's country or region; for a city, and in ``near()``,
  the distance from its centre counts.
* A photo that lacks a fact is neither in nor out: ``year == 2021`` and ``not year == 2021`` both
  leave undated photos out, ``not has_time`` asks for them. Likewise places and cameras.
"""
