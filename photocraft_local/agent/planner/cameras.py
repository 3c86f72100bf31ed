"""Which camera a question names: a maker or a series, in words that speak of taking pictures.

"taken with my Nikon D5000" and "iPhone photos" do; "a Nikon camera on a table" is a look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from photocraft_local.agent.planner.conditions import CameraCondition
from photocraft_local.agent.planner.draft import Draft
from photocraft_local.agent.planner.looks import phrase
from photocraft_local.agent.planner.words import CJK_NOT, MENTION_NOT, PHOTO

_NAMES = (
    "agfa|apple|ipad|iphone|asus|blackberry|canon|powershot|eos|casio|contax|dji|epson|fairphone"
    "|fujifilm|fuji|finepix|garmin|google|pixel|gopro|hasselblad|honor|htc|huawei|insta360|kodak"
    "|konica|kyocera|leica|lenovo|lg|mamiya|microsoft|minolta|motorola|moto|nikon|coolpix|nokia"
    "|lumia|nothing phone|olympus|oneplus|oppo|panasonic|lumix|pentax|phase one|polaroid|realme"
    "|reconyx|ricoh|rollei|samsung|galaxy|sanyo|sharp|sigma|sony|cyber-?shot|xperia|vivo|xiaomi"
    "|redmi|yashica|zte"
)
# After the name: series words and anything with a digit, e.g. "COOLPIX P6000", "14 Pro Max".
_MODEL = (
    r"(?: (?:coolpix|powershot|eos|lumix|cyber-?shot|galaxy|pixel|xperia|finepix|iphone|ipad"
    r"|legend|pro|max|plus|mini|ultra|zoom|mark|ii|iii|iv|se|xs|xr|x\b(?!-)"
    r"|[a-z]{0,5}(?:-[a-z]{0,5})?\d[a-z\d-]*))*"
)
# A model without its maker, e.g. "X-T4", "D750", "DSC-RX100M3"; no "A4", "4k", "june2021".
_BARE = r"(?=[\w-]{3})(?![a-z]+(?:19|20)\d\d\b)[a-z]{1,5}(?:-[a-z]{0,5})?\d[\w-]*"
# "Canon Beach", "Sharp Lake": a place of that name.
_NO_PLACE = r"(?! (?:city|beach|falls|park|river|lake|hills?|valley|island|street|road)\b)"
_ONE = rf"(?:(?:{_NAMES}){_MODEL}{_NO_PLACE})"
_CAMERA = rf"(?P<name>{_ONE})"
_ANY_CAMERA = rf"(?P<name>{_ONE}|{_BARE})"
_ANY_ONE = rf"(?:{_ONE}|{_BARE})"
_ITSELF = r"(?: (?:camera|phone|smartphone|kamera|handy|appareil|cámara))?"
_TAKEN = (
    r"(?:taken|took|shot|made|captured|photographed|snapped|aufgenommen|fotografiert|gemacht"
    r"|geschossen|geknipst|pris(?:es?)?|fait(?:es?|s)?|photographiée?s?|tom(?:ad[ao]s?|é|amos)"
    r"|hech[ao]s?|hice|hicimos|sac(?:ad[ao]s?|amos)|saqué|fotografi(?:ad[ao]s?|é|amos))"
)
_OWNED = (
    r"(?:(?:my|our|an?|the|meine[mr]|unsere[mr]|de[mr]|einem|einer|mon|ma|notre|l'|un|une|le|la"
    r"|mi|el|nuestra) ?)?(?:old |new |first |alten |vieux |vieille |vieja )?"
)
_WITH = r"(?:with|by|on|using|mit|vom|von|avec|con)"
_PATTERNS = [
    re.compile(rf"\b{_TAKEN} {_WITH} {_OWNED}{_ANY_CAMERA}{_ITSELF}\b", re.I),
    re.compile(rf"\b(?:mit|von|vom) {_OWNED}{_ANY_CAMERA}{_ITSELF}(?= {_TAKEN}\b)", re.I),
    re.compile(rf"\b(?:with|on|from|using|by) (?:my|our|the) {_OWNED}{_CAMERA}{_ITSELF}\b", re.I),
    re.compile(rf"(?<!of a )(?<!of an )(?<!of the )\b(?:my )?{_ANY_CAMERA} (?={PHOTO}\b)", re.I),
    re.compile(rf"\b{PHOTO} (?:from|with|by|on) {_OWNED}{_CAMERA}{_ITSELF}\b", re.I),
]
_CHINESE = {
    "佳能": "Canon", "尼康": "Nikon", "索尼": "Sony", "富士": "Fujifilm", "苹果": "Apple",
    "华为": "Huawei", "小米": "Xiaomi", "徕卡": "Leica", "松下": "Panasonic", "三星": "Samsung",
    "奥林巴斯": "Olympus", "大疆": "DJI", "谷歌": "Google", "宾得": "Pentax",
}  # fmt: skip
_PATTERNS.append(
    re.compile(
        rf"用(?:我的|了)?(?P<name>{'|'.join(_CHINESE)}|(?:{_NAMES}){_MODEL})"
        r" ?(?:相机|手机)?(?=拍|照|的|在|$)",
        re.I,
    )
)
_LONE = re.compile(rf"\b{_WITH} {_OWNED}{_CAMERA}{_ITSELF}\b", re.I)
_JOINT = r"(?:,? (?:and|or|nor|und|oder|noch|et|ou|ni|y|o) |, )"
_LEFT = re.compile(rf"\b{_ANY_CAMERA}{_JOINT}$", re.I)
_RIGHT = re.compile(rf"^{_JOINT}(?:{_WITH} )?{_OWNED}{_ANY_CAMERA}{_ITSELF}\b", re.I)
_WITH_MODEL = re.compile(rf"(?P<name>(?=.*\d)(?:{_ONE}|{_BARE}))", re.I)
# Makers whose name is no thing, no fruit and no mountain range beside: alone they are cameras.
_PLAIN = (
    "iphone|canon|powershot|eos|casio|contax|dji|epson|fairphone|fujifilm|fuji|finepix|gopro"
    "|hasselblad|huawei|insta360|kodak|konica|leica|mamiya|minolta|nikon|coolpix|nokia|olympus"
    "|oneplus|oppo|panasonic|lumix|pentax|ricoh|rollei|samsung|sony|cyber-?shot|xiaomi|yashica"
)
_PHONES = (
    "iPhone", "Samsung", "Pixel", "Huawei", "Xiaomi", "Redmi", "OnePlus", "Oppo", "Vivo",
    "Motorola", "Nokia", "Honor", "Realme", "Xperia", "Fairphone",
)  # fmt: skip
_PHONE = (
    r"(?:cell ?phone|mobile(?: phone)?|smart ?phone|phone|handy|telefon|téléphone|portable|móvil"
    r"|celular|teléfono)"
)
_OURS = r"(?:(?:my|our|the|meine[mr]|unsere[mr]|de[mr]|mon|ma|notre|l'|le|la|mi|el|nuestra) ?)"
_DENIED = (
    r"(?:but )?(?:not|no|without|except(?: for)?|excluding|other than|minus|never|nicht|ohne|außer"
    r"|sans|pas|sauf|sin|no|salvo|excepto)"
)
_HAND = rf"(?:{_WITH}|from)"
_HAD = r"(?:use[ds]?|have|had|bring|brought|carr(?:y|ied)|did|was|were)"
_NAME = rf"(?:(?:{_PLAIN}){_MODEL})"
_ALONE = re.compile(
    rf"\W*(?:(?:and|but|also|only|just|{PHOTO}) )*(?P<no>{_DENIED}\b ?)?(?:{_HAD} )?"
    rf"(?P<said>(?P<hand>{_HAND} )?(?:(?P<phone>{_OURS}{_PHONE})|{_OURS}?(?:old |new )?"
    rf"(?P<names>{_NAME}(?:{_JOINT}{_OURS}?{_NAME})*){_ITSELF}))"
    rf"(?: (?:take|took|shoot|shot|make|made|used?|{PHOTO}))?\W*",
    re.I,
)
_ONE_NAME = re.compile(_NAME, re.I)
_PART = re.compile(r"[^,;:.!?，。；：！？]+")
_TAKEN_PHONE = re.compile(rf"\b{_TAKEN} {_WITH} (?:{_OURS}|an? ){_PHONE}\b", re.I)
_UNNAMED = re.compile(
    rf"\b{_TAKEN} (?:with|by|on|using) (?:(?:my|our|an?|the) )?(?:\w+ )?"
    r"(?:camera|phone|smartphone|tablet|drone|webcam|dslr)\b",
    re.I,
)


def known_cameras(draft: Draft, names: Sequence[str]) -> list[tuple[int, int, CameraCondition]]:
    """ "taken with the Legend": a camera of the library by its whole name, or that without its
    maker, whatever words it is made of. Takes them out as ``placed_cameras``."""
    said = sorted({part for name in names for part in _parts(name)}, key=lambda part: -len(part))
    listed = "|".join(map(re.escape, said)) or "(?!)"
    more = rf"(?:{_JOINT}(?:{_WITH} )?{_OWNED}(?:{listed}|{_ANY_ONE})(?!\w))*"
    by = rf"(?:{_TAKEN}|take|shoot|snap)"
    pattern = re.compile(
        rf"\b(?:{by} (?={_WITH}\b)|(?={_WITH}\b[^,;:.!?]* {_TAKEN}\b))"
        rf"(?P<said>{_WITH} (?:(?P<no>neither |weder )|(?:either |entweder )?){_OWNED}"
        rf"(?P<names>(?:{listed}|{_ANY_ONE})(?!\w){more}))",
        re.I,
    )
    one = re.compile(rf"(?<!\w)(?:{listed}|{_ANY_ONE})(?!\w)", re.I)
    known = {name.casefold() for name in said}
    found = []
    for match in pattern.finditer(draft.text):
        at, end = match.span("said")
        names = tuple(one.findall(match["names"]))
        if not draft.is_free(at, end) or (
            match["no"] is None and known.isdisjoint(map(str.casefold, names))
        ):
            continue
        first = match.start() if draft.is_free(match.start(), at) else at  # "did I take | with"
        start = draft.claim_before(first, MENTION_NOT)
        words = draft.claim(first, end).strip()
        negated = start < first or match["no"] is not None
        condition = CameraCondition(f"not {words}" if start < first else words, names, negated)
        found.append((start, end, condition))
    return found


def _parts(name: str) -> list[str]:
    """The whole name, without its first word, and what else ends it and holds a digit."""
    words = name.split()
    ends = [" ".join(words[at:]) for at in range(len(words))]
    return [
        end
        for at, end in enumerate(ends)
        if at == 0 or (len(end) > 2 and (at == 1 or re.search(r"\d", end)))
    ]


def placed_cameras(draft: Draft) -> list[tuple[int, int, CameraCondition]]:
    """Takes out the camera words: begin, end, condition. A camera without a name ("my phone") is
    a condition that cannot be checked."""
    found = []
    for pattern in _PATTERNS:
        for match in draft.matches(pattern):
            if not draft.is_free(match.start(), match.end()):
                continue  # the second of "taken with my Nikon or Sony"
            draft.claim(match.start(), match.end())
            names, start, end = _listed(draft, match)
            denial = CJK_NOT if match.group().startswith("用") else MENTION_NOT
            start, first = draft.claim_before(start, denial), start
            negated = start < first
            said = re.sub(rf"^{PHOTO} ", "", draft.text[first:end].strip(), flags=re.I)
            condition = CameraCondition(f"not {said}" if negated else said, names, negated)
            found.append((start, end, condition))
    for match in draft.matches(_TAKEN_PHONE):
        first = match.start()
        start = draft.claim_before(first, MENTION_NOT)
        said = draft.claim(first, match.end())
        condition = CameraCondition(
            f"not {said}" if start < first else said, _PHONES, start < first
        )
        found.append((start, match.end(), condition))
    draft.block(_UNNAMED, "which camera that is, is not known; name its maker or model")
    return found


def _listed(draft: Draft, match: re.Match[str]) -> tuple[tuple[str, ...], int, int]:
    """All cameras of "Nikon or Sony photos", and where the list begins and ends."""
    first = match["name"]
    names, start, end = [_CHINESE.get(first, first)], match.start(), match.end()
    while left := draft.before(start, _LEFT):
        draft.claim(left.start(), start)
        names.insert(0, left["name"])
        start = left.start()
    while (right := _RIGHT.match(draft.text[end:])) and draft.is_free(end, end + right.end()):
        draft.claim(end, end + right.end())
        names.append(right["name"])
        end += right.end()
    return tuple(names), start, end


def bare_cameras(draft: Draft) -> list[tuple[int, int, CameraCondition]]:
    """ "Scotland without the Canon", "iphone, Pisa", "from my phone": a camera that is all of its
    stretch. What else stands there makes it something seen: "a man with the phone"."""
    found = []
    for run_start, run_end in draft.segments():
        for part in _PART.finditer(draft.text, run_start, run_end):
            match = _ALONE.fullmatch(part.group())
            if not match or (match["phone"] and not match["hand"]):
                continue  # "the phone" may be seen
            draft.claim(part.start(), part.end())
            names = tuple(_ONE_NAME.findall(match["names"] or "")) or _PHONES
            said = f"{match['no'] or ''}{match['said']}".strip()
            condition = CameraCondition(said, names, negated=match["no"] is not None)
            found.append((part.start(), part.end(), condition))
    return found


def claim_lone_camera(draft: Draft) -> list[CameraCondition]:
    """ "before 2010 with a Nikon": a camera in hand is a look only if somebody holds it. And
    "nikon d750": a model that is all of the look."""
    for pattern in (_LONE, _WITH_MODEL):
        for match in draft.matches(pattern):
            rest = [draft.text[start:end] for start, end in draft.segments()]
            if phrase(" ".join(rest)) == phrase(match.group()):
                draft.claim(match.start(), match.end())
                return [CameraCondition(match.group(), (match["name"],))]
    return []
