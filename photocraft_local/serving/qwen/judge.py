"""A Qwen-VL model as judge of photos: yes or no for each by token probability, then the whole set.

One short prompt a photo, many on their way at once, all over one prefix that the engine computes
once. Knows pictures and conditions; neither photos' files nor what follows from a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from photocraft_local.errors import (
    ModelError,
    PhotoError,
    PictureUnknown,
    PromptTooLong,
    TooManyPictures,
)
from photocraft_local.records import Usage
from photocraft_local.serving.chat_model import Message
from photocraft_local.serving.judging import ANY, Condition, Left, Subject, Verdicts
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion, chat_all
from photocraft_local.serving.qwen.conversation import Conversation, conversation
from photocraft_local.serving.qwen.judge_prompt import Prefix, blank_url, photo_url, prefix
from photocraft_local.serving.qwen.judge_purse import Purse
from photocraft_local.serving.qwen.judge_set import Comparison
from photocraft_local.serving.qwen.odds import CHOICES, lean, log_odds, probability
from photocraft_local.serving.tool_calls import Form

BATCH = 48  # photos whose pixels are held at a time
AT_ONCE = 16  # requests on their way; the server computes as many together as it can
MOST_ANCHORS = 8
_MOST_PICTURES = 8  # of one prompt, where the server's limit is not known
_LEAST_LEFT = 8  # tokens of the window beyond a photo's prompt


@dataclass(slots=True)
class _Run:
    """One check under way."""

    shared: Prefix
    together: Comparison
    purse: Purse
    odds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    usages: list[Usage] = field(default_factory=list)
    is_over: bool = False  # what is left pays for no further photo

    def why_not_on(self) -> str:
        """Why the photos of the next batch are not looked at; empty while they are."""
        if self.is_over:
            return self.purse.why
        return "" if self.odds else "not looked at, since none before it could be judged"


class Judge:
    """For one episode; what it has judged once it knows. ``told`` hears how far a check is."""

    def __init__(self, brain: Brain, told: Callable[[str], None] = lambda stage: None) -> None:
        self._brain, self._told = brain, told
        self._known: dict[tuple[Prefix, str], float] = {}

    @property
    def most_anchors(self) -> int:
        """Reference pictures that a prompt takes beside the photo and the set's sheets."""
        return max(0, min(MOST_ANCHORS, self._most_pictures - 2))

    def judge(
        self,
        question: str,
        conditions: Sequence[Condition],
        anchors: Sequence[Subject],
        photos: Sequence[Subject],
        *,
        threshold: float = 0.5,
        left: Left = ANY,
    ) -> Verdicts:
        """Each photo of ``photos`` against the question and all conditions, then the set of those
        that reach ``threshold``, as far as what is ``left`` pays for; the others have failed.
        ``anchors`` beyond ``most_anchors`` are not shown.

        Raises ServerLost; PromptTooLong if the conditions alone fill the window; ModelError if
        the backbone cannot tell probabilities.
        """
        if not photos:
            return Verdicts()
        try:
            return self._judged(question, conditions, anchors, photos, threshold, left)
        except TooManyPictures as refused:  # a server's own limit shows when it is passed
            if not 1 < refused.most < self._most_pictures:
                raise
            self._brain.pictures.most = refused.most
            return self._judged(question, conditions, anchors, photos, threshold, left)

    def _judged(
        self,
        question: str,
        conditions: Sequence[Condition],
        anchors: Sequence[Subject],
        photos: Sequence[Subject],
        threshold: float,
        left: Left,
    ) -> Verdicts:
        references, failed = self._references(anchors)
        shared = prefix(question, conditions, references)
        purse = Purse(self._brain, left)
        together = Comparison(self._brain, shared, self._most_pictures, purse)
        run = _Run(shared, together, purse, failed=failed)
        self._check_room(run.shared)
        bias = lean(self._blank(run), conditions)
        self._told(f"looking at each of {len(photos)} photos again")
        for at in range(0, len(photos), BATCH):
            self._judge_batch(run, photos[at : at + BATCH])
            if at + BATCH < len(photos):
                self._told(f"looked at {at + BATCH} of {len(photos)} photos again")
            if why := run.why_not_on():
                run.failed |= {photo.uid: why for photo in photos[at + BATCH :]}
                break
        told = {photo.uid: run.odds[photo.uid] for photo in photos if photo.uid in run.odds}
        probabilities = {uid: probability(odds - bias) for uid, odds in told.items()}
        passing = [uid for uid, value in probabilities.items() if value >= threshold]
        whole = run.together.checked(passing, self._told)
        usage = sum([*run.usages, *run.together.usages], Usage())
        return Verdicts(probabilities, run.failed, round(bias, 3), whole, usage)

    def _references(self, anchors: Sequence[Subject]) -> tuple[list[str], dict[str, str]]:
        urls: list[str] = []
        failed: dict[str, str] = {}
        for anchor in anchors[: self.most_anchors]:
            try:
                urls.append(photo_url(anchor.load(), self._brain.pictures.rule))
            except PhotoError as exc:
                failed[anchor.uid] = exc.message
        return urls, failed

    def _check_room(self, shared: Prefix) -> None:
        """Before anything is sent, where tokens can be counted."""
        counter, window = self._brain.counter, self._brain.window
        if counter is None or not window:
            return
        talk = self._talk(shared.one(blank_url(self._brain.pictures.rule), thinking=self._thinking))
        sizes = {name: (one.width, one.height) for name, one in talk.pictures.items()}
        num_tokens = counter.prompt(talk.messages, sizes)
        if num_tokens + _LEAST_LEFT > window:
            raise PromptTooLong(
                f"conditions and reference pictures take {num_tokens} tokens of the backbone's"
                f" window of {window}",
                hint="give fewer anchors, or shorter conditions",
            )

    def _blank(self, run: _Run) -> float:
        """Log-odds on a picture in which nothing is seen; its prompt fills the cache for all."""
        url = blank_url(self._brain.pictures.rule)
        (odds,) = self._odds(run, [url])
        if isinstance(odds, ModelError):
            raise odds
        return odds

    def _judge_batch(self, run: _Run, photos: Sequence[Subject]) -> None:
        urls: dict[str, str] = {}
        for photo in photos:
            try:
                pixels = photo.load()
            except PhotoError as exc:
                run.failed[photo.uid] = exc.message
                continue
            urls[photo.uid] = photo_url(pixels, self._brain.pictures.rule)
            run.together.keep(photo.uid, pixels)
        for uid, odds in zip(urls, self._odds(run, list(urls.values())), strict=True):
            if isinstance(odds, ModelError):
                run.failed[uid] = odds.message
            else:
                run.odds[uid] = odds

    def _odds(self, run: _Run, urls: Sequence[str]) -> list[float | ModelError]:
        talks = [self._talk(run.shared.one(url, thinking=self._thinking)) for url in urls]
        keys = [(run.shared, list(talk.pictures)[-1]) for talk in talks]
        new = {key: talk for key, talk in zip(keys, talks, strict=True) if key not in self._known}
        found: dict[tuple[Prefix, str], float | ModelError] = {}
        pending = list(new.items())
        while pending:
            num = AT_ONCE if run.purse.is_limited else len(pending)
            part = pending[: run.purse.pays_for([talk for _, talk in pending[:num]])]
            if not part:
                run.is_over = True
                found |= {key: ModelError(run.purse.why) for key, _ in pending}
                break
            replies = self._asked(run, [talk for _, talk in part])
            for (key, _), reply in zip(part, replies, strict=True):
                found[key] = reply if isinstance(reply, ModelError) else _odds_of(reply)
            pending = pending[len(part) :]
        self._known |= {key: odds for key, odds in found.items() if isinstance(odds, float)}
        return [found[key] if key in found else self._known[key] for key in keys]

    def _asked(self, run: _Run, talks: Sequence[Conversation]) -> list[Completion | ModelError]:
        """Yes or no to each; pictures that the server holds go by their name."""
        store = self._brain.pictures
        known = store.known({name for talk in talks for name in talk.pictures})
        seconds = run.purse.seconds
        replies = self._sent([talk.naming(known) for talk in talks], seconds)
        lost = [at for at, reply in enumerate(replies) if isinstance(reply, PictureUnknown)]
        if lost:
            store.forget(known)
            again = self._sent([talks[at].messages for at in lost], seconds)
            for at, reply in zip(lost, again, strict=True):
                replies[at] = reply
        run.purse.paid([reply.usage for reply in replies if isinstance(reply, Completion)])
        for at, (talk, reply) in enumerate(zip(talks, replies, strict=True)):
            if isinstance(reply, Completion):
                store.sent(talk.pictures)
                named = 0 if at in lost else len(known & set(talk.pictures))
                num = len(talk.pictures)
                run.usages.append(replace(reply.usage, pictures=num, pictures_sent=num - named))
        return replies

    def _sent(
        self, prompts: Sequence[list[Message]], seconds: float
    ) -> list[Completion | ModelError]:
        once = ChatRequest([], max_tokens=1, choices=CHOICES, seconds=seconds)
        requests = [replace(once, messages=prompt) for prompt in prompts]
        return chat_all(self._brain.chat, requests, at_once=AT_ONCE)

    def _talk(self, messages: Sequence[Message]) -> Conversation:
        return conversation(messages, (), Form.JSON, self._brain.pictures)

    @property
    def _thinking(self) -> bool:
        return self._brain.thinking

    @property
    def _most_pictures(self) -> int:
        limits = [limit for limit in (self._brain.max_pictures, self._brain.pictures.most) if limit]
        return min(limits, default=_MOST_PICTURES)


def _odds_of(reply: Completion) -> float | ModelError:
    try:
        return log_odds(reply.logprobs)
    except ModelError as exc:
        return exc
