"""Which camera a question names: a maker or a series, in words that speak of taking pictures.

"taken with my Nikon D5000" and "iPhone photos" do; "a Nikon camera on a table" is a look.
"""

from __future__ import annotations

import re

from photocraft_local.agent.planner.conditions import CameraCondition
from photocraft_local.agent.planner.draft import Draft
from photocraft_local.agent.planner.looks import phrase
from photocraft_local.agent.planner.words import MENTION_NOT, PHOTO

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
    r"|legend|pro|max|plus|mini|ultra|zoom|mark|ii|iii|iv|se|xs|xr|x|[a-z]{0,4}-?\d[\w-]*))*"
)
_CAMERA = rf"(?P<name>(?:{_NAMES}){_MODEL})"
_ITSELF = r"(?: (?:camera|phone|smartphone|kamera|handy|appareil|cámara))?"
_TAKEN = (
    r"(?:taken|shot|made|captured|photographed|snapped|aufgenommen|fotografiert|prises?|tomadas?)"
)
_OWNED = r"(?:(?:my|our|an?|the|meinem|meiner|mon|mi) )?(?:old |new |first )?"
_PATTERNS = [
    re.compile(rf"\b{_TAKEN} (?:with|by|on|using|mit|avec|con) {_OWNED}{_CAMERA}{_ITSELF}\b", re.I),
    re.compile(rf"\b(?:with|on|from|using|by) (?:my|our) {_OWNED}{_CAMERA}{_ITSELF}\b", re.I),
    re.compile(rf"(?<!of a )(?<!of an )(?<!of the )\b(?:my )?{_CAMERA} (?={PHOTO}\b)", re.I),
    re.compile(rf"\b{PHOTO} (?:from|with|by|on) {_OWNED}{_CAMERA}{_ITSELF}\b", re.I),
]
_LONE = re.compile(rf"\b(?:with|by|on|using|mit|avec|con) {_OWNED}{_CAMERA}{_ITSELF}\b", re.I)
_UNNAMED = re.compile(
    rf"\b{_TAKEN} (?:with|by|on|using) (?:(?:my|our|an?|the) )?(?:\w+ )?"
    r"(?:camera|phone|smartphone|tablet|drone|webcam|dslr)\b",
    re.I,
)


def claim_cameras(draft: Draft) -> list[CameraCondition]:
    """Takes out the camera words. A camera without a name ("my phone") is a condition that
    cannot be checked."""
    found = []
    for pattern in _PATTERNS:
        for match in draft.matches(pattern):
            negated = draft.claim_before(match.start(), MENTION_NOT) < match.start()
            draft.claim(match.start(), match.end())
            said = re.sub(rf"^{PHOTO} ", "", match.group().strip(), flags=re.I)
            found.append(
                CameraCondition(f"not {said}" if negated else said, match["name"], negated)
            )
    draft.block(_UNNAMED, "which camera that is, is not known; name its maker or model")
    return found


def claim_lone_camera(draft: Draft) -> list[CameraCondition]:
    """ "before 2010 with a Nikon": a camera in hand is a look only if somebody holds it."""
    for match in draft.matches(_LONE):
        rest = [draft.text[start:end] for start, end in draft.segments()]
        if phrase(" ".join(rest)) == phrase(match.group()):
            draft.claim(match.start(), match.end())
            return [CameraCondition(match.group(), match["name"])]
    return []
