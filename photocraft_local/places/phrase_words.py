"""Words around a place name in five languages: near, within 10 km of, north of, not in, or.

Patterns only: those that end right before a name, those that begin right behind it, and those
that join two. Knows no place.
"""

from __future__ import annotations

import re
from typing import cast

from photocraft_local.places.sectors import Side


def _before(body: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{body})\s*$", re.IGNORECASE)


def _behind(body: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{body})", re.IGNORECASE)


_PHOTO = r"(?:photo(?:graph)?s?|pictures?|pics?|images?|shots?|fotos?|bilder?|照片)"
ARTICLE = (
    r"(?:(?:the|der|die|das|dem|den|des|la|le|les|el|los|las)\s+(?:(?:city|town|island|region|state"
    r"|stadt|insel|ville|île|ciudad|isla)\s+(?:of|von|de)\s+)?|l['’]\s?)?"
)
_OF = r"(?:\b(?:of|from|to|around|von|vom|zu|um|de|du|des|d['’]|del)\b\s*|(?<=\bd)['’]\s*)"

# --- distance

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "five": 5, "ten": 10, "twenty": 20,
    "fifty": 50, "hundred": 100, "a hundred": 100, "half a": 0.5, "a couple of": 2,
    "ein": 1, "einem": 1, "zehn": 10, "zwanzig": 20, "fünf": 5, "fünfzig": 50, "hundert": 100,
    "un": 1, "une": 1, "dix": 10,
    "vingt": 20, "cinq": 5, "cinquante": 50, "cent": 100, "uno": 1, "diez": 10, "veinte": 20,
    "cinco": 5, "cincuenta": 50, "cien": 100, "一": 1, "两": 2, "五": 5, "十": 10, "二十": 20,
    "五十": 50, "一百": 100,
}  # fmt: skip
_NUMBER = (
    r"(?P<number>\d+(?:[.,]\d+)?|"
    + "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
    + ")"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_UNIT = (
    r"(?P<unit>km|kilom[eè]t(?:re|er)s?n?|kilómetros?|kilometern?|kms|miles?|mi|meilen?|millas?|milles?"
    r"|feet|foot|ft|yards?|yd|英尺"
    r"|m|met(?:re|er)s?n?|mètres?|metros?|metern?|公里|千米|英里|米)"
)
_ABOUT = r"(?:(?:about|roughly|some|etwa|rund|ungefähr|environ|unos|unas)\s+)?"
_KM_PER_UNIT = (
    (("mile", "mi", "meile", "milla", "mille", "英里"), 1.609344),
    (("feet", "foot", "ft", "英尺"), 0.0003048),
    (("yard", "yd"), 0.0009144),
    (("km", "kilo", "公里", "千米"), 1.0),
    (("m", "米"), 0.001),
)
WITHIN = _before(
    r"(?:\b(?:within|in|less than|under|at most|up to|no more than|not more than|closer than"
    r"|(?:with)?in an? (?:radius|distance) of|höchstens|weniger als|bis zu|maximal"
    r"|im (?:umkreis|radius) von|à moins de|à|dans un rayon de|au plus à"
    r"|a menos de|en un radio de|a)\s+)"
    rf"{_ABOUT}{_NUMBER}\s?{_UNIT}\s*(?:radius\s+|away\s+|autour\s+|alrededor\s+|rund\s+)?{_OF}?{ARTICLE}"
    r"|(?<![\w.])(?P<bare>\d+(?:[.,]\d+)?|a couple of)\s?"
    r"(?P<bare_unit>km|miles?|kilom[eè]t(?:re|er)s?|kilómetros?|m)"
    rf"\s+(?:away\s+|rund\s+|autour\s+|alrededor\s+)?(?:from|around|of|um|von|de|d['’]|del)\s*{ARTICLE}"
)
BEYOND = _before(
    r"(?:\b(?:more than|over|at least|further than|farther than|mehr als|weiter als|mindestens"
    r"|à plus de|plus de|a más de|más de)\s+)"
    rf"{_ABOUT}{_NUMBER}\s?{_UNIT}\s*(?:away\s+|entfernt\s+)?{_OF}?{ARTICLE}"
)
_NEAR_NUMBER = _NUMBER.replace("<number>", "<near>")
_NEAR_UNIT = _UNIT.replace("<unit>", "<near_unit>")
WITHIN_BEHIND = _behind(
    rf"^\s?(?:附近|周围|方圆){_NEAR_NUMBER}\s?{_NEAR_UNIT}"
    r"(?:以内|之内|范围内|内)?|"
    rf"^\s?(?:周围|方圆)?{_NUMBER}\s?{_UNIT}(?:以内|之内|范围内|内)"
    r"|^\s?(?:不到|不超过|少于|最多)(?P<bare>\d+(?:\.\d+)?)\s?(?P<bare_unit>公里|千米|英里|米)"
)
_DURATION = (
    r"(?:\d+|an?|one|two|half an?|einer|une?|una?)\s*(?:minutes?|mins?|hours?|h|minuten|stunden?"
    r"|heures?|minutos?|horas?)(?:['’]s?)?(?:\s+(?:walk|drive|ride|away|by \w+|zu fuß|à pied))?"
)
TIME_AWAY = _before(  # no distance: it depends on how one travels
    r"\b(?:(?:within|less than|under|at most|up to|unter|weniger als|à moins de|a menos de)\s+"
    rf"{_DURATION}\s+{_OF}|{_DURATION}\s+(?:from|von|d[eu]?|del)\s+){ARTICLE}"
)
BEYOND_BEHIND = _behind(rf"^\s?{_NUMBER}\s?{_UNIT}(?:以外|之外|开外)")
_VEHICLE = (
    r"flights?|bus(?:es)?|coach|trains?|ferr(?:y|ies)|planes?|roads?|tickets?|tram|taxi|highway"
    r"|motorway|flug|zug|fähre|fahrkarte|ticket|vols?|billets?|ferry|route|vuelo|tren|autobús|billete"
)
_GOING = (
    r"flying|driving|riding|walking|cycling|biking|hiking|heading|headed|bound|sailing|commuting|running"
    r"|departing|leaving|unterwegs|en route|en chemin|rumbo|camino"
)
HEADING = _before(  # where something goes to is not where the photo was taken
    rf"\b(?:on (?:the|my|our|a) (?:way|road|train|bus|plane|ferry)"
    rf"|(?:the|my|our|an?|der|dem|den|die|eine[mnr]?|ein|mein|unser|le|l['’]|un|el|mon|notre|mi"
    rf"|nuestro)\s*(?:\w+ )?(?:{_VEHICLE})|auf dem weg|auf der fahrt"
    rf"|(?:{_GOING})(?: (?!in |at |from |the day )\w+){{0,3}}) "
    rf"(?:to|towards?|for|into|nach|zu[mr]?|vers|pour|al?|hacia) {ARTICLE}"
)
NEAR = _before(
    r"\b(?:a few (?:km|kilomet(?:re|er)s|miles) (?:away )?(?:from|of)"
    r"|(?:just |right )?outside(?=\s*$)(?!)|near(?: to| by)?|nearby|close to|(?:all )?around"
    r"|not far from|next to|beside|in the (?:vicinity|neighbou?rhood|area|surroundings) of"
    r"|in der (?:nähe|umgebung|gegend) (?:von|vom|des|der)|nahe(?: bei)?|bei|rund um"
    r"|unweit(?: von)?|nicht weit (?:weg |entfernt )?(?:von|vom)|in der nähe|neben"
    r"|près d[eu]?|près|proche d[eu]?|autour d[eu]?"
    r"|aux (?:environs|alentours) d[eu]?"
    r"|non loin d[eu]?|à côté d[eu]?|cerca del?|alrededor del?|en los alrededores del?|junto al?"
    r"|al lado del?|no lejos del?)(?:['’]|\b)\s*" + ARTICLE + r"|(?:靠近|临近|离)"
)
FAR = _before(
    r"\b(?<!not )(?<!nicht )(?<!pas )(?<!non )(?<!no )(?:far(?: away)?|weit (?:weg|entfernt)"
    rf"|loin|lejos)\s+(?:from|of|von|vom|d[eu]?|del)(?:['’]|\b)\s*{ARTICLE}"
)
AT_ONES = re.compile(r"(?i)bei\b|chez\b")  # near a town, but in one's own place
JUST_OUTSIDE = _before(r"\b(?:just|right|shortly|kurz|juste)\s+outside(?: of)?\s+" + ARTICLE)
NEAR_BEHIND = _behind(
    r"^(?:附近|旁边|周边|周围|不远)|^ (?:metropolitan |greater )?area\b|^ (?:and )?surroundings\b"
    r"|^ (?:und )?umgebung\b|^ et (?:ses )?environs\b|^ y alrededores\b"
)

# --- directions

_MARKS = (
    ("northeast", r"north[- ]?east|nordöst|nordost|nord[- ]est|noreste|nordeste|东北|東北"),
    ("northwest", r"north[- ]?west|nordwest|nord[- ]ouest|noroeste|西北"),
    ("southeast", r"south[- ]?east|südöst|südost|sud[- ]est|sureste|sudeste|东南|東南"),
    ("southwest", r"south[- ]?west|südwest|sud[- ]ouest|suroeste|sudoeste|西南"),
    ("north", r"north|nörd|nord|norte|北"),
    ("south", r"south|süd|sud|sur|南"),
    ("east", r"east|öst|ost|este?|东|東"),
    ("west", r"west|ouest|oeste|西"),
)
_LATIN = "|".join(mark for _, marks in _MARKS for mark in marks.split("|") if mark.isascii()
                  or mark < "\u0250")  # fmt: skip
_HAN = "东北|東北|西北|东南|東南|西南|北|南|东|東|西"
DIRECTION = _before(
    rf"(?<!\bthe )(?<!\bim )(?<!\ble )(?<!\bel )(?:\b(?:to the|au|à l['’]|al))?\s*"
    rf"(?P<side>\b(?:{_LATIN}))(?:ern|lich)?\s+(?:of|from|von|vom|d[eu]?|del)(?:['’]|\b)\s*{ARTICLE}"
)
PART = _before(
    rf"(?:\b(?<!to )(?:in |of |from )?the|\bim|\baus dem|\b(?:dans |depuis )?le"
    r"|\b(?<!à )(?:dans )?l['’]"
    rf"|\b(?:en |del? )?el)\s*(?P<side>(?:{_LATIN}))(?:en|ern (?:part|half))?\s+"
    rf"(?:of|von|vom|d[eu]?|del)(?:['’]|\b)\s*{ARTICLE}"
    rf"|\b(?:the )?(?P<side2>{_LATIN})(?:ern)\s+|\b(?P<side3>nörd|süd|öst|west)lichen?\s+"
    r"|\b(?:im|aus dem) (?P<side4>nord|süd|ost|west)en (?=$)"
)
DIRECTION_BEHIND = _behind(rf"^(?:以|的)?(?P<side>{_HAN})(?:边|面|方|侧|邊)?(?!部)")
PART_BEHIND = _behind(rf"^(?:的)?(?P<side>{_HAN})部")
BETWEEN = _before(
    r"\b(?:(?:somewhere )?between|zwischen|entre|on the (?:way|road|drive|train|journey|trip) from"
    r"|(?:driving|riding|walking|cycling|biking|hiking|sailing|travell?ing) from"
    r"|the (?:drive|ride|hike|walk) from"
    r"|auf dem weg von|auf der (?:fahrt|straße) von|sur la route (?:de|entre)|de camino de"
    rf"|en el camino de|en route from|half ?way between)\s+{ARTICLE}|从"
)
BETWEEN_JOINT = re.compile(
    rf"(?i)^\s*(?:and|und|et|y|e|to|nach|à|a|en|与|和|到|&|-|–)\s*{ARTICLE}$"
)
BETWEEN_BEHIND = _behind(r"^之间|^(?:的)?路上|^途中|^中间")

# --- not, or

_ONES = (
    rf"(?:(?:the|those|any|all|die|denen|jenen|celles|ceux|les|las)\s+)?(?:(?:ones?|{_PHOTO})\s+)?"
    r"(?:(?:that|which)\s+(?:are|were)\s+)?"
)
NOT = _before(
    r"\b(?:but\s+)?(?:(?:are|were|is|was|have|has)n['’]t(?: been)?"
    r"|besides|away|nowhere|not|never|neither|nor|except(?:ing)?(?: for)?|excluding|other than"
    rf"|apart from|aside from|without|minus|(?:everything|all(?: {_PHOTO})?|anything|anywhere) but"
    r"|outside(?: of)?|away from"
    r"|nicht|weder|noch|außer(?:halb)?(?: von)?|ausgenommen|ohne|nie"
    r"|pas|sans|sauf|hors|ni|excepté|jamais|en dehors|à l['’]exception|hormis"
    r"|no|ni|sin|salvo|excepto|menos|fuera|nunca)"
    rf"\s+{_ONES}|(?:除了|除|不是|不|没)"
)
NOT_BEHIND = _behind(r"^(?:以外|之外)的?")
EXCEPT_BEHIND = _behind(r"^(?:以外|之外)?的?")
OR = re.compile(r"(?i)^[ ,]*(?:or|nor|noch|oder|ou|ni|o|u)\s+$|^[,，]?(?:或者?|还是)$")
AND = re.compile(r"(?i)^[ ,]*(?:and|und|et|y|e|&|\+|/|as well as|sowie)\s+$|^(?:和|与|及|跟|、)$")
COMMA = re.compile(r"^ ?[,，、/] ?$")
INSIDE = re.compile(
    r"(?i)^\s*(?:,\s*)?(?:(?:in|on|en|de|à|au|im|dans|del?|du|der|di)\b\s*)?"
    r"(?:(?:the|der|die|la|el|le|las|los)\b\s*)?$"
)
OWNED = re.compile(r"(?i)^['’]s?(?: [\w-]+){0,4} $|^的(?:\w{1,6})?$")  # "Tuscany's beach town "

# --- small words that belong to the mention

LEAD = _before(
    r"(?:\b(?:in|on|at|bei|chez|from|during|for|of|over|around|throughout|within|into|to|by|inside|through"
    r"|across|all over|back|taken|shot|made|captured|photographed|snapped|visiting|leaving|while in"
    r"|towards?|the (?:whole|entire) of|all of|city of|town of|old town of|downtown|central"
    r"|aus|im|am|vom|von|nach|der|dem|den|die|des|zu|zum|zur|durch|en|à|au|aux|de|du|d['’]"
    r"|dans|depuis|vers|la|le|les|l['’]|el|los|las|del|desde|hacia|por|the|my|our|this)(?<!['’])\s+|\b[dl]['’]\s?|[在于於从從去到来自在])+"
)
TRIP = _before(
    r"\b(?:(?:on|during|from|of|auf|während|pendant|durante)\s+)?(?:(?:my|our|the|a|that|meine[rnm]?|unsere[rnm]?"
    r"|mon|notre|mi|nuestro)\s+)?(?:trips?|holidays?|vacations?|visits?|journey|travels?|stay|tour"
    r"|reise|urlaub|voyage|vacances|séjour|viaje|vacaciones)"
)
AWAY_BEHIND = _behind(r"^ (?:entfernt|away|de distance|de distancia)\b")
TRIP_BEHIND = _behind(
    r"^[ -](?:trip|holiday|vacation|visit|journey|travels?|stay|reise|urlaub)s?\b"
    r"|^的?(?:[那这][次趟])?(?:旅行|之旅|之行|旅游)(?:时|的时候|期间|途中)?"
)


def kilometres(number: str, unit: str) -> float:
    """``("ten", "miles")`` → 16.09."""
    key = number.lower()
    if key in _NUMBERS:
        value = float(_NUMBERS[key])
    elif _THOUSANDS.fullmatch(key):  # "1,000 km", "1.000 km"
        value = float(re.sub("[.,]", "", key))
    else:
        value = float(key.replace(",", "."))
    small = unit.lower()
    for marks, km in _KM_PER_UNIT:
        if small.startswith(marks):
            return value * km
    raise ValueError(unit)


def side_of(word: str) -> Side:
    """``"nörd"`` → ``"north"``."""
    side = next(side for side, marks in _MARKS if re.fullmatch(marks, word.lower()))
    return cast(Side, side)
