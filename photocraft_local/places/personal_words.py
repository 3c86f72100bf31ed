"""How people say "at home" and "at work" in five languages, and what else may stand before a
place of their own. Patterns only.

Each pattern holds a group ``name``: the words that stand for the place.
"""

from __future__ import annotations

import re

_AT = (
    r"\b(?:is|between|at|in|from|near|to|around|by|outside|visiting|back|leaving|bei|zu|zum|zur|im|nach"
    r"|not|nor|except|without|nahe|chez|à|au|dans|depuis|près de|en|desde|cerca de)\s+"
)
_MINE = (
    r"(?:(?:the|my|our|der|dem|den|die|das|meine[rnm]?|unsere[rnm]?|la|le|l['’]|el|mi|mon|ma|notre"
    r"|nuestr[ao])\s*)?"
)
# "photos of grandma" shows her; "5 km of grandma" and "north of grandma" are places.
CUE = re.compile(
    rf"(?i)(?:{_AT}{_MINE}|\b(?:km|kilomet\w+|miles?|m|met(?:er|re)s?|north|south|east|west|outside"
    rf"|nördlich|südlich|östlich|westlich)\s+(?:of|von|d[eu]|del|from)\s+{_MINE}|[在从到离去回])$"
)
BESIDE = re.compile(
    r"(?i)^[ ,]+(?:(?:in|from|during|im|en)\s+)?(?:\d{4}\b|photos?\b|pics?\b|pictures?\b|fotos?\b)"
)
BEGINS = re.compile(r"(?i)(?:^|[,;.]|\b(?:photos?|pics?|pictures?|fotos?|bilder))\s*$")
_OTHER = (
    r"\s+(?:run|office|page|plate|game|team|made|cooked|town|depot|screen|theat|of\b|sweet|bench|table"
    r"|shop|out\b)"
)
OTHER_HOME = re.compile(rf"(?i){_OTHER}|-\w")  # "home run" is no place, nor is "work bench"
HOUSE = r"(?:\s+(?:house|place|home|flat|apartment|haus|wohnung))?"
ARTICLES = re.compile(r"(?i)^(?:the|my|our|der|die|das|mein|meine|la|le|les|el|los|ma|mon|mi)\s+")

HOME = re.compile(
    rf"(?i)(?:{_AT}|\bof\s+)(?P<name>(?:(?:my|our)\s+(?:own\s+)?)?home|(?:my|our)\s+(?:place|house|flat|apartment))\b"
    rf"(?!{_OTHER}|-)"
    r"|\b(?:at|from) (?:work|the office) (?:or|and|nor) (?P<too>home)\b"
    r"|\b(?P<zuhause>zu ?hause|daheim|nach hause|bei (?:mir|uns)(?: zu hause| daheim)?)\b"
    r"|\b(?P<maison>à la maison|chez (?:moi|nous))\b"
    r"|\ben (?P<casa>(?:mi |nuestra )?casa)\b(?!\s+de\b)"
    r"|(?<=[在从到离回])(?P<jia>(?:我|我们|咱们?)?家[里中]?)(?![人具庭乡电务长族])|(?P<wojia>我们?家[里中]?)"
    r"|(?<![大人国全一住])(?P<jiali>家里)"
)
WORK = re.compile(
    r"(?i)\b(?:at|from|near|around|of|to|close to|next to|outside|not far from)\s+"
    r"(?P<name>(?:my\s+)?work(?:place)?|(?:the|my|our)\s+office)\b"
    rf"(?!{_OTHER}|-)|\bhome (?:and|or) (?P<too>work)\b|\bin\s+(?P<office>(?:my|our)\s+office)\b"
    r"|\b(?P<arbeit>bei der arbeit|auf (?:der )?arbeit|im büro|in der firma)\b"
    r"|\b(?P<travail>au (?:travail|bureau|boulot))\b"
    r"|\b(?:beim|vom|zum|nahe dem) (?P<buero>büro)\b|\b(?:du|près du) (?P<bureau>bureau)\b"
    r"|\b(?:cerca|al lado|lejos) (?:del?|de) (?P<oficina>(?:la |mi )?(?:oficina|trabajo))\b"
    r"|\ben (?P<trabajo>el trabajo|(?:la|mi) oficina)\b"
    r"|\b(?:photos?|images?) (?:du|de mon) (?P<du_travail>travail|boulot)\b"
    r"|\b(?:fotos?|imágenes) (?:del|de mi) (?P<del_trabajo>trabajo)\b"
    r"|\b(?:fotos?|bilder) (?:von|aus) (?:der|meiner) (?P<der_arbeit>arbeit)\b"
    r"|(?<=[在从到离])(?P<gongsi>公司|办公室|单位)|(?P<shangban>上班)"
)
SAID: dict[str, re.Pattern[str]] = {"home": HOME, "work": WORK}
# Folded names under which a person may have stored those two.
NAMES: dict[str, frozenset[str]] = {
    "home": frozenset(
        ("home", "my home", "our home", "my house", "our house", "my place", "our place", "zuhause",
         "zu hause", "daheim", "maison", "a la maison", "chez moi", "chez nous", "casa", "mi casa",
         "家", "我家", "我们家", "家里")
    ),
    "work": frozenset(
        ("work", "my work", "office", "the office", "my office", "arbeit", "buro", "travail",
         "bureau", "mon bureau", "trabajo", "oficina", "mi oficina", "公司", "办公室", "单位")
    ),
}  # fmt: skip
