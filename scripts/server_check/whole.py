"""One run with many proofs: start, episodes at once, two kills, probes, a killed client, resume."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.app.doctor_server import NOT_PROVEN, PROVEN
from photocraft_local.errors import PhotocraftError
from photocraft_local.serving.vllm.deriving import derive
from photocraft_local.serving.vllm.place import ServerPlace
from photocraft_local.serving.vllm.record import ServerRecord
from photocraft_local.settings import Settings
from server_check import gap
from server_check.client import (
    Asker,
    busy_server,
    is_gone,
    kill,
    left_over,
    victims,
)
from server_check.episodes import judged, make_library
from server_check.findings import Report
from server_check.probes import probe

QUESTION = "the dog on the beach"


@dataclass(frozen=True)
class Options:
    """``kinds``: whom to kill in mid-episode, one after another."""

    device: str
    work: Path
    weights: Path
    photos: Path | None = None
    kept: Path | None = None  # the server's compile caches, kept between runs
    at_once: int = 4
    turns: int = 3
    alone: bool = False
    kinds: tuple[str, ...] = ("server", "engine")
    start_seconds: float = 900.0

    @property
    def cache(self) -> Path:
        return self.work / "cache"

    @property
    def library(self) -> Path:
        return self.work / "library"

    @property
    def episode_seconds(self) -> float:
        """A limit that only a hang reaches."""
        return self.start_seconds + 600

    def settings(self) -> Settings:
        return Settings(
            library=self.library,
            cache=self.cache,
            weights=self.weights,
            memory_folder=self.work / "memory",
        )

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PHOTOCRAFT_")}
        return kept | {
            "XDG_CONFIG_HOME": str(self.work / "config"),
            "PHOTOCRAFT_CACHE": str(self.cache),
            "PHOTOCRAFT_MEMORY_FOLDER": str(self.work / "memory"),
            "PHOTOCRAFT_WEIGHTS": str(self.weights),
            "PHOTOCRAFT_BACKBONE": "vllm",
            "PHOTOCRAFT_ENCODER": "null",
            "PHOTOCRAFT_MAX_TURNS": str(self.turns),
            "PHOTOCRAFT_SERVER_START_SECONDS": str(self.start_seconds),
        }


def run(options: Options, report: Report) -> None:
    """Each finding goes into ``report``; goes on after one that is bad where that makes sense."""
    if options.alone:
        there, ways = gap.interfaces(), gap.routes()
        alone = there == ["lo"] and set(ways) <= {"lo"}
        report.check("only the loopback is there", alone, interfaces=there, routes=ways)
    place = prepare(options, report)
    if place is None:
        return
    with asking(options) as asker:
        for kind in options.kinds:
            killed_in_mid_episode(options, report, asker, place, kind)
        photo = next(iter(sorted((options.work / "photos").iterdir())))
        probe(report, place, photo, options.work)
        trace = client_killed(options, report, asker, place)
    resumed(options, report, place, trace)
    report.check("nothing that was asked is in the log", not _asked_in_log(place))


def prepare(options: Options, report: Report) -> ServerPlace | None:
    """Library, derived command, kept caches."""
    num = make_library(options.library, options.cache, options.photos)
    report.check("photos are indexed", num > 0, photos=num)
    if options.kept:
        options.kept.mkdir(parents=True, exist_ok=True)
        (options.cache / "server").mkdir(parents=True, exist_ok=True)
        (options.cache / "server" / "caches").symlink_to(options.kept)
    try:
        command = derive(options.settings())
    except PhotocraftError as error:
        report.check("a command for the server", False, error=error.message, hint=error.hint)
        return None
    report.facts |= {
        "device": command.chosen.why,
        "vllm": command.program.version,
        "weights": command.checkpoint.name,
        "flags": [" ".join(flag.words) for flag in command.flags],
        "limits": str(command.limits),
        "proven_so_far": PROVEN,
        "not_proven_so_far": NOT_PROVEN,
    }
    kind = command.chosen.device.kind
    if not report.check("the device that was asked for", kind == options.device, device=kind):
        return None
    return ServerPlace.of(options.cache, options.weights)


@contextlib.contextmanager
def asking(options: Options) -> Iterator[Asker]:
    asker = Asker(options.library, options.environment(), options.work / "asker.err")
    try:
        yield asker
    finally:
        if asker.runs():
            asker.close()


def killed_in_mid_episode(
    options: Options, report: Report, asker: Asker, place: ServerPlace, kind: str
) -> dict[str, Any]:
    """Kills while a request is computed; the episodes have to end, on another server."""
    began, starts = time.monotonic(), asker.starts
    asker.ask(options.at_once)
    record = busy_server(place, asker.busy, options.start_seconds)
    killed = victims(record, kind) if record else []
    kill(killed)
    at = time.monotonic()
    name = f"episodes go on after kill -9 of the {kind}"
    found = asker.episodes(options.episode_seconds)
    seen = judged(found, options.turns)
    now = ServerRecord.read(place.record)
    went_on = bool(record and now and now.server != record.server and now.is_served())
    good = bool(killed) and went_on and len(found) == options.at_once and not seen["faults"]
    seen |= {
        "killed": len(killed),
        "starts": asker.starts - starts,
        "seconds_before": round(at - began, 1),
        "seconds_after": round(time.monotonic() - at, 1),
    }
    report.check(name, good, **seen)
    if record:
        report.check(f"nothing of the killed {kind} is left", is_gone(record.server, 60))
    return {"kind": kind, "ok": good, **seen}


def client_killed(
    options: Options, report: Report, asker: Asker, place: ServerPlace
) -> Path | None:
    """The trace of the episode that was cut."""
    asker.ask(1)
    record = busy_server(place, asker.busy, options.start_seconds)
    asker.kill()
    gone = bool(record) and is_gone(record.server, 60) and is_gone(record.keeper, 60)
    report.check("kill -9 of the client in mid-episode leaves no server", gone)
    report.check("and neither socket nor record", left_over(place) == [], left=left_over(place))
    traces = sorted((options.library / "traces").glob("*.json"))
    cut = [t for t in traces if json.loads(t.read_text("utf-8"))["status"] == "running"]
    report.check("its trace is whole, to be resumed", len(cut) == 1, traces=len(traces))
    return cut[0] if cut else None


def resumed(options: Options, report: Report, place: ServerPlace, trace: Path | None) -> None:
    """The next command works: the cut episode is taken up, with a server of its own."""
    command = [sys.executable, "-m", "photocraft_local", "resume", "--json"]
    command += ["--library", str(options.library)] + ([str(trace)] if trace else [])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=options.environment(),
        timeout=options.episode_seconds,
    )
    ended = [{"trace": str(trace), "photos": 0, "reason": done.stdout}] if trace else []
    seen = judged(ended, options.turns)
    good = done.returncode in (0, 1, 7) and bool(trace) and not seen["faults"]
    said = "" if good else done.stderr[-500:]
    report.check("the next command resumes it", good, code=done.returncode, said=said, **seen)
    report.check("and leaves nothing either", left_over(place) == [], left=left_over(place))


def _asked_in_log(place: ServerPlace) -> list[str]:
    logs = [path.read_text("utf-8", "replace") for path in place.folder.glob("server.log*")]
    return [
        word for word in (QUESTION, "private.png", "photos.example") for log in logs if word in log
    ]
