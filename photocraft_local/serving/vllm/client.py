"""Chat with a server of vLLM's OpenAI-compatible API, over a Unix socket or loopback.

An async core, and a sync face for the many episodes that share it: each waits in its own thread,
the server batches them. A chat completion changes nothing, so a request that got no whole reply
(no connection, a cut one, a 5xx, half a JSON) may go out again; one that ran out of time does
not. Starts no server and opens no connection of its own accord.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from photocraft_local.errors import MissingExtraError, ModelError, ServerLost
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.qwen.completion import (
    ChatRequest,
    Completion,
    completion_of,
    given_up,
)
from photocraft_local.serving.vllm.choices import CHAT as _CHAT
from photocraft_local.serving.vllm.choices import Chooser
from photocraft_local.serving.vllm.failures import Again, late, lost, reply_json

if TYPE_CHECKING:
    import httpx

_CONNECT_SECONDS = 5.0
_PAUSE_SECONDS = 0.2  # before the second try; doubled before each further one
_LOOK_SECONDS = 1.0  # between two looks at the server while a reply is waited for


class ChatClient:
    """``seconds`` is the limit of one request, all of it; ``tries`` counts the first one too.

    ``on_lost`` is called before a request goes out after the connection or the server failed, or
    after one ran out of time: whoever manages the server starts it again there, and may give a new
    token. Each waiting episode calls it, in threads at once. ``thinks``: the server was started
    with a parser of reasoning; half of a reply that a schema holds is kept free for that part.
    ``lives``: whether the server is there, asked while a reply is waited for; one that goes down
    after its engine keeps connections open for as long as its clients wait.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        seconds: float = 300.0,
        tries: int = 3,
        on_lost: Callable[[], Endpoint | None] | None = None,
        thinks: bool = False,
        lives: Callable[[], bool] | None = None,
    ) -> None:
        self.endpoint, self._model = endpoint, model
        self._seconds, self._tries, self._on_lost = seconds, max(1, tries), on_lost
        self._thinks, self._lives = thinks, lives or (lambda: True)
        self._is_doubted = False  # the server let a request run out of time
        self._lock = threading.Lock()
        self._waiting: set[concurrent.futures.Future[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._http: httpx.AsyncClient | None = None
        self._chooser = Chooser(self._post, model)

    def chat(self, request: ChatRequest) -> Completion:
        """Waits for ``achat``, from any number of threads at once. Ctrl-C ends the request."""
        completion: Completion = self._wait(self._chat(request))
        return completion

    async def achat(self, request: ChatRequest) -> Completion:
        """The reply to one request; may be awaited in any event loop.

        Raises PromptTooLong, PictureUnknown, ServerLost (no connection, after all tries),
        ReplyLate, or ModelError for whatever else the server did.
        """
        return await asyncio.wrap_future(self._started(self._chat(request)))

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        """``ManyAtOnce``: ``at_once`` of them are on their way at any time. Ctrl-C ends all."""
        replies: list[Completion | ModelError] = self._wait(self._chat_all(requests, at_once))
        return replies

    def models(self) -> list[str]:
        """Names under which the server serves. Raises as ``chat``; nothing is tried twice."""
        reply = self._wait(self._tried("GET", "/v1/models", tries=1))
        entries = reply.get("data") if isinstance(reply, dict) else None
        return [str(entry.get("id", "")) for entry in entries or () if isinstance(entry, dict)]

    def cancel(self) -> None:
        """Ends every request that a thread waits for, with ModelError there."""
        for future in list(self._waiting):
            future.cancel()

    def close(self) -> None:
        """Ends the connections, what still waits for a reply, with ModelError there, and the
        client's thread; the next request opens them anew."""
        with self._lock:
            loop, http, self._loop, self._http = self._loop, self._http, None, None
        if loop is None:
            return
        if http is not None:
            with suppress(TimeoutError):  # what does not close in time is cancelled by the thread
                asyncio.run_coroutine_threadsafe(http.aclose(), loop).result(_CONNECT_SECONDS)
        loop.call_soon_threadsafe(loop.stop)

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def _chat(self, request: ChatRequest) -> Completion:
        if not request.seconds:
            return await self._completed(request)
        try:
            async with asyncio.timeout(request.seconds):
                return await self._completed(request)
        except TimeoutError as exc:  # ends the request; the server is not at fault
            raise given_up(request) from exc

    async def _completed(self, request: ChatRequest) -> Completion:
        if request.choices:
            return await self._chooser.chosen(request)
        body = request.to_json(self._model)
        if self._thinks and request.schema is not None:
            body.setdefault("thinking_token_budget", request.max_tokens // 2)
        return completion_of(await self._post(_CHAT, body))

    async def _chat_all(
        self, requests: Sequence[ChatRequest], at_once: int
    ) -> list[Completion | ModelError]:
        room = asyncio.Semaphore(at_once)

        async def one(request: ChatRequest) -> Completion | ModelError:
            async with room:
                try:
                    return await self._chat(request)
                except ServerLost:
                    raise
                except ModelError as exc:
                    return exc

        tasks = [asyncio.ensure_future(one(request)) for request in requests]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._tried("POST", path, json.dumps(body).encode(), tries=self._tries)

    async def _tried(self, method: str, path: str, body: bytes | None = None, *, tries: int) -> Any:
        """The parsed JSON of a request that may go out ``tries`` times."""
        pause = _PAUSE_SECONDS
        if self._is_doubted:
            self._is_doubted = False
            await self._recovered()
        while True:
            try:
                return await self._answered(method, path, body)
            except Again as problem:
                tries -= 1
                if tries < 1:
                    raise problem.error from problem
                await asyncio.sleep(pause)
                if problem.broken:
                    await self._recovered()
            pause *= 2

    async def _recovered(self) -> None:
        new = await asyncio.to_thread(self._on_lost) if self._on_lost else None
        self.endpoint = new or self.endpoint

    async def _answered(self, method: str, path: str, body: bytes | None) -> Any:
        """The parsed JSON of one exchange. Raises ModelError, or Again around one."""
        import httpx

        http = self._client()
        headers = self.endpoint.headers() | ({"Content-Type": "application/json"} if body else {})
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self._watched(
                    http.request(method, path, content=body, headers=headers)
                )
        except (TimeoutError, httpx.TimeoutException) as exc:
            self._is_doubted = True
            raise late(exc, str(self.endpoint), self._seconds) from exc
        except (httpx.ConnectError, httpx.ReadError, httpx.WriteError) as exc:
            raise Again(lost(exc, str(self.endpoint))) from exc
        except httpx.RemoteProtocolError as exc:  # went away before or amid the reply
            raise Again(lost(exc, str(self.endpoint))) from exc
        except httpx.HTTPError as exc:
            raise ModelError(
                f"the backbone at {self.endpoint!s} sent what is no HTTP: {exc!r}",
                hint="check that the address is the server's",
            ) from exc
        return reply_json(reply.status_code, reply.content, str(self.endpoint))

    async def _watched(self, exchange: Coroutine[Any, Any, httpx.Response]) -> httpx.Response:
        import httpx

        asked = asyncio.ensure_future(exchange)
        try:
            while not (await asyncio.wait({asked}, timeout=_LOOK_SECONDS))[0]:
                if not self._lives():
                    raise httpx.ReadError("the server went down while it was asked")
            return await asked
        finally:
            asked.cancel()

    def _client(self) -> httpx.AsyncClient:
        """The one HTTP client, made and used in the loop's thread only."""
        if self._http is None:
            import httpx

            socket = self.endpoint.socket
            self._http = httpx.AsyncClient(
                transport=httpx.AsyncHTTPTransport(
                    uds=str(socket) if socket else None,
                    trust_env=False,
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=16),
                ),
                base_url=self.endpoint.url,
                headers=self.endpoint.headers(),
                timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
                trust_env=False,
            )
        return self._http

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        future = self._started(work)
        self._waiting.add(future)
        try:
            return future.result()
        except concurrent.futures.CancelledError as exc:
            raise ModelError("the request was cancelled", hint="ask again") from exc
        except BaseException:
            future.cancel()
            raise
        finally:
            self._waiting.discard(future)

    def _started(self, work: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        """Runs the coroutine in the client's own loop, whose thread starts with the first."""
        try:
            _require_httpx()
        except MissingExtraError:
            work.close()
            raise
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run, args=(self._loop,), name="backbone client", daemon=True
                ).start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)


def _require_httpx() -> None:
    try:
        import httpx  # noqa: F401
    except ImportError as exc:
        raise MissingExtraError("httpx", "cpu", "a served backbone") from exc


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Until it is stopped. What is under way then ends, for whoever waits for it, and closes its
    connections."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left))
    finally:
        loop.close()
