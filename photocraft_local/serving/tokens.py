"""What a prompt costs a Qwen-VL model, in tokens: pictures by the family's rule, text by its own
tokenizer.

Both are read from the weights folder. Counts what the engine would count; asks no engine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from photocraft_local.errors import MissingExtraError, ModelError
from photocraft_local.imaging.geometry import MAX_ASPECT, Fit, fit_inside, smart_resize
from photocraft_local.serving.chat_model import Message

_MARKS = "<|vision_start|><|vision_end|>"  # around each picture
PICTURE_MARKS = 2
_MOST_KNOWN = 8192  # counted pieces
# The end of the published templates of thinking variants, or a template that both share.
_OPENS_THINKING = re.compile(r"assistant\\n<think>\\n'\s*}}|set thinking = true")
_HINT = "name the folder of a Qwen-VL model, as weights.md describes it"


@dataclass(frozen=True, slots=True)
class PictureRule:
    """Which sizes a family takes. One token stands for ``factor`` × ``factor`` pixels."""

    factor: int  # 28 for Qwen2.5-VL, 32 for Qwen3-VL
    min_pixels: int
    max_pixels: int

    def __post_init__(self) -> None:
        token = self.factor**2
        if self.factor < 1 or not token <= self.min_pixels <= self.max_pixels // 4:
            raise ModelError(
                f"picture limits of {self.min_pixels} to {self.max_pixels} pixels leave no room "
                f"for pictures of {self.factor}-pixel tokens",
                hint="the upper limit must be at least 4 times the lower one",
            )

    @classmethod
    def of_folder(cls, folder: Path) -> PictureRule:
        """The rule of a weights folder. Raises ModelError for a file that does not state it."""
        path = folder / "preprocessor_config.json"
        config = _read_json(path)
        size = config.get("size") or {}
        try:
            return cls(
                factor=int(config["patch_size"]) * int(config.get("merge_size", 2)),
                min_pixels=int(config.get("min_pixels") or size["shortest_edge"]),
                max_pixels=int(config.get("max_pixels") or size["longest_edge"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            raise ModelError(f"{path} states no picture sizes: {exc!r}", hint=_HINT) from exc

    def at_most(self, tokens: int) -> PictureRule:
        """The same rule with no picture above ``tokens``, as far as the family allows."""
        most = max(tokens * self.factor**2, 4 * self.min_pixels)
        return replace(self, max_pixels=min(self.max_pixels, most))

    def fit(self, width: int, height: int) -> Fit:
        """How a picture of that size is shown, so that the server takes it as it is.

        Whole multiples of ``factor`` within the limits: the family's own resizing leaves such a
        picture alone. One that is longer than 200:1 stands on grey.
        """
        canvas_height, canvas_width = smart_resize(
            height, width, self.factor, self.min_pixels, self.max_pixels
        )
        long_side, short_side = max(canvas_width, canvas_height), min(canvas_width, canvas_height)
        # A side of one token may not shrink: the other one gives way, to 200:1 and the limit.
        room = self.max_pixels // short_side // self.factor * self.factor
        long_side = min(long_side, MAX_ASPECT * short_side, room)
        if canvas_width >= canvas_height:
            canvas_width, canvas_height = long_side, short_side
        else:
            canvas_width, canvas_height = short_side, long_side
        if max(width, height) <= MAX_ASPECT * min(width, height):
            return Fit(canvas_width, canvas_height, canvas_width, canvas_height)
        shown_width, shown_height = fit_inside(width, height, long_side, enlarge=True)
        return Fit(
            min(shown_width, canvas_width),
            min(shown_height, canvas_height),
            canvas_width,
            canvas_height,
        )

    def tokens(self, width: int, height: int) -> int:
        """Tokens of the picture itself, without the two marks around it."""
        fit = self.fit(width, height)
        return fit.canvas_width * fit.canvas_height // self.factor**2


class PromptCounter:
    """Counts whole prompts with the model's own tokenizer and picture rule.

    The families' chat templates add the same marks to each message; ``thinking`` variants open
    their reasoning at the end.
    """

    def __init__(self, folder: Path, rule: PictureRule | None = None) -> None:
        """Raises MissingExtraError without ``tokenizers``, ModelError for an unfit folder."""
        try:
            from tokenizers import Tokenizer
        except ImportError as exc:
            raise MissingExtraError("tokenizers", "cpu", "counting tokens") from exc
        path = folder / "tokenizer.json"
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as exc:  # the library raises nothing narrower
            raise ModelError(f"{path} is no tokenizer: {exc}", hint=_HINT) from exc
        self.thinking = opens_thinking(folder)
        self.rule = rule or PictureRule.of_folder(folder)
        self._known: dict[bytes, int] = {}

    def text(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def prompt(self, messages: Sequence[Message], sizes: Mapping[str, tuple[int, int]]) -> int:
        """Tokens of the messages and the opening of the reply.

        Contents are strings or parts; ``sizes`` has (width, height) of each picture by uuid. A
        message is counted once: its marks are tokens of their own, so that counts add up.
        """
        opening = "<|im_start|>assistant\n" + "<think>\n" * self.thinking
        pictures = [sizes[part["uuid"]] for one in messages for part in _pictures(one)]
        pieces = [f"<|im_start|>{one['role']}\n{_words(one)}<|im_end|>\n" for one in messages]
        return sum(map(self._counted, [*pieces, opening])) + sum(
            self.rule.tokens(width, height) for width, height in pictures
        )

    def _counted(self, piece: str) -> int:
        key = hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = self.text(piece)
        return known


def opens_thinking(folder: Path) -> bool:
    """A thinking variant: its template begins each reply inside ``<think>``. Raises ModelError
    for a folder without a template."""
    return bool(_OPENS_THINKING.search(chat_template(folder)))


def _words(message: Message) -> str:
    """The message's text; where a picture stands, the two marks around it."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] if part["type"] == "text" else _MARKS for part in content)


def _pictures(message: Message) -> list[dict[str, Any]]:
    content = message["content"]
    return [] if isinstance(content, str) else [p for p in content if p["type"] == "image_url"]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(_text_of(path))
    except (ValueError, RecursionError) as exc:
        raise ModelError(f"{path} is no JSON: {exc}", hint="copy it again") from exc
    return value if isinstance(value, dict) else {}


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as exc:
        raise ModelError(f"{path} cannot be read: {exc}", hint=_HINT) from exc


def chat_template(folder: Path) -> str:
    """The chat template's text, in every layout in which the families publish it.

    Raises ModelError if there is none."""
    plain = folder / "chat_template.jinja"
    if plain.is_file():
        return _text_of(plain)
    for name in ("chat_template.json", "tokenizer_config.json"):
        if (folder / name).is_file():
            template = _read_json(folder / name).get("chat_template")
            if isinstance(template, str):
                return template
    raise ModelError(
        f"{folder} has no chat template (chat_template.jinja or chat_template.json)",
        hint="copy that file too; weights.md lists every file",
    )
