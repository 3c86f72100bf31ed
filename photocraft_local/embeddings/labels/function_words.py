"""Words of queries that name nothing, and those that tell a language. Tables only."""

from __future__ import annotations

_STOP_WORDS = """
a an the of in on at with and or to from by for into onto is are was were be being been it its
this that these those there here some any his her their our my your one s t as while who which
very photo photos picture pictures image images pic pics photograph photographs shot shots show
showing find me all i we you he she they
"""
SILENT_WORDS = frozenset(_STOP_WORDS.split())
ALSO_ENGLISH = frozenset(("die", "am", "den", "son", "sin", "con", "par", "pour", "sans"))
# English has these too, but for nothing that a photo shows: alone they are of another language.
FOREIGN_ALONE = frozenset(
    """
    auto autos kind bad tier tee teller brief strand see seen dame lit lits four chaise chaises sac
    sacs pain pierre citron pastel portable
    """.split()  # noqa: SIM905
)
FOREIGN = {  # function words of languages that the glossary does not have
    "it": "il gli della dello delle degli sulla sul nella nel di che sono una",
    "pt": "um uma com na em não dos",
    "nl": "het een met op aan zijn bij",
    "sv": "och på ett med av",
    "pl": "i w na z do się",
}
# Words beside a thing that no part of the encoder can check, so they decide nothing.
_COUNTS_AND_SIZES = """
one two three four five six seven eight nine ten several many few both each every lot lots more
another other big large huge small little tiny nice beautiful pretty cute lovely great good
"""
UNCHECKED_WORDS = frozenset(_COUNTS_AND_SIZES.split())
