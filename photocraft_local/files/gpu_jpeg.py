"""JPEG files in batches on a GPU, by nvImageCodec; what it cannot do is left to the CPU's decoder.

Owns which of its engines are used: only those that smooth chroma as libjpeg does, which is measured
when it is opened, since the quicker ones repeat each chroma value and models see that. Pictures are
shrunk on the GPU, or stay there whole; colours and orientation are ours. Never proven on a GPU yet.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image

from photocraft_local.errors import MissingExtraError, PhotoError, SettingsError
from photocraft_local.files.colour import pixels_of, to_srgb
from photocraft_local.files.container import Header
from photocraft_local.files.decode import Decoded, check_size, turned
from photocraft_local.files.decode_jpeg import MAX_BYTES, jpeg_profile, read_all
from photocraft_local.files.header import read_header
from photocraft_local.files.metadata import upright_orientation
from photocraft_local.files.render import target_size
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)
_PURPOSE: Final = "the setting decode_device = 'gpu'"
_OPTIONS: Final = ":fancy_upsampling=1"
_MOST_PIXELS: Final = 256_000_000  # of one call; 0.8 GB as RGB
_MOST_BYTES: Final = 256 << 20  # of the files of one call; one that is larger is left to the CPU
_LEAST_DB: Final = (
    38.0  # of the test picture: repeated chroma gives 27.5, another cosine transform 40
)
# Names of nvImageCodec's kinds of engine; the first list whose chroma is right is taken.
_ENGINES: Final = (
    ("HW_GPU_ONLY", "HYBRID_CPU_GPU", "GPU_ONLY"),
    ("HYBRID_CPU_GPU", "GPU_ONLY"),
    ("GPU_ONLY",),
)


@dataclass(frozen=True, slots=True)
class _File:
    """A file that the GPU may take, at its place in the batch."""

    at: int
    data: bytes
    header: Header
    profile: bytes


@dataclass(frozen=True, slots=True, eq=False)
class OnDevice:
    """``pixels`` are a tensor uint8 (height, width, 3) as stored; ``orientation`` is EXIF's."""

    pixels: Any
    orientation: int
    flags: tuple[str, ...]


