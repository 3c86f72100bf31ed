"""Opens what models are run with: onnxruntime sessions (CPU, quiet, a stated number of threads) and
tokenizers, each with the package's own errors. Nothing else imports onnxruntime, since its builds
report their use to their maker unless they are told not to before they are imported.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from photocraft_local.errors import EncoderError, MissingExtraError


def open_session(path: Path, *, threads: int = 1, brief: bool = False) -> Any:
    """An ``onnxruntime.InferenceSession``. One thread a worker is fastest per core: a second
    one waits more than it works on nets this small. ``brief`` skips the optimisation of the
    graph, which costs more than it gains when a session runs only a few times.

    Raises:
        MissingExtraError: onnxruntime is not installed.
        EncoderError: the file is no model that it runs.
    """
    onnxruntime = _silent_onnxruntime()
    if not path.is_file():
        raise EncoderError(f"model file {path} does not exist", hint="place the model anew")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if brief:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # onnxruntime raises its own unrelated classes
        raise EncoderError(
            f"model file {path} cannot be run: {exc}", hint="convert or place the model anew"
        ) from exc


def _silent_onnxruntime() -> Any:
    """The onnxruntime module with its telemetry off. From 1.29 on it keeps a device id in the
    cache folder and sends what was run; the variable alone keeps both from ever starting.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as exc:
        raise MissingExtraError("onnxruntime", "cpu", "running an encoder") from exc
    # Where the program around this one had imported it before, the variable comes too late.
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_tokenizer(path: Path, *, hint: str) -> Any:
    """A ``tokenizers.Tokenizer`` from its ``tokenizer.json``.

    Raises:
        MissingExtraError: tokenizers is not installed.
        EncoderError: the file is none that it reads; ``hint`` is the way out.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as exc:
        raise MissingExtraError("tokenizers", "cpu", "reading a query") from exc
    try:
        return Tokenizer.from_file(str(path))
    except Exception as exc:  # the library raises plain Exception
        raise EncoderError(f"tokenizer {path} cannot be read: {exc}", hint=hint) from exc
