"""Attention of several sequences that lie one behind another, none of which sees the next.

No sequence is padded. Of three ways the first that works on the device is taken, by trying it:
xFormers' block-diagonal masks, PyTorch's varlen (flash) attention, and a loop of PyTorch's own
attention over the blocks. Knows no model; transformers is told of the way by ``install``.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

# (tokens, heads, size) queries, keys and values, the blocks' ends (n + 1,) int32 from 0 on, the
# longest block, scale, causal → (tokens, heads, size). Keys may have fewer heads.
Attend = Callable[[Any, Any, Any, Any, int, float, bool], Any]

_PROBE = (5, 11, 8)  # tokens of the blocks of a trial
# As the layers of text and those of pictures ask: heads of keys, numbers of a head, causal or not.
_TRIALS = ((2, 128, True), (4, 72, False))
_TOLERANCE = 0.05  # 16-bit numbers of size 1


@dataclass(frozen=True, slots=True)
class Way:
    """``why``: what was tried before and did not work, for a person to read."""

    name: str
    why: str
    attend: Attend


class Blocks:
    """The lengths of a pass's blocks on this side, and the masks that were made of them."""

    def __init__(self, ends: Any) -> None:
        self.lengths: tuple[int, ...] = tuple((ends[1:] - ends[:-1]).tolist())
        self._masks: dict[bool, Any] = {}

    def mask(self, masks: Any, causal: bool) -> Any:
        if causal not in self._masks:
            kind = masks.BlockDiagonalCausalMask if causal else masks.BlockDiagonalMask
            self._masks[causal] = kind.from_seqlens(list(self.lengths))
        return self._masks[causal]


class _Last(threading.local):
    """The blocks that this thread attended to last. Every layer of a pass has the same ones, and
    reading them waits for all that the device has still to do."""

    def __init__(self) -> None:
        self._ends: Callable[[], Any] = lambda: None
        self._blocks: Blocks | None = None

    def of(self, ends: Any) -> Blocks:
        """``ends`` must not be written to while it is in use."""
        if self._blocks is None or self._ends() is not ends:
            self._blocks = Blocks(ends)
            self._ends = weakref.ref(ends)
        return self._blocks


_blocks = _Last()


def by_sdpa(
    query: Any, key: Any, value: Any, ends: Any, longest: int, scale: float, causal: bool
) -> Any:
    """Block by block, on any device and in any numbers."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention

    del longest
    lengths = list(_blocks.of(ends).lengths)
    shared = key.shape[1] != query.shape[1]
    whole = [part.transpose(0, 1).split(lengths, dim=1) for part in (query, key, value)]
    blocks = [
        attention(q[None], k[None], v[None], is_causal=causal, scale=scale, enable_gqa=shared)[0]
        for q, k, v in zip(*whole, strict=True)
    ]
    return torch.cat(blocks, dim=1).transpose(0, 1)


def by_varlen(
    query: Any, key: Any, value: Any, ends: Any, longest: int, scale: float, causal: bool
) -> Any:
    """One kernel for all blocks; PyTorch has it for CUDA and 16-bit numbers."""
    from torch.nn.attention.varlen import varlen_attn

    return varlen_attn(
        query.contiguous(),
        key.contiguous(),
        value.contiguous(),
        ends,
        ends,
        longest,
        longest,
        scale=scale,
        window_size=(-1, 0) if causal else (-1, -1),
        enable_gqa=key.shape[1] != query.shape[1],
    )


def by_xformers(
    query: Any, key: Any, value: Any, ends: Any, longest: int, scale: float, causal: bool
) -> Any:
    """xFormers' kernels, which were built for one release of PyTorch and CUDA."""
    ops = _xformers()
    del longest
    bias = _blocks.of(ends).mask(ops.fmha.attn_bias, causal)
    times = query.shape[1] // key.shape[1]
    if times > 1:
        key, value = (part.repeat_interleave(times, dim=1) for part in (key, value))
    rows = (part[None].contiguous() for part in (query, key, value))
    return ops.memory_efficient_attention(*rows, attn_bias=bias, scale=scale)[0]


WAYS: tuple[tuple[str, Attend], ...] = (
    ("xformers", by_xformers),
    ("varlen", by_varlen),
    ("sdpa", by_sdpa),
)
_WORDS = {
    "xformers": "xFormers' block-diagonal attention",
    "varlen": "PyTorch's varlen attention",
    "sdpa": "PyTorch's attention, block by block",
}


def describe(way: Way) -> str:
    return f"{_WORDS[way.name]}{': ' * bool(way.why)}{way.why}"


@lru_cache(maxsize=8)
def choose(device: str, dtype: str) -> Way:
    """The first of ``WAYS`` that runs there and gives what the last one gives, of text and of
    pictures."""
    tried: list[str] = []
    for name, attend in WAYS[:-1]:
        try:
            off = _off(attend, device, dtype)
        except Exception as exc:  # noqa: BLE001 - kernels raise anything; the next way is tried
            tried.append(f"{name}: {_cause(exc)}")
            continue
        if off < _TOLERANCE:
            return Way(name, "; ".join(tried), attend)
        tried.append(f"{name}: its numbers are off by {off:.2g}")
    return Way("sdpa", "; ".join(tried), by_sdpa)


def _off(attend: Attend, device: str, dtype: str) -> float:
    """The largest difference to ``by_sdpa`` in the trials. Raises whatever the way raises."""
    import torch

    numbers = torch.Generator().manual_seed(3)
    ends = torch.tensor([0, *_PROBE], device=device).cumsum(0, dtype=torch.int32)
    most = 0.0
    for shared, size, causal in _TRIALS:
        drawn = [torch.randn((sum(_PROBE), 4, size), generator=numbers) for _ in range(3)]
        query, key, value = (part.to(device, getattr(torch, dtype)) for part in drawn)
        trial = (query, key[:, :shared], value[:, :shared], ends, max(_PROBE), size**-0.5, causal)
        off = (attend(*trial).float() - by_sdpa(*trial).float()).abs().max()
        most = max(most, float(off)) if off.isfinite() else float("inf")
    return most


def install(model: Any, way: Way) -> None:
    """Makes ``model`` of transformers attend that way; its forward passes then need
    ``cu_seq_lens_q`` and ``max_length_q`` of the text, those of pictures it has itself."""
    from transformers import AttentionInterface

    # transformers hands whole rows, and no mask, to what is called flash.
    name = f"photocraft_flash_{way.name}"

    def attend(
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any = None,
        *,
        cu_seq_lens_q: Any,
        max_length_q: int,
        scaling: float,
        is_causal: bool | None = None,
        **_: Any,
    ) -> tuple[Any, None]:
        del attention_mask
        causal = bool(module.is_causal) if is_causal is None else is_causal
        q, k, v = (part[0].transpose(0, 1) for part in (query, key, value))  # (tokens, heads, size)
        return way.attend(q, k, v, cu_seq_lens_q, max_length_q, scaling, causal)[None], None

    AttentionInterface.register(name, attend)
    for part in model.modules():
        config = getattr(part, "config", None)
        if config is not None and hasattr(config, "_attn_implementation"):
            config._attn_implementation = name


def _xformers() -> Any:
    if find_spec("xformers") is None:
        raise RuntimeError("not installed (the 'xformers' extra)")
    logging.getLogger("xformers").setLevel(logging.ERROR)  # we say ourselves what does not load
    import xformers.ops

    return xformers.ops


def _cause(exc: Exception) -> str:
    first = next((line.strip() for line in str(exc).splitlines() if line.strip()), "")
    return first.partition(". ")[0].rstrip(":")[:160] or type(exc).__name__
