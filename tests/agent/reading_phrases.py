"""Questions and the look, times and places in them: a table for test_understand_parts.py."""

from __future__ import annotations

JUNE_2021 = 'date >= "2021-06-01" and date < "2021-07-01"'

YEAR_2019 = 'date >= "2019-01-01" and date < "2020-01-01"'

LOOKS_TIMES_PLACES = [
    ("photos of a dog on the beach in Lisbon in June 2021",
     "dog on the beach", [JUNE_2021], ['place("Lisbon")']),
    ("pictures taken in 2019", "", [YEAR_2019], []),
    ("everything from Tuscany", "", [], ['place("Tuscany")']),
    ("Show me all pictures from Tuscany, please!", "", [], ['place("Tuscany")']),
    ("could you find me some photos of red cars?", "red cars", [], []),
    ("red cars in 2019", "red cars", [YEAR_2019], []),
    ("In June 2021, what photos did I take in Lisbon?", "",
     [JUNE_2021], ['place("Lisbon")']),
    ("our trip to Lisbon in June 2021", "", [JUNE_2021], ['place("Lisbon")']),
    ("photos from our vacation in Portugal", "", [], ['place("Portugal")']),
    ("Lisbon June 2021 dog", "dog", [JUNE_2021], ['place("Lisbon")']),
    ("dogs in the netherlands", "dogs", [], ['place("the netherlands")']),
    ("lisbon 2019", "", [YEAR_2019], ['place("lisbon")']),
    ("lisbon june 2021", "", [JUNE_2021], ['place("lisbon")']),
    ("tokyo dogs", "dogs", [], ['place("tokyo")']),
    ("our Japan trip", "", [], ['place("Japan")']),
    ("photos prises en Italie", "", [], ['place("Italie")']),
    ("fotos de Lisboa em 2019", "", [YEAR_2019], ['place("Lisboa")']),
    ("東京の写真", "", [], ['place("東京")']),
    ("weekend photos of dogs", "dogs", ['weekday in ("sat", "sun")'], []),
    ("a cat near Porto", "cat", [], ['near("Porto", 25)']),
    ("sunsets within 5 km of Porto", "sunsets", [], ['near("Porto", 5)']),
    ("sunsets within 10 miles of Porto", "sunsets", [], ['near("Porto", 16.0934)']),
    ("photos from Lisbon or Porto", "", [], ['((place("Lisbon")) or (place("Porto")))']),
    ("photos from Italy, France and Spain", "", [],
     ['((place("Italy")) or (place("France")) or (place("Spain")))']),
    ("birds not in Lisbon", "birds", [], ['not ((place("Lisbon")))']),
    ("neither Italy nor France", "", [],
     ['not ((place("Italy")) or (place("France")))']),
    ("every photo except the ones from Lisbon", "", [], ['not ((place("Lisbon")))']),
    ("everything but Lisbon", "", [], ['not ((place("Lisbon")))']),
    ("cats except those taken in 2019", "cats", [f"not (({YEAR_2019}))"], []),
    ("Lisbon/Porto", "", [], ['((place("Lisbon")) or (place("Porto")))']),
    ("cats or dogs in Lisbon", "cats or dogs", [], ['place("Lisbon")']),
    ("cats, but not in 2019", "cats", [f"not (({YEAR_2019}))"], []),
    ("people playing a game of tennis on a tennis court",
     "people playing a game of tennis on a tennis court", [], []),
    ("I'd like to see photos that show a big black dog", "big black dog", [], []),
    ("a lot of people on a square", "people on a square", [], []),
]  # fmt: skip
