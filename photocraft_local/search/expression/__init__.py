"""The filter language: text → typed tree → rows of a catalog. Parsed, never evaluated.

A subset of Python's expressions, with the same precedence and chains: ``and or not``,
comparisons, ``in (…)``, strings, numbers, and the fields and functions that fields.py lists.
The parser is our own, since ``ast.parse`` alone takes most of the time that a whole filter may
(benchmarks/time_box_filter.py); a test holds it to ``ast``'s reading of the same text.

A photo that lacks a fact is neither in nor out: ``year == 2021`` and ``not year == 2021`` both
leave undated photos out, and ``not has_time`` asks for them.
"""
