"""Feeds broken copies of real photos to the readers; run by test_files_fuzz.py as a process.

Own process, so that a crash of native code is seen and the peak memory is this test's alone.
Prints one JSON object: mutations, failures (what was raised and by which mutation), peak_mib.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import warnings
from pathlib import Path

from photocraft_local.errors import PhotoError
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.metadata import read_metadata

HEADER = 512  # where most of the structure is
EXTREMES = (b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\xff\xff")


def mutated(data: bytes, dice: random.Random) -> bytes:
    if not data:
        return bytes(dice.randrange(256) for _ in range(dice.randrange(1, 64)))
    broken = bytearray(data)
    end = len(broken) if dice.random() < 0.4 else min(len(broken), HEADER)
    kind = dice.randrange(6)
    if kind == 0:
        del broken[dice.randrange(len(broken)) :]
    elif kind == 1:
        at = dice.randrange(end)
        broken[at : at + 4] = dice.choice(EXTREMES)
    elif kind == 2:
        at = dice.randrange(end)
        del broken[at : at + dice.randrange(1, 40)]
    elif kind == 3:
        at = dice.randrange(end)
        broken[at:at] = broken[at : at + dice.randrange(1, 40)]
    else:
        for _ in range(dice.choice((1, 1, 3, 12))):
            at = dice.randrange(end)
            broken[at] = dice.randrange(256) if kind == 4 else broken[at] ^ (1 << dice.randrange(8))
    return bytes(broken)


def main(target: str, *folders: str) -> None:
    warnings.simplefilter("error")
    failures: list[str] = []
    count = 0
    originals = [file for folder in folders for file in sorted(Path(folder).iterdir())]
    for index, original in enumerate(originals):
        data = original.read_bytes()
        if original.suffix == ".csv":
            continue
        for turn in range(6 if len(data) > 500_000 or "000" in original.name else 31):
            dice = random.Random(f"{index}/{turn}")
            path = Path(target, "broken" + original.suffix)
            path.write_bytes(mutated(data, dice))
            count += 1
            for call in (read_metadata, lambda name: decode_upright(name, short_side=96)):
                try:
                    call(os.fsencode(path))
                except PhotoError as exc:
                    if path.name not in exc.message:
                        failures.append(f"{original.name} {turn}: message without the name: {exc}")
                except BaseException as exc:
                    failures.append(f"{original.name} {turn}: {type(exc).__name__}: {exc}")
    status = Path("/proc/self/status").read_text()  # ru_maxrss would count the parent's memory
    peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
    print(json.dumps({"mutations": count, "failures": failures, "peak_mib": round(peak)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
