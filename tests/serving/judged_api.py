"""A played judge for ``played_api``: how sure it is follows from how bright a photo is.

It answers as vLLM does, token ids and all, and counts what it was asked.
"""

from __future__ import annotations

import base64
import io
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image
from played_api import Handler, completion, fails, says

TOKENS = {"yes": 7, "Yes": 8, "no": 9, "No": 10}
GREY = 128  # the blank; a photo of this shade is taken for one
SCALE = 20.0  # shades to one of log-odds


class Judging:
    """A turn of ``played``. ``asked`` are the checks of single photos, ``compared`` those of sets.

    ``blank``: log-odds on the blank, by default those of a good judge; ``sure`` of a photo by its
    mean shade. ``forgets``: so many times it does not know a picture that goes by its name.
    """

    def __init__(self, **how: Any) -> None:
        self.blank: float = how.pop("blank", -6.0)
        self.sure: Callable[[float], float] = how.pop("sure", lambda shade: (shade - GREY) / SCALE)
        self.out: list[int] = how.pop("out", [])
        self.whole: str = how.pop("whole", "")
        self.refuses: Callable[[int], bool] = how.pop("refuses", lambda shade: False)
        self.mute: bool = how.pop("mute", False)
        self.forgets: int = how.pop("forgets", 0)
        self.lost_after: int = how.pop("lost_after", 10**9)
        self.most: int = how.pop("most", 10**9)  # pictures of one prompt
        assert not how
        self.asked: list[dict[str, Any]] = []
        self.compared: list[dict[str, Any]] = []
        self._urls: dict[str, str] = {}
        self._lock = threading.Lock()

    def takes(self, handler: Handler, body: dict[str, Any]) -> bool:
        """Whether it is a judge that is asked, not the model that drives the loop."""
        if handler.path in ("/tokenize", "/detokenize") or "logprobs" in body:
            return True
        return "The photos that were chosen" in str(body.get("messages"))

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        if handler.path == "/tokenize":
            return handler.send_json(200, {"tokens": [TOKENS[body["prompt"]]]})
        if len(_pictures(body)) > self.most:
            return fails(400, f"At most {self.most} image(s) may be provided")(handler, body)
        with self._lock:
            known = [part["uuid"] in self._urls for part in _named(body)]
            if not all(known):
                return fails(400, "item 0 but data is not provided.")(handler, body)
            if self.forgets and _named(body):
                self.forgets -= 1
                return fails(400, "Cache miss: data is not provided.")(handler, body)
            for part in _pictures(body):
                if part["image_url"]:
                    self._urls[part["uuid"]] = part["image_url"]["url"]
            single = "logprobs" in body
            (self.asked if single else self.compared).append(body)
            if len(self.asked) > self.lost_after:
                return handler.hang_up()
        if not single:
            out = self.whole or f'{{"out": {self.out}, "why": "as played"}}'
            return says(out)(handler, body)
        return self._judged(handler, body)

    def pictures(self, body: dict[str, Any]) -> list[str]:
        """URLs of a request's pictures."""
        return [self._urls[part["uuid"]] for part in _pictures(body)]

    def _judged(self, handler: Handler, body: dict[str, Any]) -> None:
        shade = _shade(self.pictures(body)[-1])
        if self.mute:
            return says("yes")(handler, body)
        if self.refuses(round(shade)):
            return fails(400, "this one is refused")(handler, body)
        odds = self.blank if round(shade) == GREY else self.sure(shade)
        scores = {TOKENS["yes"]: -1.0, TOKENS["no"]: -1.0 - odds, 8: -9999.0, 10: -9999.0}
        top = [
            {"token": f"token_id:{one}", "logprob": scores[one]}
            for one in body["logprob_token_ids"]
        ]
        reply = completion("x")
        reply["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        return handler.send_json(200, reply)


def judging(**how: Any) -> Judging:
    return Judging(**how)


def _pictures(body: dict[str, Any]) -> list[dict[str, Any]]:
    contents = [one["content"] for one in body["messages"] if not isinstance(one["content"], str)]
    return [part for parts in contents for part in parts if part["type"] == "image_url"]


def _named(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in _pictures(body) if part["image_url"] is None]


def _shade(url: str) -> float:
    with Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))) as image:
        return float(np.asarray(image.convert("L")).mean())
