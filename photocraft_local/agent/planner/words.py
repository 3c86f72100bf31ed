"""The words by which the planner takes a question apart; English first, some of de, fr, es, zh.

Patterns only. Times and places are not here: their own modules know those words.
"""

from __future__ import annotations

import re


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(body, re.IGNORECASE)


PHOTO = r"(?:photo(?:graph)?s?|pictures?|pics?|images?|snapshots?|shots?|fotos?|bild(?:er)?)"
# The whole question: every photo of the library is wished for.
ALL = _pattern(
    r"^\W*(?:(?:show|give|list|find|see|zeige?|montre|muestra) )?(?:me |mir |moi )?"
    rf"(?:all(?: of)?(?: the| my| our)? {PHOTO}|every (?:single )?{PHOTO}|everything"
    rf"|alle (?:meine )?{PHOTO}|toutes (?:les|mes) {PHOTO}|todas (?:las|mis) {PHOTO}"
    r"|所有的?照片)\W*(?:please|bitte)?\W*$"
)
FACTS = {
    _pattern(
        r"\b(?:no|without|missing|lacking)(?: an?| any| the)? (?:date|time|timestamp)s?\b"
        r"|\bundated\b|\bof (?:an )?unknown (?:date|time)\b"
        r"|\b(?:ohne datum|sans date|sin fecha)\b"
    ): "not has_time",
    _pattern(
        r"\b(?:no|without)(?: an?| any)?(?: known)? camera (?:information|info|name|data|model)\b"
        r"|\b(?:have|has|with) no(?: known)? camera\b(?! \w+)|\bfrom an unknown camera\b"
    ): "not has_camera",
    _pattern(r"\b(?:no|without|missing|lacking)(?: an?| any| the)? "
             r"(?:place|location|gps|position|coordinates)s?\b"
             r"|\bof (?:an )?unknown (?:place|location)\b"
             r"|\b(?:ohne ort|sans lieu|sin ubicación)\b"): "not has_gps",
    _pattern(r"\bwith(?: an?| the| known)? (?:date|timestamp)s?\b"): "has_time",
    _pattern(r"\bwith(?: an?| the| known)? (?:location|gps|coordinates)s?\b"): "has_gps",
    _pattern(
        r"\b(?:no|without|not|except|keine|ohne|sans|pas de|sin)(?: any)? "
        r"(?:screen ?shots?|bildschirmfotos?|captures? d'écran|capturas? de pantalla)\b"
    ): 'not flag("screenshot")',
    _pattern(
        r"\b(?:screen ?shots?|bildschirmfotos?|captures? d'écran|capturas? de pantalla)\b"
        r"|截图|截屏"
    ): 'flag("screenshot")',
}  # fmt: skip

NOT = _pattern(
    rf"\b(?:(?:everything|anything|all(?: {PHOTO})?) but|(?:but )?(?:"
    r"ne montrent pas|no muestran|without(?: any)?|neither|weder|with no|no|not(?: any)?|excluding"
    r"|(?:please )?(?:leave out|leaving out"
    r"|(?:skip|omit|omitting|exclude|ignore)(?= (?:the|all|any)\b))"
    r"|except(?: for)?|other than|rather than|instead of|lacking|free of|minus"
    r"|isn't|aren't|don't|doesn't"
    r"|ohne|nicht|keine?[nmr]?|außer|sans|pas de|sauf|sin|salvo|excepto))\b"
    r"|没有|除了"
)
CJK_NOT = re.compile(r"(?:但是?)?(?:不是|不要|不含|不包括|不|没有|没|非)$")
# "without cats and dogs": both are meant; a comma ends it.
LIST_JOINT = _pattern(r" ?, ?(?:and|or|nor) | (?:and|or|nor|und|oder|noch|et|ou|ni|y|o)(?: no)? ")
SCOPE_END = _pattern(r"[,;:.!?，。；的]|\b(?:but|yet|aber|mais|pero)\b")
# "without dogs or in Berlin": what the "or" joins is no longer among the unwanted things.
OPEN_END = _pattern(r"\b(?:or|nor|oder|ou) *$")
# "with no toilets and a red bucket": after a bare noun, an article begins something new.
NEW_THING = _pattern(r" (?:and|with) (?:a|an|the|some|two|three)\b")
WITH_ARTICLE = _pattern(
    r"^ *(?:an?|the|eine?[mnr]?|de[mnr]|die|das|une?|les?|la|una|el|los|las) (?P<next>\w+)"
)
ARTICLE = _pattern(r"^ *(?:a|an|any|the) ")

# Quantities that no photo is measured by.
MUCH = _pattern(r"\b(?:a lot|lots|plenty) of\b")

