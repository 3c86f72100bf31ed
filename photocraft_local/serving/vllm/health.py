"""Is a model server alive? It is asked for one token, since a port that answers proves little.

Uses no proxy and follows no redirect, so that nothing leaves this machine.
"""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from photocraft_local.errors import MissingExtraError, ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.qwen.completion import shown
from photocraft_local.serving.vllm.failures import message_of

if TYPE_CHECKING:
    import httpx

CHAT = "/v1/chat/completions"
_CONNECT_SECONDS = 5.0
_API = "is it the model server's port? It has to speak the OpenAI chat API, as vLLM does"
_HINTS = {
    401: "it wants a key: serve the model without one, on a socket or loopback",
    403: "it wants a key: serve the model without one, on a socket or loopback",
}


@dataclass(frozen=True, slots=True)
class Served:
    """The model by the name that requests use; ``window`` in tokens, 0 if it is not stated."""

    model: str
    window: int
    prompt: int = 0  # tokens of the tiny request, 0 if they are not stated


def open_client(endpoint: Endpoint, seconds: float) -> httpx.Client:
    """Raises MissingExtraError."""
    module = _httpx()
    uds = str(endpoint.socket) if endpoint.socket else None
    client: httpx.Client = module.Client(
        base_url=endpoint.url,
        transport=module.HTTPTransport(uds=uds, retries=0, trust_env=False),
        timeout=module.Timeout(seconds, connect=_CONNECT_SECONDS),
        headers=endpoint.headers(),
        trust_env=False,
        follow_redirects=False,
    )
    return client


def check(endpoint: Endpoint, seconds: float) -> Served:
    """One token from the model. Raises ModelError that says what answered instead."""
    if problem := obstacle(endpoint):
        raise _absent(endpoint, problem)
    with open_client(endpoint, seconds) as client:
        served = _served(_ask(client, endpoint, "GET", "/v1/models"), endpoint)
        said = _ask(client, endpoint, "POST", CHAT, tiny(served.model))
    if not isinstance(said, dict) or not said.get("choices"):
        raise _strange(endpoint, "a reply without choices")
    return replace(served, prompt=prompt_tokens(said))


def listens(endpoint: Endpoint) -> bool:
    """Its own health page answers; the model may still be busy with its first token."""
    if obstacle(endpoint):
        return False
    module = _httpx()
    try:
        with open_client(endpoint, _CONNECT_SECONDS) as client:
            return client.get("/health").status_code == 200
    except module.HTTPError:
        return False


def _httpx() -> ModuleType:
    try:
        import httpx
    except ModuleNotFoundError as exc:
        raise MissingExtraError("httpx", "gpu", "a served backbone") from exc
    return httpx


def obstacle(endpoint: Endpoint) -> str:
    """Why nothing can be connected to there; "" if something can.

    Asked first, since httpx leaves a socket open where it cannot connect.
    """
    host, _, port = endpoint.url.removeprefix("http://").rpartition(":")
    family = socket.AF_UNIX if endpoint.socket else socket.AF_INET
    if host.startswith("["):
        family = socket.AF_INET6
    where = str(endpoint.socket) if endpoint.socket else (host.strip("[]"), int(port))
    with socket.socket(family) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(where)
        except OSError as exc:
            return exc.strerror or "no answer in time"
    return ""


def tiny(model: str) -> dict[str, Any]:
    """The body of a request for one token, whose content takes more parts."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "."}]}]
    return {"model": model, "messages": messages, "max_tokens": 1, "temperature": 0}


def prompt_tokens(reply: Any) -> int:
    """As the reply states them, 0 if it does not."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    number = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return number if isinstance(number, int) and number > 0 else 0


def send(
    client: httpx.Client, endpoint: Endpoint, method: str, path: str, body: Any = None
) -> httpx.Response:
    """Whatever answers. Raises ModelError if nothing does."""
    module = _httpx()
    try:
        return client.request(method, path, json=body)
    except module.TimeoutException as exc:
        raise ModelError(
            f"the model server at {endpoint} does not answer in time",
            hint="it may be busy or hang; try again, or start it anew",
        ) from exc
    except module.ConnectError as exc:
        raise _absent(endpoint, str(exc)) from exc
    except module.HTTPError as exc:
        hint = "is it the model server's port? Its own log says more"
        raise _strange(endpoint, f"no HTTP reply: {shown(str(exc))}", hint) from exc


def _ask(client: httpx.Client, endpoint: Endpoint, method: str, path: str, body: Any = None) -> Any:
    reply = send(client, endpoint, method, path, body)
    if reply.status_code != 200:
        is_json = "json" in reply.headers.get("content-type", "")
        why = f": {shown(message_of(reply.content))}" if is_json and body else ""
        hint = "its own log says more" if body else _API
        hint = _HINTS.get(reply.status_code, hint)
        raise _strange(endpoint, f"code {reply.status_code} for {path}{why}", hint)
    try:
        return reply.json()
    except ValueError as exc:
        raise _strange(endpoint, f"no JSON for {path}") from exc


def _served(models: Any, endpoint: Endpoint) -> Served:
    try:
        first = models["data"][0]
        return Served(str(first["id"]), int(first.get("max_model_len") or 0))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as exc:
        raise _strange(endpoint, "no list of models") from exc


def _absent(endpoint: Endpoint, why: str) -> ModelError:
    path = endpoint.socket
    hint = "start it, or leave backbone_url out so that photocraft starts its own"
    if path and path.exists() and not path.is_socket():
        why, hint = "that is no socket", "give the path that the server was started with (--uds)"
    elif why == os.strerror(errno.EACCES):
        hint = "it is another user's: use a server of your own, or have its mode changed"
    return ModelError(f"no model server answers at {endpoint}: {why}", hint=hint)


def _strange(endpoint: Endpoint, what: str, hint: str = _API) -> ModelError:
    return ModelError(
        f"what listens at {endpoint} is no model server that works: it gave {what}", hint=hint
    )
