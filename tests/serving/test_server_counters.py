"""What a server counts of its caches: read from vLLM's page of metrics, shown by the doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

from played_api import Meter, Turn, fails, played

from photocraft_local.app import doctor_server
from photocraft_local.app.findings import Finding
from photocraft_local.serving.vllm.counters import CacheCounters, cache_counters, counters_in
from photocraft_local.settings import Settings

PAGE = """\
# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="photocraft"} 12345.0
vllm:prefix_cache_queries_created{engine="0",model_name="photocraft"} 1.7645e+09
vllm:prefix_cache_hits_total{engine="0",model_name="photocraft"} 1.1e+04
vllm:prefix_cache_hits_total{engine="1",model_name="photocraft"} 1.0
vllm:external_prefix_cache_hits_total{engine="0",model_name="photocraft"} 7.0
vllm:mm_cache_queries_total{engine="0",model_name="photocraft"} 40.0
vllm:mm_cache_hits_total{engine="0",model_name="photocraft"} 36.0
"""


def test_the_page_is_read_and_engines_are_added() -> None:
    assert counters_in(PAGE) == CacheCounters(12345, 11001, 40, 36)


@pytest.mark.parametrize("page", ["", "<html>", "vllm:num_requests_running 1.0\n", '{"a": 1}'])
def test_a_page_without_them_has_none(page: str) -> None:
    assert counters_in(page) is None


def report(endpoint: object, tmp_path: Path) -> list[Finding]:
    settings = Settings(cache=tmp_path / "c", backbone_url=str(endpoint))
    return list(doctor_server.server(settings))


def test_the_doctor_shows_what_was_measured_and_counted(tmp_path: Path) -> None:
    with played(at=tmp_path / "s") as server:
        assert cache_counters(server.endpoint, 5) is None
        server.pages["/metrics"] = PAGE
        found = {finding.name: finding for finding in report(server.endpoint, tmp_path)}
        where = server.endpoint
    assert set(found) == {"model server", "its pictures", "its caches"}
    assert "32 × 32 pixels (measured), at most 1,024 tokens" in found["its pictures"].detail
    assert "11,001 of 12,345 prompt tokens were cached, 36 of 40" in found["its caches"].detail
    assert cache_counters(where, 5) is None  # gone


@pytest.mark.parametrize(
    ("meter", "state", "said"),
    [
        (Meter(usage=False), "warning", "states no token counts"),
        (fails(401, "Unauthorized"), "fault", "gave code 401"),
        (fails(500, "dead"), "fault", "gave code 500 for /v1/chat/completions: dead"),
    ],
)
def test_the_doctor_says_what_is_not_known_or_does_not_work(
    tmp_path: Path, meter: Turn, state: str, said: str
) -> None:
    with played(at=tmp_path / "s", meter=meter) as server:
        found = [one for one in report(server.endpoint, tmp_path) if one.state != "ok"]
    assert found[0].state == state
    assert said in found[0].detail
    assert found[0].hint