class GpuJpegs:
    """``engines`` are those in use, ``decibels`` how near they come to the CPU's decoder."""

    def __init__(self, codec: Any) -> None:
        """``codec`` is the module ``nvidia.nvimgcodec``.

        Raises SettingsError where none of its engines decodes as it should.
        """
        self._codec = codec
        self._lock = threading.Lock()  # of a decoder that says nothing of threads
        self._parameters = codec.DecodeParams(apply_exif_orientation=False)
        self.engines, self.decibels, self._decoder = self._chosen()

    def decode(
        self, paths: Sequence[bytes], *, short_side: int, max_pixels: int = 300_000_000
    ) -> list[Decoded | None]:
        """As ``decode_upright`` one by one, to rounding; None for what the CPU has to decode.

        Whatever one file does, the others of the batch are decoded.
        """
        found: list[Decoded | None] = [None] * len(paths)
        for part in _parts(_files(paths, max_pixels), _MOST_PIXELS):
            for file, image in zip(part, self._images(part), strict=True):
                found[file.at] = self._finished(file, image, short_side)
        return found

    def decode_there(
        self, paths: Sequence[bytes], *, max_pixels: int = 300_000_000
    ) -> Iterator[list[tuple[int, OnDevice]]]:
        """Pictures that stay on the device, with their places among the paths, in runs of bounded
        memory. What the CPU has to decode is not among them, nor what has a colour profile.
        """
        plain = (file for file in _files(paths, max_pixels) if not file.profile)
        for part in _parts(plain, _MOST_PIXELS // 2):  # whoever takes them may hold them twice
            yield [
                (file.at, OnDevice(whole, upright_orientation(file.header), _flags(file)))
                for file, image in zip(part, self._images(part), strict=True)
                if (whole := self._whole(file.header, image)) is not None
            ]

    def _images(self, part: Sequence[_File]) -> list[Any]:
        """One of each file; None for what the CPU has to decode."""
        found: list[Any] = [None] * len(part)
        streams = {at: stream for at, file in enumerate(part) if (stream := self._stream(file))}
        if not streams:
            return found
        try:
            with self._lock:
                images = self._decoder.decode([*streams.values()], params=self._parameters)
            for at, image in zip(streams, images, strict=True):
                found[at] = image
        except Exception as exc:  # noqa: BLE001  # memory, the driver: no photo may be lost
            _log.warning("%d photos go to the CPU, since the decoder failed: %s", len(part), exc)
            return [None] * len(part)
        return found

    def _stream(self, file: _File) -> Any:
        """nvImageCodec's own; None where it cannot read what our header reader could."""
        try:
            return self._codec.CodeStream(file.data)
        except Exception as exc:  # noqa: BLE001  # one file, of which the CPU says what it is
            _log.debug("a JPEG goes to the CPU: %s", exc)
            return None

    def _finished(self, file: _File, image: Any, short_side: int) -> Decoded | None:
        header = file.header
        try:
            small = None if image is None else self._shrunk(image, header, short_side)
        except Exception as exc:  # noqa: BLE001  # as above
            _log.warning("a photo goes to the CPU, since it was not shrunk: %s", exc)
            small = None
        if small is None:
            return None
        flags = list(header.flags)
        if file.profile:
            converted, flag = to_srgb(Image.fromarray(small), file.profile)
            small = pixels_of(converted)
            flags += [flag] if flag else []
        orientation = upright_orientation(header)
        width, height = header.width, header.height
        if orientation >= 5:
            width, height = height, width
        return Decoded(np.array(turned(small, orientation)), width, height, tuple(flags))

    def _shrunk(self, image: Any, header: Header, short_side: int) -> NDArray[np.uint8] | None:
        """(height, width, 3) on this side; None if it is not the picture that the header states."""
        import torch

        whole = self._whole(header, image)
        if whole is None:
            return None
        width, height = target_size(header.width, header.height, short_side)
        if (width, height) != (header.width, header.height):
            planes = whole.permute(2, 0, 1)[None].float()
            resize = torch.nn.functional.interpolate
            smaller = resize(planes, (height, width), mode="bicubic", antialias=True)
            whole = smaller[0].round_().clamp_(0, 255).byte().permute(1, 2, 0)
        made: NDArray[np.uint8] = whole.contiguous().cpu().numpy()
        return made

    def _whole(self, header: Header, image: Any) -> Any:
        """The tensor, if it is the picture that the header states."""
        import torch

        if image is None:
            return None
        try:
            whole = torch.from_dlpack(image)
        except Exception as exc:  # noqa: BLE001  # as above
            _log.warning("a photo goes to the CPU, since torch does not take it: %s", exc)
            return None
        is_it = whole.dtype == torch.uint8 and whole.shape == (header.height, header.width, 3)
        return whole if is_it else None

    def _chosen(self) -> tuple[tuple[str, ...], float, Any]:
        import simplejpeg

        data = simplejpeg.encode_jpeg(_test_picture(), quality=95, colorsubsampling="420")
        wanted = simplejpeg.decode_jpeg(data, "RGB")
        tried = []
        for names in _ENGINES:
            found = self._tried(names, data, wanted)
            if isinstance(found, str):
                tried.append(f"{'+'.join(names)}: {found}")
                continue
            return names, found[0], found[1]
        raise SettingsError(
            f"no engine of nvImageCodec decodes as libjpeg does ({'; '.join(tried)[:300]})",
            hint="set decode_device = 'cpu'",
        )

    def _tried(
        self, names: Sequence[str], data: bytes, wanted: NDArray[np.uint8]
    ) -> tuple[float, Any] | str:
        import torch

        try:
            kinds = [getattr(self._codec.BackendKind, name) for name in names]
            decoder = self._codec.Decoder(backend_kinds=kinds, options=_OPTIONS)
            (image,) = decoder.decode([self._codec.CodeStream(data)], params=self._parameters)
            if image is None:
                return "it decodes nothing"
            made = torch.from_dlpack(image).cpu().numpy()
        except Exception as exc:  # noqa: BLE001  # whatever the driver says
            return " ".join(str(exc).split())[:80] or type(exc).__name__
        if made.shape != wanted.shape:
            return f"a picture of shape {made.shape}"
        near = _decibels(made, wanted)
        return (near, decoder) if near >= _LEAST_DB else f"its chroma is {near:.0f} dB off"


def open_gpu() -> GpuJpegs:
    """Raises MissingExtraError, or SettingsError where there is no GPU or it decodes wrongly."""
    for module in ("torch", "nvidia.nvimgcodec"):
        if not _is_there(module):
            raise MissingExtraError(module, "gpu-decode", _PURPOSE)
    import torch
    from nvidia import nvimgcodec

    if not torch.cuda.is_available():
        raise SettingsError(
            f"{_PURPOSE}: PyTorch finds no CUDA GPU here", hint="set decode_device = 'cpu'"
        )
    return GpuJpegs(nvimgcodec)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of its parent
        return False


def _opened(at: int, path: bytes, max_pixels: int) -> _File | None:
    """None for what is left to the CPU: other formats, cut-off files, what cannot be opened."""
    try:
        with FileSource(path) as source:
            header = read_header(source)
            check_size(source, header, max_pixels)
            plain = header.format == "JPEG" and header.channels == 3 and header.frame_at
            if not plain or source.size > min(MAX_BYTES, _MOST_BYTES):
                return None
            data = read_all(source)
            if bytes(data[-2:]) != b"\xff\xd9":
                return None
            return _File(at, bytes(data), header, jpeg_profile(data, header))
    except PhotoError:
        return None


def _files(paths: Sequence[bytes], max_pixels: int) -> Iterator[_File]:
    """Those that the GPU may take, each read when it is asked for."""
    for at, path in enumerate(paths):
        file = _opened(at, path, max_pixels)
        if file:
            yield file


def _flags(file: _File) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file.header.flags))


def _parts(files: Iterable[_File], most_pixels: int) -> Iterator[list[_File]]:
    """In runs of bounded memory, by pixels and by the files' own bytes."""
    part: list[_File] = []
    pixels = held = 0
    for file in files:
        more = file.header.width * file.header.height
        if part and (pixels + more > most_pixels or held + len(file.data) > _MOST_BYTES):
            yield part
            part, pixels, held = [], 0, 0
        part.append(file)
        pixels += more
        held += len(file.data)
    if part:
        yield part


def _test_picture() -> NDArray[np.uint8]:
    """Smooth brightness, colours that change from pixel to pixel."""
    down, across = np.mgrid[0:64, 0:96].astype(np.float64)
    red = 128 + 100 * np.sin(across / 3)
    blue = 128 + 100 * np.sin(down / 3)
    green = 255 - (red + blue) / 2
    return np.stack([red, green, blue], axis=-1).round().clip(0, 255).astype(np.uint8)


def _decibels(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    error = float(np.mean((one.astype(np.float64) - other) ** 2))
    return 10 * float(np.log10(255**2 / max(error, 1e-9)))
