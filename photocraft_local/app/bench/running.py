"""All stages in their order, figure by figure, so that one that is stopped leaves what there is."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local import __version__
from photocraft_local.app.bench.figures import STAGES, Figure, not_measured
from photocraft_local.app.bench.floors import memory_figures, memory_speed
from photocraft_local.app.bench.material import photos_of
from photocraft_local.app.parts import Parts
from photocraft_local.errors import PhotocraftError, UsageError

if TYPE_CHECKING:
    from photocraft_local.settings import Settings

_PACKAGES = ("numpy", "pillow", "simplejpeg", "onnxruntime", "faiss-cpu", "faiss-gpu", "vllm",
             "torch", "transformers")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures are of. ``gpus`` are names; ``gpu_reason`` says why there are none."""

    processor: str
    cores: int
    memory_gib: float
    gpus: tuple[str, ...]
    gpu_reason: str
    versions: dict[str, str]


def measure(
    settings: Settings, wanted: Sequence[str], tell: Callable[[str], None], *, quick: bool
) -> Generator[Figure, None, None]:
    """Figures as they come; ``tell`` hears what is under way. The library is only read.

    Raises UsageError for a stage that there is not.
    """
    for name in wanted:
        if name not in STAGES:
            raise UsageError(f"there is no stage {name!r}", hint=f"one of {', '.join(STAGES)}")
    stages = [name for name in STAGES if name in (wanted or STAGES)]
    parts = Parts(settings)
    try:
        with tempfile.TemporaryDirectory(prefix="photocraft-bench-") as folder:
            yield from _stages(parts, settings, stages, Path(folder), tell, quick=quick)
    finally:
        parts.close()


def _stages(
    parts: Parts,
    settings: Settings,
    stages: Sequence[str],
    folder: Path,
    tell: Callable[[str], None],
    *,
    quick: bool,
) -> Iterator[Figure]:
    from photocraft_local.app.bench import agent_stage, photo_stages, search_stage

    tell("memory")
    memory = memory_speed(quick=quick)
    if "machine" in stages:
        yield from memory_figures(memory)
    if {"decode", "crops", "embed"} & set(stages):
        tell("photos")
        material = photos_of(parts, folder, quick=quick)
        tell(f"measured on {material.told}")
        if "decode" in stages:
            yield from _guarded("decode", photo_stages.decode(material, settings, quick=quick))
        if "crops" in stages:
            yield from _guarded(
                "crops", photo_stages.crops(material, memory, settings, quick=quick)
            )
        if "embed" in stages:
            tell("the encoder")
            yield from _guarded(
                "embed", photo_stages.embed(material, parts.encoder, settings, quick=quick)
            )
    if "search" in stages:
        tell("search")
        yield from _guarded("search", search_stage.search(parts, folder, memory, quick=quick))
    if "agent" in stages:
        tell("questions")
        yield from _guarded("agent", agent_stage.agent(settings, folder, tell, quick=quick))
    if "gpu" in stages:
        yield from _gpu(machine())


def _guarded(stage: str, figures: Iterator[Figure]) -> Iterator[Figure]:
    """What one stage meets does not keep the others from being measured."""
    try:
        yield from figures
    except PhotocraftError as error:
        yield not_measured(stage, "the rest of it", error)


def machine() -> Machine:
    from photocraft_local.serving.vllm.gpus import find_gpus

    report = find_gpus()
    versions = {"python": platform.python_version(), "photocraft": __version__}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    names = tuple(gpu.name for gpu in report.gpus)
    return Machine(
        _processor(),
        len(os.sched_getaffinity(0)),
        size / (1 << 30),
        names,
        report.problem,
        versions,
    )


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _gpu(found: Machine) -> Iterator[Figure]:
    """No figure is made up for what another script measures."""
    why = f"there is no GPU here: {found.gpu_reason}" if not found.gpus else (
        "this command leaves it alone: scripts/gpu_check.sh measures it"
    )  # fmt: skip
    for name in ("decode", "crops (Triton kernel)", "filtered search (Triton kernel)"):
        yield Figure("gpu", name, why=why)
