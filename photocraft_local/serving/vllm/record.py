"""What is written down of a running server, so that others find it and nothing is left behind.

The file has mode 0600: it holds the secret of a server on a port. Starts nothing.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import processes
from photocraft_local.serving.vllm.folder import stamp_of
from photocraft_local.serving.vllm.limits import Limits
from photocraft_local.serving.vllm.place import ServerPlace, listens
from photocraft_local.serving.vllm.processes import Process

GRACE = 15.0  # seconds that a server has to stop by its own rules


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """``owner`` started it and is why it runs; ``keeper`` ends it when the owner goes.
    ``stamp``: of the folder of weights when it was started, "" if that is not known."""

    run: str
    owner: Process
    keeper: Process
    server: Process
    weights: Path
    endpoint: Endpoint
    limits: Limits
    stamp: str

    @classmethod
    def read(cls, path: Path) -> ServerRecord | None:
        """None if there is none, or it cannot be understood."""
        try:
            data = json.loads(path.read_text("utf-8"))
            endpoint = Endpoint.parse(data["endpoint"])
            return cls(
                run=str(data["run"]),
                owner=Process(**data["owner"]),
                keeper=Process(**data["keeper"]),
                server=Process(**data["server"]),
                weights=Path(data["weights"]),
                endpoint=Endpoint(endpoint.url, endpoint.socket, str(data["token"])),
                limits=Limits(**data["limits"]),
                stamp=str(data.get("stamp", "")),
            )
        except FileNotFoundError:
            return None
        except Exception:  # noqa: BLE001  # a damaged record is no record
            return None

    def is_served(self) -> bool:
        """The server runs, and so do its keeper and the one that it runs for."""
        if not self._of_this_run() or not self._is_ours(processes.words_of(self.server.pid)):
            return False
        return self.owner.runs() and self.keeper.runs() and self.server.runs()

    def end(self) -> None:
        """What an owner left behind that is gone: keeper, server with its group, socket."""
        if self._of_this_run():
            if "keeper" in processes.words_of(self.keeper.pid):
                processes.end(self.keeper, GRACE + 5)
            processes.end_group(self.server, GRACE, self._is_ours)
        if (path := self.endpoint.socket) and path.is_socket() and not listens(path):
            path.unlink(missing_ok=True)

    def _of_this_run(self) -> bool:
        return self.run == processes.this_run()

    def _is_ours(self, words: str) -> bool:
        """A command line of the server's group; vLLM renames some of its processes."""
        helper = words.startswith("VLLM") or "multiprocessing" in words
        return helper or str(self.weights) in words


def facts(owner: Process, weights: Path, endpoint: Endpoint, limits: Limits) -> dict[str, Any]:
    """The record as the owner knows it; the keeper adds itself and the server."""
    return {
        "run": processes.this_run(),
        "owner": asdict(owner),
        "weights": str(weights),
        "endpoint": str(endpoint),
        "token": endpoint.token,
        "limits": asdict(limits),
        "stamp": stamp_of(weights),
    }


def end_orphans(servers: Path) -> list[ServerRecord]:
    """Every recorded server below this folder whose owner is gone is ended; they are named."""
    ended = []
    for path in sorted(servers.glob("*/server.json")):
        record = ServerRecord.read(path)
        if record is not None and record.is_served():
            continue
        if record is not None:
            record.end()
            ended.append(record)
            ServerPlace(path.parent).drop_scratch()
        path.unlink(missing_ok=True)
    return ended
