"""Is a model server alive? It is asked for one token, since a port that answers proves little.

Uses no proxy and follows no redirect, so that nothing leaves this machine.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from photocraft_local.errors import MissingExtraError, ModelError
from photocraft_local.serving.endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Served:
    """The model by the name that requests use; ``window`` in tokens, 0 if it is not stated."""

    model: str
    window: int


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
        said = _ask(client, endpoint, "POST", "/v1/chat/completions", _tiny(served.model))
    if not isinstance(said, dict) or not said.get("choices"):
        raise _strange(endpoint, "a reply without choices")
    return served


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


def _tiny(model: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": "."}]
    return {"model": model, "messages": messages, "max_tokens": 1, "temperature": 0}


def _ask(client: httpx.Client, endpoint: Endpoint, method: str, path: str, body: Any = None) -> Any:
    module = _httpx()
    try:
        reply = client.request(method, path, json=body)
    except module.TimeoutException as exc:
        raise ModelError(
            f"the model server at {endpoint} does not answer in time",
            hint="it may be busy or hang; try again, or start it anew",
        ) from exc
    except module.HTTPError as exc:
        raise _absent(endpoint, str(exc)) from exc
    if reply.status_code != 200:
        raise _strange(endpoint, f"code {reply.status_code} for {path}")
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
    return ModelError(
        f"no model server answers at {endpoint}: {why}",
        hint="start it, or leave backbone_url out so that photocraft starts its own",
    )


def _strange(endpoint: Endpoint, what: str) -> ModelError:
    return ModelError(
        f"what listens at {endpoint} is no model server that works: it gave {what}",
        hint="it has to speak the OpenAI chat API, as vLLM does; its own log says more",
    )
