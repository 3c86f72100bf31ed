"""What is installed, what will run and why, and whether the library is sound.

Every check ends in a finding, whatever is missing or broken; nothing is built or changed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import metadata

from photocraft_local import __version__
from photocraft_local.app import doctor_encoder, doctor_server
from photocraft_local.app.doctor_encoder import LABELS_STATEMENT
from photocraft_local.app.findings import Finding, State
from photocraft_local.errors import LibraryNotFound, PhotocraftError
from photocraft_local.settings import Settings, default_config_path

_MARKS_OF_GPU_EXTRA = ("vllm", "faiss-gpu", "onnxruntime-gpu")  # none of them is in `cpu`
_LOW_DISK = 1 << 30  # bytes
NO_GPU_RAN = (
    "no GPU has run decoding, encoders, vector search or the Triton kernels of this program;"
    " crop_resize is called where decode_device is 'gpu', topk_similarity by nothing (interpreted"
    " and compiled on a CPU). scripts/gpu_check.sh tells what holds"
)


def examine(settings: Settings) -> list[Finding]:
    """All findings, in a fixed order."""
    checks: list[Callable[[Settings], Iterator[Finding]]] = [
        _python,
        _core_packages,
        _engine_packages,
        _settings,
        doctor_encoder.encoder,
        _pictures,
        doctor_server.gpus,
        doctor_server.backbones,
        doctor_server.server,
        doctor_server.proven,
        _gazetteer,
        _disk,
        _library,
    ]
    return [finding for check in checks for finding in _guarded(check, settings)]


def _guarded(
    check: Callable[[Settings], Iterator[Finding]], settings: Settings
) -> Iterator[Finding]:
    name = check.__name__.strip("_").replace("_", " ")
    try:
        yield from check(settings)
    except PhotocraftError as error:
        yield Finding(name, "fault", error.message, error.hint)
    except OSError as error:
        where = error.filename or "a file"
        hint = "check that it is there, on a mounted drive, and yours"
        yield Finding(name, "fault", f"{where} cannot be used: {error.strerror}", hint)
    except Exception as error:  # noqa: BLE001  # a doctor must finish its round
        yield Finding(name, "fault", f"{type(error).__name__}: {error}")


def _python(settings: Settings) -> Iterator[Finding]:
    del settings
    detail = f"Python {platform.python_version()}, photocraft {__version__}"
    detail += f", {platform.machine()}, {len(os.sched_getaffinity(0))} cores"
    old = sys.version_info < (3, 11)
    yield Finding("python", "fault" if old else "ok", detail, "install Python 3.11" * old)


def _core_packages(settings: Settings) -> Iterator[Finding]:
    del settings
    yield _packages("core packages", _wanted(""), "fault", "pip install photocraft-local")


def _engine_packages(settings: Settings) -> Iterator[Finding]:
    """Of the one extra that is meant: `cpu` and `gpu` exclude each other."""
    del settings
    extra = "gpu" if any(map(_version, _MARKS_OF_GPU_EXTRA)) else "cpu"
    hint = f"pip install 'photocraft-local[{extra}]'"
    yield _packages(f"{extra} extra", _wanted(extra), "warning", hint)


def _wanted(extra: str) -> list[str]:
    """The packages that this installation's own metadata asks for; without an extra: the core."""
    lines = metadata.requires("photocraft-local") or []
    marked = [line for line in lines if (f'extra == "{extra}"' if extra else "extra ==") in line]
    chosen = marked if extra else [line for line in lines if line not in marked]
    return [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in chosen]


def _packages(name: str, wanted: list[str], state: State, hint: str) -> Finding:
    versions = {package: _version(package) for package in wanted}
    absent = [package for package, version in versions.items() if not version]
    there = ", ".join(f"{package} {version}" for package, version in versions.items() if version)
    if absent:
        return Finding(name, state, f"missing: {', '.join(absent)}; there: {there or 'none'}", hint)
    return Finding(name, "ok", there)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _settings(settings: Settings) -> Iterator[Finding]:
    config = default_config_path()
    there = "read" if config.is_file() else "not there, defaults hold"
    yield Finding("settings", "ok", f"{config} ({there}); library {settings.library}")


