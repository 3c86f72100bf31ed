"""What vLLM counts of its caches since it started, read from its page of metrics.

Tokens of prompts that did not have to be computed again, and pictures that did not have to be
prepared again. Asks for nothing else; a server without that page has no counters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import health

_LINE = re.compile(r"^vllm:(\w+_cache_(?:queries|hits))(?:_total)?(?:\{[^}]*\})? ([\d.e+]+)$", re.M)


@dataclass(frozen=True, slots=True)
class CacheCounters:
    """Tokens of prompts and how many of them were cached; pictures, likewise."""

    tokens: int
    cached_tokens: int
    pictures: int
    cached_pictures: int


def cache_counters(endpoint: Endpoint, seconds: float) -> CacheCounters | None:
    """None where the server keeps none, or does not answer."""
    if health.obstacle(endpoint):
        return None
    try:
        with health.open_client(endpoint, seconds) as client:
            reply = health.send(client, endpoint, "GET", "/metrics")
    except ModelError:
        return None
    return counters_in(reply.text) if reply.status_code == 200 else None


def counters_in(page: str) -> CacheCounters | None:
    """Sums over the engines of a server."""
    sums: dict[str, float] = {}
    for name, number in _LINE.findall(page):
        sums[name] = sums.get(name, 0.0) + float(number)
    if "prefix_cache_queries" not in sums:
        return None
    names = ("prefix_cache_queries", "prefix_cache_hits", "mm_cache_queries", "mm_cache_hits")
    return CacheCounters(*(int(sums.get(name, 0)) for name in names))
