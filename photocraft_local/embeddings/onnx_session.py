"""Opens what models are run with: onnxruntime sessions (quiet, on a stated device, with a stated
number of threads) and tokenizers, each with the package's own errors. Nothing else imports
onnxruntime, since its builds report their use to their maker unless they are told not to before
they are imported.
"""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from photocraft_local.errors import EncoderError, MissingExtraError
from photocraft_local.serving.vllm.gpus import find_gpus

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def open_session(path: Path, *, threads: int = 1, brief: bool = False, device: str = "cpu") -> Any:
    """An ``onnxruntime.InferenceSession``. One thread a worker is fastest per core: a second
    one waits more than it works on nets this small. ``brief`` skips the optimisation of the
    graph, which costs more than it gains when a session runs only a few times. ``device`` is
    'cpu', 'cuda', or 'auto': CUDA where it works.

    Raises:
        MissingExtraError: onnxruntime is not installed.
        EncoderError: the file is no model that it runs, or 'cuda' does not work here.
    """
    onnxruntime = _silent_onnxruntime()
    providers = _providers(onnxruntime, device)
    if not path.is_file():
        raise EncoderError(f"model file {path} does not exist", hint="place the model anew")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if brief:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=providers)
    except Exception as exc:  # onnxruntime raises its own unrelated classes
        raise EncoderError(
            f"model file {path} cannot be run: {exc}", hint="convert or place the model anew"
        ) from exc
    if device == "cuda" and _CUDA not in session.get_providers():
        raise _no_cuda("CUDA or cuDNN cannot be loaded, or there is no GPU")
    return session


def runs_on(session: Any) -> str:
    """'CUDA' or 'CPU': where most of the model runs."""
    return "CUDA" if _CUDA in session.get_providers() else "CPU"


def devices() -> tuple[str, ...]:
    """What this onnxruntime was built for, CUDA among it or not. Raises MissingExtraError."""
    names: list[str] = _silent_onnxruntime().get_available_providers()
    return tuple(name.removesuffix("ExecutionProvider") for name in names)


def _providers(onnxruntime: Any, device: str) -> list[str]:
    has_cuda = _CUDA in onnxruntime.get_available_providers()
    if device == "cuda" and not has_cuda:
        raise _no_cuda("this onnxruntime was built for the CPU")
    if not has_cuda or device == "cpu" or (device == "auto" and not find_gpus().gpus):
        return [_CPU]
    # CUDA's libraries lie in packages beside PyTorch, where the loader does not look by itself.
    with redirect_stdout(io.StringIO()):
        onnxruntime.preload_dlls()
    return [_CUDA, _CPU]


def _no_cuda(why: str) -> EncoderError:
    return EncoderError(
        f"the setting encoder_device is 'cuda', but {why}",
        hint="the 'gpu' extra has the build for CUDA, in an environment without the 'cpu' extra;"
        " 'auto' takes the CPU where CUDA does not work",
    )


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
