"""``photocraft places``: naming, listing, removing, and the names at work in filters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from photocraft_local.cli.main import main

Photocraft = Any  # conftest.py's Run


class Done(NamedTuple):
    """A finished command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> str:
        lines = self.err.splitlines()
        assert [line.split(": ")[0] for line in lines] == ["error", "hint"], self.err
        return self.err


Run = Callable[..., Done]
AREZZO = "43.4674,11.8851"  # where photos of the real album were taken


@pytest.fixture(scope="module")
def library(photocraft: Photocraft, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("named") / "library"
    assert photocraft("index", shared / "data" / "exif", "--library", path).code == 0
    return path


@pytest.fixture
def run(
    library: Path,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """The command in this process, which costs a tenth of one of its own."""
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", "null")

    def run(*words: str) -> Done:
        code = main([*words, "--library", str(library)])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


def test_a_place_is_named_listed_used_and_removed(run: Run) -> None:
    empty = run("places", "list")
    assert (empty.code, empty.out) == (0, "")
    assert "photocraft places add" in empty.err
    added = run("places", "add", "grandma's", "--at", AREZZO, "--radius", "1", "--json").json()
    assert added == {
        "name": "grandma's", "lat": 43.4674, "lon": 11.8851, "radius_km": 1.0,
        "photos": added["photos"],
    }  # fmt: skip
    assert added["photos"] > 0
    assert run("places", "list", "--json").json_lines() == [added]
    assert run("places", "list").out == (
        f"grandma's  43.46740,11.88510  1 km  {added['photos']} photos\n"
    )
    found = run("search", "--in", "grandma's", "--json").json()
    assert found["matches"] == added["photos"]
    assert "radius 1 km" in found["filter"]
    assert run("search", "--where", 'near("GRANDMAS", 1)', "--json").json() == found | {
        "filter": run("search", "--where", 'near("GRANDMAS", 1)', "--json").json()["filter"]
    }
    assert run("places", "remove", "Grandma’s", "--json").json() == {"removed": "grandma's"}
    assert run("places", "list").out == ""
    assert run("search", "--in", "grandma's").code == 2


def test_a_place_is_named_by_a_photo_or_a_town(run: Run) -> None:
    listed = run("list", "--json").json_lines()
    photo = next(row for row in listed if row["lat"] is not None)
    bare = next(row for row in listed if row["lat"] is None)
    by_photo = run("places", "add", "spot", "--photo", photo["uid"], "--json").json()
    assert (by_photo["lat"], by_photo["lon"]) == (photo["lat"], photo["lon"])
    assert by_photo["photos"] >= 1
    by_town = run("places", "add", "the cabin", "--place", "Sintra", "--json").json()
    assert by_town["lat"] == pytest.approx(38.80, abs=0.02)
    assert 1 < by_town["radius_km"] < 15
    refused = run("places", "add", "x", "--photo", bare["uid"])
    assert refused.code == 2
    assert "not known where" in refused.error
    for name in ("spot", "the cabin"):
        assert run("places", "remove", name).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add"], "needs a NAME"),
        (["list", "home"], "stands alone"),
        (["remove"], "needs a NAME"),
        (["add", "home"], "needs one position"),
        (["add", "home", "--at", "1,2", "--place", "Sintra"], "needs one position"),
        (["add", "home", "--at", "somewhere"], "no position"),
        (["add", "home", "--at", "95,2"], "latitude of 95"),
        (["add", "home", "--at", "1,2", "--radius", "0"], "radius is 0 km"),
        (["add", "in", "--at", "1,2"], "meaning of its own"),
        (["add", "home", "--place", "Italy"], "too large"),
        (["add", "home", "--place", "Xyzzyplugh"], "no place named"),
        (["add", "home", "--photo", "zzzzzz"], "no photo"),
        (["remove", "home"], "no place of yours"),
        (["remove", "home", "--at", "1,2"], "goes with places add"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(run: Run, words: list[str], told: str) -> None:
    done = run("places", *words)
    assert done.code == 2
    assert done.out == ""
    assert told in done.error
