"""What a check found: a line for people on stderr as it comes, one JSON object at the end."""

from __future__ import annotations

import json
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """``facts`` describe the machine and the run; each check has a name, a verdict and what was
    seen."""

    what: str
    facts: dict[str, Any] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    def check(self, name: str, good: bool, **seen: Any) -> bool:
        self.checks.append({"check": name, "ok": bool(good), **seen})
        self.tell("ok     " if good else "FAILED ", name, seen)
        return bool(good)

    def absent(self, name: str, why: str) -> None:
        """What cannot be checked on this machine; neither good nor bad."""
        self.checks.append({"check": name, "ok": None, "why": why})
        self.tell("absent ", name, {"why": why})

    def broke(self, error: Exception) -> None:
        """The check itself; what it was at is told as well."""
        traceback.print_exception(error)
        self.check("the check itself", False, error=f"{type(error).__name__}: {error}"[:500])

    def tell(self, mark: str, name: str, seen: dict[str, Any]) -> None:
        details = ", ".join(f"{key} {_short(value)}" for key, value in seen.items())
        at = f"{time.monotonic() - self._began:6.0f} s"
        print(f"{at}  {mark}{name}{': ' * bool(details)}{details}", file=sys.stderr, flush=True)

    @property
    def good(self) -> bool:
        return all(entry["ok"] is not False for entry in self.checks)

    def end(self) -> int:
        """Prints the JSON as stdout's last line; the exit code."""
        seconds = round(time.monotonic() - self._began, 1)
        whole = {"what": self.what, "ok": self.good, "seconds": seconds}
        print(json.dumps(whole | self.facts | {"checks": self.checks}), flush=True)
        return 0 if self.good else 1


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 160 else text[:160] + "…"
