"""Whether a question wants words or photos, in five languages, by how one of its clauses begins.

Only so much as decides whether a text without photos is an answer; the planner's reader knows far
more (planner/understand).
"""

from __future__ import annotations

import re

_PHOTOS = r"(?:photos?|pictures?|images?|pics?|shots?|fotos?|bilder?n?|imágenes|imagen)\b"
# Words that ask, where a clause begins; "which photos" and the like ask for photos.
_ASKING = (
    # English
    rf"(?:what|which)(?!\W+(?:of my |of the )?{_PHOTOS})(?:'s|s)?\b|where(?:'s)?\b",
    r"how\b|when\b|whose\b|who\b|why\b|(?:is|are|was|were|do|does|did|has|have)\b",
    r"(?:read|count) (?:the|this|all|my|what|how|out)\b|describe\b|tell me\b",
    # German
    rf"wie\b|wann\b|wo\b|was\b|wer\b|wem\b|wessen\b|warum\b|welche[mnrs]?\b(?!\W+{_PHOTOS})",
    r"(?:ist|sind|waren|habe|haben|gibt|steht)\b|(?:war|hat) (?:ich|wir|das|es|er|sie|der|die)\b",
    r"lies (?:das|den|die|mir|dies\w*|vor)\b|beschreib\w*|zähle?\b",
    # French
    rf"combien\b|quand\b|où\b|qui\b|que\b|qu'|quoi\b|pourquoi\b|quel(?:le)?s?\b(?!\W+{_PHOTOS})",
    r"(?:est-ce|y a-t-il)\b|lis\b|décris\b|compte\b",
    # Spanish
    rf"cu[aá]nt[ao]s?\b|cu[aá]ndo\b|d[oó]nde\b|qui[eé]n(?:es)?\b|qu[eé]\b(?!\W+{_PHOTOS})|cu[aá]l(?:es)?\b",
    r"por qué\b|(?:hay|estuve)\b|lee (?:el|la|lo|los|las|este|esta)\b|cuenta\b",
)
_BEGINNING = re.compile(
    rf"(?:^|[.,;:!?¿¡–—])[^\S\n]*(?:(?:and|und|et|y|on|in|at|from|since|à|a|de|en|im|seit)\s+)?(?:{'|'.join(_ASKING)})",
    re.IGNORECASE | re.MULTILINE,
)
_CHINESE = re.compile(
    r"多少|几[张个次天月年点]|什么|何时|哪(?!些照片|张照片)|谁|为什么|怎么|吗|读|写着"
)


def asks_for_words(question: str) -> bool:
    """ "what does the sign say", "how many …", "when was …"; not "which photos …", "dogs"."""
    return bool(_BEGINNING.search(question) or _CHINESE.search(question))
