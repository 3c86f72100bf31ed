#!/usr/bin/env python3
"""Makes a checkpoint folder of a few MB with a Qwen-VL family's real architecture.

    .venv-engine/bin/python scripts/make_tiny_checkpoint.py OUT FAMILY [--thinking]

Random weights: it proves that files, prompts, pictures and tool calls fit the engine; its words
mean nothing. The same arguments give the same bytes. Prints the SHA-256 of the weights.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}

from tiny_checkpoint.families import FAMILIES


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to make")
    parser.add_argument("family", choices=FAMILIES, metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--thinking", action="store_true", help="chat template of the variant")
    arguments = parser.parse_args()
    family = FAMILIES[arguments.family]
    if arguments.thinking and not family.since_qwen3:
        parser.error(f"{family.name} has no thinking variant")
    from tiny_checkpoint.folder import write

    write(arguments.out, family, thinking=arguments.thinking)
    weights = (arguments.out / "model.safetensors").read_bytes()
    print(f"{hashlib.sha256(weights).hexdigest()}  {len(weights)} bytes  {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