# Left of a time or a place, and part of it.
LEAD = _pattern(
    r"(?:\b(?:in|on|at|from|during|for|of|over|around|throughout|within|into|to|by|back|dated"
    r"|taken|shot|made|captured|sometime|year|the|my|our|this|visiting|near the end of"
    r"|aus|im|am|vom|von|der|dem|den|die|des|zu|en|à|au|aux|de|du|dans|le|la|el|del|desde"
    r")\b ?|[在于从]|(?<!\w)d')+$"
)
TRIP = _pattern(
    r"\b(?:(?:my|our|the|a) )?(?:trips?|holidays?|vacations?|visits?|journey|travels?|stay"
    r"|reise|urlaub|voyage|vacances|viaje|vacaciones) ?$"
)
# "except the ones from Lisbon": up to the words that LEAD holds.
_THE_ONES = rf"(?:(?:the|those|any|all) )?(?:(?:ones?|{PHOTO}) )?(?:(?:that|which) (?:are|were) )?"
MENTION_NOT = _pattern(
    r"(?:\b(?:but )?(?:not|neither|weder|except(?: for)?|excluding|other than|without"
    rf"|(?:everything|all(?: {PHOTO})?|anything|anywhere) but|outside(?: of)?|never"
    rf"|nicht|außer|ohne|pas|sauf|hors|no|salvo|excepto|fuera)(?: {_THE_ONES}|$)|除了)$"
)
OR = _pattern(r"^[ ,]*(?:or|nor|noch|oder|ou|o)(?: |$)|^或")
# Left over beside a condition, it joins what cannot be joined: "from 2021 or in Berlin".
LOOSE_OR = _pattern(r"\b(?:either|or|nor|oder|entweder|ou|noch|o|u)\b|或者?")
AND = _pattern(r"^[ ,]*(?:and|und|et|y|&|\+|/|as well as)(?: |$)|^[和与]")
COMMA = _pattern(r"^ ?, ?$")

UNKNOWN_PLACE = re.compile(
    r"\b(?:in|at|from|near|around|visiting|outside) "
    r"(?P<name>[A-ZÀ-Þ][\w'-]+(?: (?:(?:of|de|del|la|the) )?[A-ZÀ-Þ][\w'-]+)*)"
)

# Words that carry no look. INSIDE ones are dropped wherever they stand, EDGE ones at the ends of
# a phrase ("a dog on the beach" keeps its middle), COMMANDS before its first article ("see a
# dog", but "an open window"), LEFT ones at its beginning only ("den Turm", but "a lion's den").
INSIDE = frozenset(
    """
    photo photos photograph photographs picture pictures pic pics image images snapshot snapshots
    shot shots foto fotos bild bilder bildern fotografien photographies fotografías imagen imágenes
    take took taken captured snapped photographed
    please pls kindly you me i we i'd i'm i've stuff snap snaps anywhere somewhere bitte
    """.split()  # noqa: SIM905
)
COMMANDS = frozenset(
    """
    find give get list display search looking open see want would wanna need can could may
    zeig zeige zeigen such suche finde montre montrez trouve cherche muestra muéstrame
    busca encuentra
    """.split()  # noqa: SIM905
)
SHOW = frozenset({"show", "shows"})  # behind a noun, something that is seen
OF_A_SHOW = frozenset("jumping jumper jumpers room rooms girl girls window".split())  # noqa: SIM905
LEFT = frozenset("den die des war un une el la le".split())  # noqa: SIM905
# Small words behind which a command may still come.
NO_ARTICLES = frozenset(
    """
    and so to us mir moi all any hi hello hey thanks there let's
    """.split()  # noqa: SIM905
)
# A thing whose name holds a word for photos, or a photo that is seen on one.
PHOTO_THING = _pattern(
    r"\b(?:photo(?:graph)?|picture|image|shot|snapshot) (?:booth|frame|book|album|glass|shoot"
    r"|studio|wall|gallery|exhibition|shop|put|gun|hook|window|day)s?\b"
    r"|\b(?:tak(?:ing|es?)|holding|holds?|shoot(?:ing|s)?|drawing|paint(?:ing|s)?|looking at)"
    r" (?:an? |the |some )?(?:photos?|pictures?|images?|selfies?)\b(?: of\b)?"
)
EDGE = frozenset(
    """
    show shows showing hi hello hey thanks thank there us mir moi favor everything
    prise prises pris aufgenommen aufgenommene gemacht gemachte tomada tomadas hechas tirada tiradas
    a an the this that these those some any all every each both of in on at to for from by with and
    or but as is are was were be been being am do does did have has had having which who whose
    where it its they them their there my our your his her one ones thing things something anything
    contain contains containing depicting depict featuring include includes including visible seen
    appear appears many several few what which made like into over during along about look then
    also too ever still really maybe i've let let's dated sometime back when
    but yet however aber sondern mais pero sino es schon
    était étaient fut est sont était-ce c'était c'est estaba estaban está están fue fueron
    zeigen sehen finden zeig ansehen montrer voir mostrar ver
    una unos busco der die das den dem des ein eine einen einem einer
    von vom aus im in am an auf mit und oder
    ist sind war waren wo zu ich wir mein meine unsere alle alles
    le la les l un une des du de d et ou avec sur dans au aux à je nous mes mon ma nos tous toutes
    em com da das dos nas
    el los las unos unas del y con en por para que mis mi nuestras nuestros todas todos
    """.split()  # noqa: SIM905
)
CJK_FILLER = _pattern(
    r"的|の|写真|画像|撮った|撮影した|を|で"
    r"|[那这][次趟]|照片[里上中]|照片|图片|相片|拍摄|拍的|所有|请|给我|我们|我|显示|找|有|是|在|吗|呢|了"
    r"|一[座只个张条辆艘头匹朵棵位些架把]"
)
WORD = re.compile(
    r"[^\W_]+(?:['-][^\W_]+)*|[^\w\s,;:.!?'\"()\[\]{}<>/\\|*_=+~^`@#$%&¿¡。，？！；：、·-]+"
)
GERMAN_ARTICLES = frozenset(
    """
    der die das den dem ein eine einen mein meine unser unsere
    """.split()  # noqa: SIM905
)
ELIDED = _pattern(r"\b(?:[dl]|qu)'(?=\w)")  # "d'une voiture"
LETTER = re.compile(r"[^\W_]")
