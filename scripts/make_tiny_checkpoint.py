#!/usr/bin/env python3
"""Makes a checkpoint folder of a few MB with a model family's real architecture: a Qwen-VL one, or
a dual encoder (clip, siglip, siglip2) as an ONNX folder.

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

from tiny_checkpoint.dual import DUAL
from tiny_checkpoint.dual import write as write_dual
from tiny_checkpoint.families import FAMILIES


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to make")
    known = [*FAMILIES, *DUAL]
    parser.add_argument("family", choices=known, metavar="FAMILY", help=", ".join(known))
    parser.add_argument("--thinking", action="store_true", help="chat template of the variant")
    arguments = parser.parse_args()
    if arguments.family in DUAL:
        if arguments.thinking:
            parser.error(f"{arguments.family} has no thinking variant")
        write_dual(arguments.out, arguments.family)
        for tower in ("onnx/vision_model.onnx", "onnx/text_model.onnx"):
            _tell(arguments.out / tower, arguments.out / tower)
        return 0
    family = FAMILIES[arguments.family]
    if arguments.thinking and not family.since_qwen3:
        parser.error(f"{family.name} has no thinking variant")
    from tiny_checkpoint.folder import write

    write(arguments.out, family, thinking=arguments.thinking)
    _tell(arguments.out / "model.safetensors", arguments.out)
    return 0


def _tell(path: Path, shown: Path) -> None:
    weights = path.read_bytes()
    print(f"{hashlib.sha256(weights).hexdigest()}  {len(weights)} bytes  {shown}")


if __name__ == "__main__":
    sys.exit(main())
