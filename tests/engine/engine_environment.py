"""What stands in the environment before anything imports an engine: it is read once.

Offline, without reports of its use, one process, caches and home folder of its own.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_home: list[tempfile.TemporaryDirectory[str]] = []  # kept until the program ends


def prepare() -> None:
    """Sets the variables of this process and those it starts.

    PHOTOCRAFT_TEST_CACHE names a folder that keeps the engine's caches between runs.
    """
    _home.append(tempfile.TemporaryDirectory(prefix="photocraft-engine-"))
    caches = Path(os.environ.get("PHOTOCRAFT_TEST_CACHE") or _home[0].name).resolve() / "engine"
    os.environ |= {
        "HOME": str(Path(_home[0].name, "home")),
        "HF_HOME": str(caches / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CACHE_ROOT": str(caches / "vllm"),
        "VLLM_CONFIG_ROOT": str(caches / "vllm-config"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",  # tiny products: threads that wait for one another cost more
        "TOKENIZERS_PARALLELISM": "false",
        "TQDM_DISABLE": "1",
    }