def _pictures(settings: Settings) -> Iterator[Finding]:
    """What decodes photos and what resizes them, and why."""
    from photocraft_local.imaging import resampling

    yield _decoding(settings)
    path = resampling.chosen()
    state: State = "warning" if path.hint else "ok"
    yield Finding("crops and patches", state, f"{path.name}: {path.reason}", path.hint)
    yield Finding("pictures not proven", "ok", NO_GPU_RAN)


def _decoding(settings: Settings) -> Finding:
    from photocraft_local.files import scaled_jpeg

    by_cpu = f"JPEG by libjpeg-turbo (simplejpeg {_version('simplejpeg')}), scaled while decoded"
    scaled = scaled_jpeg.chosen()
    by_cpu += f"; scaled ones and boxes {scaled.name}: {scaled.reason}"
    if settings.decode_device == "cpu":
        state: State = "warning" if scaled.hint else "ok"
        return Finding("decoding", state, f"on the CPU: {by_cpu}", scaled.hint)
    from photocraft_local.files.gpu_jpeg import open_gpu

    try:
        gpu = open_gpu()
    except PhotocraftError as error:
        return Finding("decoding", "fault", error.message, error.hint)
    engines = f"{', '.join(gpu.engines)}, {gpu.decibels:.0f} dB to libjpeg on a test picture"
    return Finding(
        "decoding", "ok", f"on the GPU: nvImageCodec, {engines}; {_rows()}; the rest {by_cpu}"
    )


def _rows() -> str:
    """Whether what was decoded on the GPU becomes patch rows there."""
    from photocraft_local.imaging.device_patches import need_kernel

    try:
        need_kernel()
    except PhotocraftError as error:
        return f"patch rows on the CPU ({error.message})"
    return (
        "patch rows for Qwen3-VL-Embedding by transformers there too, by the kernel crop_resize,"
        " without a way back over the bus"
    )


def _gazetteer(settings: Settings) -> Iterator[Finding]:
    from photocraft_local.places.build import gazetteer_path
    from photocraft_local.places.sources import absent_package

    path = gazetteer_path(settings.cache)
    if path.is_file():
        yield Finding("gazetteer", "ok", f"{path} ({_mib(path.stat().st_size)})")
    elif missing := absent_package():
        yield Finding("gazetteer", "warning", f"no place names: {missing.message}", missing.hint)
    else:
        yield Finding("gazetteer", "ok", f"not built yet; the first index builds it in {path}")


def _disk(settings: Settings) -> Iterator[Finding]:
    for name, folder in {"library": settings.library, "cache": settings.cache}.items():
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
        state: State = "warning" if free < _LOW_DISK else "ok"
        hint = "free some space" if state == "warning" else ""
        yield Finding(f"disk of the {name}", state, f"{_mib(free)} free at {folder}", hint)


def _library(settings: Settings) -> Iterator[Finding]:
    from photocraft_local.library.library import Library
    from photocraft_local.storage.rows import RowStore

    try:
        library = Library.open(settings.library, settings=settings)
    except LibraryNotFound as absent:
        yield Finding("library", "warning", absent.message, absent.hint)
        return
    with library:
        library.database.verify()
        skipped = len(library.skipped())
        detail = f"{library.count():,} photos, {skipped:,} skipped files; the database is sound"
        yield Finding("library", "ok", detail)
        for folder in library.space_folders():
            try:
                store = RowStore.open(folder)
                store.check_numbers()
                yield _searched(settings, folder.name, store.count, store.dim)
            except PhotocraftError as fault:  # of one space: the others are looked at all the same
                yield Finding("vectors", "fault", fault.message, fault.hint)


def _searched(settings: Settings, space: str, count: int, dim: int) -> Finding:
    """Which vector store searches these vectors, and why."""
    from photocraft_local.app.vector_stores import remote
    from photocraft_local.search.stores.choice import choose

    detail = f"{space}: {count:,} rows, searched with"
    if (where := remote(settings)) is not None:
        return Finding("vectors", "ok", f"{detail} {where}")
    chosen = choose(settings.vector_store, count * dim)
    state: State = "warning" if chosen.hint else "ok"
    return Finding("vectors", state, f"{detail} {chosen.name}: {chosen.reason}", chosen.hint)


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


__all__ = ["LABELS_STATEMENT", "Finding", "examine"]
