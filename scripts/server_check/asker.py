"""A process with many questions to one managed server, which it starts: the one that is killed.

    python asker.py LIBRARY        settings from PHOTOCRAFT_* variables

Each line of stdin is a number of questions to ask at once. Lines of JSON come back: ``stage`` as
the server starts, and ``episodes`` when all of a line are over. At the end of stdin it ends in
good order, with the server.
"""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from photocraft_local import PhotoSearch, Settings
from photocraft_local.errors import PhotocraftError

_lock = threading.Lock()


def tell(**values: Any) -> None:
    with _lock:
        print(json.dumps(values), flush=True)


def episode(search: PhotoSearch, question: str) -> dict[str, Any]:
    try:
        answer = search.ask(question, on_stage=lambda stage: tell(stage=stage))
    except PhotocraftError as error:
        return {"error": error.message, "hint": error.hint}
    return {"trace": str(answer.trajectory), "photos": len(answer), "reason": answer.reason}


def main() -> int:
    settings = Settings.load(library=Path(sys.argv[1]))
    with ExitStack() as stack:
        searches: list[PhotoSearch] = []
        number = 0
        for line in sys.stdin:
            while len(searches) < int(line):  # one a thread; all stay open, so no server goes early
                searches.append(stack.enter_context(PhotoSearch(settings)))
            questions = [f"question {number + k}: the dog on the beach" for k in range(int(line))]
            number += len(questions)
            with ThreadPoolExecutor(len(questions)) as pool:
                found = list(pool.map(episode, searches, questions))
            tell(episodes=found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
