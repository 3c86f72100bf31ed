"""What a check found: a line for people on stderr as it comes, one JSON object at the end."""

from __future__ import annotations

import json
import math
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """``facts`` describe the machine and the run; each check has a name, a verdict and what was
    seen. After ``most_seconds`` no part begins."""

    what: str
    facts: dict[str, Any] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    most_seconds: float = math.inf
    _began: float = field(default_factory=time.monotonic)

    def check(self, name: str, good: bool, **seen: Any) -> bool:
        self.checks.append({"check": name, "ok": bool(good), **seen})
        self.tell("ok     " if good else "FAILED ", name, seen)
        return bool(good)

    def absent(self, name: str, why: str) -> None:
        """What cannot be checked on this machine; neither good nor bad."""
        self.checks.append({"check": name, "ok": None, "why": why})
        self.tell("absent ", name, {"why": why})

    def part(self, name: str, work: Callable[..., object], *given: Any) -> None:
        """Checks that the others do not depend on: whatever breaks them, the next part runs."""
        if self.seconds_left <= 0:
            self.absent(name, f"not begun after {self.most_seconds:.0f} s")
            return
        try:
            work(*given)
        except ImportError as lack:
            if (lack.name or "").startswith("photocraft"):  # ours is always there
                self.broke(lack, name)
            else:
                self.absent(name, str(lack))
        except Exception as error:  # noqa: BLE001  # what is found beside it is worth sending
            self.broke(error, name)

    def broke(self, error: BaseException, name: str = "the check itself") -> None:
        """The check itself; what it was at is told as well."""
        traceback.print_exception(error)
        self.check(name, False, error=f"{type(error).__name__}: {error}"[:500])

    def tell(self, mark: str, name: str, seen: dict[str, Any]) -> None:
        details = ", ".join(f"{key} {_short(value)}" for key, value in seen.items())
        at = f"{self._seconds:6.0f} s"
        print(f"{at}  {mark}{name}{': ' * bool(details)}{details}", file=sys.stderr, flush=True)

    @property
    def seconds_left(self) -> float:
        return self.most_seconds - self._seconds

    @property
    def good(self) -> bool:
        return all(entry["ok"] is not False for entry in self.checks)

    def end(self) -> int:
        """Prints the JSON as stdout's last line; the exit code."""
        whole = {"what": self.what, "ok": self.good, "seconds": round(self._seconds, 1)}
        told = whole | self.facts | {"checks": self.checks}
        print(json.dumps(told, default=str), flush=True)
        return 0 if self.good else 1

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 160 else text[:160] + "…"
