"""The Qwen-VL backbone: the agent's messages in, a thought and one tool call out.

Whatever answers a ChatRequest can stand behind it: a server, or an engine in the same process.
Owns the window check before each call and the second path for replies that no grammar held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from photocraft_local.errors import (
    MalformedCall,
    PictureUnknown,
    PromptTooLong,
    TooManyPictures,
)
from photocraft_local.serving.chat_model import Load, Message, Reply, ToolSchema
from photocraft_local.serving.native_calls import parse_native, split_thinking
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.completion import Chat, ChatRequest, Completion
from photocraft_local.serving.qwen.conversation import (
    Conversation,
    conversation,
    num_pictures,
)
from photocraft_local.serving.qwen.estimate import Estimator
from photocraft_local.serving.tokens import PromptCounter
from photocraft_local.serving.tool_calls import Form, Limits, call_schema, parse_constrained

LEAST_REPLY = 256  # tokens that must be left for a reply


class QwenModel:
    """A ``ChatModel``. Many may share one ``chat`` and one ``pictures``, one an episode.

    ``form`` JSON constrains each reply to a valid call; NATIVE leaves the model its own way to
    write one. With ``counter`` and ``window`` (tokens) the prompt is checked before it is sent;
    with ``max_pictures`` the oldest beyond the server's limit go, many at once.
    """

    def __init__(
        self,
        chat: Chat,
        pictures: PictureStore,
        *,
        name: str,
        form: Form = Form.JSON,
        limits: Limits | None = None,
        max_tokens: int = 2048,
        temperature: float = 0.0,
        seed: int | None = None,
        counter: PromptCounter | None = None,
        window: int = 0,
        max_pictures: int = 0,
    ) -> None:
        self._chat, self._pictures, self._name = chat, pictures, name
        self._form, self._limits = form, limits or Limits()
        self._max_tokens, self._temperature, self._seed = max_tokens, temperature, seed
        self._counter, self._window, self._max_pictures = counter, window, max_pictures
        self._told: Sequence[ToolSchema] = ()
        self._estimator = Estimator()
        self._last: _Measured | None = None
        self._most_tokens, self._seconds = 0, 0.0  # of a reply, as the question limits it

    @property
    def name(self) -> str:
        return self._name

    def limit(self, *, tokens: int, seconds: float) -> None:
        """``Limited``."""
        self._most_tokens, self._seconds = tokens, seconds

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """The next turn. Raises PromptTooLong before anything is sent, ServerLost, ModelError."""
        try:
            return self._completed(messages, tools)
        except TooManyPictures as refused:
            if refused.most < 1 or 0 < self._most_pictures() <= refused.most:
                raise
            self._pictures.most = refused.most
            return self._completed(messages, tools)
        except PromptTooLong as refused:  # the server knows its window better than whoever told it
            if refused.window and self._window:
                self._window = min(self._window, refused.window)
            raise

    def _completed(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        talk = self.conversation(messages, tools)
        request = self.request(talk, tools)
        known = self._pictures.known(talk.pictures)
        try:
            named = replace(request, messages=talk.naming(known))
            completion = self._chat.chat(named if known else request)
        except PictureUnknown:
            self._pictures.forget(known)
            known = set()
            completion = self._chat.chat(request)
        self._pictures.sent(talk.pictures)
        if self._counter is None:
            self._estimator.learn(talk, completion.usage.prompt)
        reply = self.reply(completion, tools)
        num = len(talk.pictures)
        usage = replace(reply.usage, pictures=num, pictures_sent=num - len(known))
        return replace(reply, usage=usage)

    def conversation(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> Conversation:
        """``messages`` as they are sent. The last turn's fewer tools leave the system text, and
        with it the cached prefix, as it was."""
        self._learn(tools)
        most = self._most_pictures()
        if self._last is None or not self._last.is_of(messages, self._told, most):
            talk = conversation(messages, self._told, self._form, self._pictures, most=most)
            self._last = _Measured(tuple(messages), self._told, most, talk)
        return self._last.talk

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load | None:
        """How full the window would be; the layout is kept for the ``complete`` that follows."""
        self._learn(tools)
        if not self._window:
            return None
        talk = self.conversation(messages, tools)
        return Load(
            prompt=self._size(talk),
            window=self._window,
            reply=min(self._max_tokens, max(LEAST_REPLY, self._window // 8)),
            pictures=sum(map(num_pictures, messages)),
            most_pictures=self._most_pictures(),
            exact=self._counter is not None,
        )

    def _learn(self, tools: Sequence[ToolSchema]) -> None:
        if len(tools) > len(self._told):
            self._told = tools

    def _most_pictures(self) -> int:
        """Of one prompt: as told, or fewer once the server has refused so many; 0 = any number."""
        limits = [limit for limit in (self._max_pictures, self._pictures.most) if limit]
        return min(limits, default=0)

    def request(self, talk: Conversation, tools: Sequence[ToolSchema]) -> ChatRequest:
        """One request with all pictures inside. Raises PromptTooLong."""
        constrained = self._form is Form.JSON and bool(tools)
        return ChatRequest(
            talk.messages,
            schema=call_schema(tools, self._limits) if constrained else None,
            max_tokens=min(self._room(talk), self._most_tokens or self._max_tokens),
            temperature=self._temperature,
            seed=self._seed,
            seconds=self._seconds,
        )

    def reply(self, completion: Completion, tools: Sequence[ToolSchema]) -> Reply:
        """What was said; a reply that was cut holds no call, however far it came."""
        text, usage = completion.text, completion.usage
        reasoning, rest = split_thinking(text, completion.reasoning)
        if completion.finish == "length":
            return Reply("" if rest.startswith("{") else rest or reasoning, None, usage)
        if self._form is Form.JSON:
            for said in (text, rest):  # as it is first: the marks may be words of the call
                try:
                    return Reply(*parse_constrained(said), usage)
                except MalformedCall:
                    pass  # a server that ignores the schema, or a model that went its own way
        thought, call = parse_native(
            text, tools, reasoning=completion.reasoning, calls=completion.calls
        )
        return Reply(thought, call, usage)

    def _room(self, talk: Conversation) -> int:
        """Tokens for the reply."""
        if not self._window:
            return self._max_tokens
        num_tokens = self._size(talk)
        room, least = self._window - num_tokens, min(LEAST_REPLY, self._max_tokens)
        if room < least and self._counter is not None:
            raise PromptTooLong(
                f"the prompt has {num_tokens} tokens, which leaves {max(0, room)} of the"
                f" {self._window} of the backbone's window for a reply",
                hint="serve the model with a longer window, or ask for fewer pictures",
            )
        # An estimate refuses nothing: the server will, if it has to.
        return min(self._max_tokens, max(room, least))

    def _size(self, talk: Conversation) -> int:
        """Tokens of the prompt; estimated where the tokenizer is not known."""
        if self._counter is None:
            return self._estimator.tokens(talk)
        sizes = {name: (one.width, one.height) for name, one in talk.pictures.items()}
        return self._counter.prompt(talk.messages, sizes)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A prompt that was laid out to be measured, and is the next one to be sent."""

    messages: tuple[Message, ...]
    told: Sequence[ToolSchema]
    most: int
    talk: Conversation

    def is_of(self, messages: Sequence[Message], told: Sequence[ToolSchema], most: int) -> bool:
        """The very same messages: they are never changed once they are made."""
        if len(messages) != len(self.messages) or told is not self.told or most != self.most:
            return False
        return all(one is other for one, other in zip(messages, self.messages, strict=True))
