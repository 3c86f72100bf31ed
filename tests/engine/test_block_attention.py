"""Attention over blocks that lie one behind another: each way equals padded attention."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

LENGTHS = ([7, 1, 33, 12], [1], [64, 64], [5, 130, 2])
SCALE = 32**-0.5


def drawn(lengths: list[int], heads: int, shared: int) -> tuple[Any, Any, Any, Any]:
    """Queries, keys and values (tokens, heads, 32), and the blocks' ends."""
    import torch

    numbers = torch.Generator().manual_seed(sum(lengths))
    rows = [
        torch.randn((sum(lengths), count, 32), generator=numbers)
        for count in (heads, shared, shared)
    ]
    return (*rows, torch.tensor([0, *lengths]).cumsum(0, dtype=torch.int32))


def padded(
    query: Any, key: Any, value: Any, ends: Any, longest: int, scale: float, causal: bool
) -> Any:
    """The reference: a batch with a mask over what was padded, in plain products."""
    import torch

    lengths = (ends[1:] - ends[:-1]).tolist()
    times = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(times, dim=1) for part in (key, value))

    def batch(rows: Any) -> Any:
        whole = torch.zeros(len(lengths), longest, *rows.shape[1:])
        for at, (start, count) in enumerate(zip(ends.tolist(), lengths, strict=False)):
            whole[at, :count] = rows[start : start + count]
        return whole.transpose(1, 2)

    scores = batch(query) @ batch(key).transpose(2, 3) * scale
    there = torch.arange(longest) < torch.tensor(lengths)[:, None]
    scores = scores.masked_fill(~there[:, None, None], float("-inf"))
    if causal:
        later = torch.ones(longest, longest, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    made = (scores.softmax(-1) @ batch(value)).transpose(1, 2)
    return torch.cat([made[at, :count] for at, count in enumerate(lengths)])


@contextmanager
def flash_on_the_cpu() -> Iterator[list[tuple[int, int]]]:
    """PyTorch's flash kernel, which exists for CUDA only, worked out by ``padded`` on the CPU: so
    PyTorch's own varlen function runs, with what it checks and passes on."""
    import torch

    calls: list[tuple[int, int]] = []

    def kernel(
        q: Any, k: Any, v: Any, ends: Any, _: Any, longest: int, most: int, *rest: Any, **named: Any
    ) -> Any:
        calls.append((longest, most))
        causal = bool(rest[1]) or (named.get("window_size_right") == 0)
        scale = named.get("scale")
        made = padded(q, k, v, ends, longest, scale, causal)
        nothing = torch.empty(0)
        return made, nothing, nothing, nothing, nothing

    library = torch.library.Library("aten", "IMPL")
    library.impl("_flash_attention_forward", kernel, "CPU")
    try:
        yield calls
    finally:
        library._destroy()


@contextmanager
def xformers_on_the_cpu() -> Iterator[list[str]]:
    """What ``by_xformers`` calls of xFormers, worked out by ``padded``."""
    import torch

    used: list[str] = []

    class Mask:
        def __init__(self, lengths: list[int]) -> None:
            self.lengths = lengths

        @classmethod
        def from_seqlens(cls, lengths: list[int]) -> Mask:
            return cls(lengths)

    class Causal(Mask):
        pass

    def attention(q: Any, k: Any, v: Any, attn_bias: Mask, scale: float) -> Any:
        used.append(type(attn_bias).__name__)
        assert q.shape == k.shape == v.shape  # it knows no shared heads in this layout
        ends = torch.tensor([0, *attn_bias.lengths]).cumsum(0)
        longest = max(attn_bias.lengths)
        causal = isinstance(attn_bias, Causal)
        return padded(q[0], k[0], v[0], ends, longest, scale, causal)[None]

    masks = SimpleNamespace(BlockDiagonalMask=Mask, BlockDiagonalCausalMask=Causal)
    ops = ModuleType("xformers.ops")
    ops.fmha = SimpleNamespace(attn_bias=masks)  # type: ignore[attr-defined]
    ops.memory_efficient_attention = attention  # type: ignore[attr-defined]
    package = ModuleType("xformers")
    package.ops = ops  # type: ignore[attr-defined]
    package.__spec__ = SimpleNamespace()  # type: ignore[assignment]
    sys.modules |= {"xformers": package, "xformers.ops": ops}
    try:
        yield used
    finally:
        del sys.modules["xformers"], sys.modules["xformers.ops"]


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shared", [4, 2])
def test_each_way_equals_padded_attention(lengths: list[int], causal: bool, shared: int) -> None:
    from photocraft_local.embeddings.qwen import attention

    rows = drawn(lengths, 4, shared)
    expected = padded(*rows, max(lengths), SCALE, causal).numpy()

    def check(attend: attention.Attend) -> None:
        made = attend(*rows, max(lengths), SCALE, causal)
        np.testing.assert_allclose(made.numpy(), expected, atol=2e-6)

    check(attention.by_sdpa)
    with flash_on_the_cpu() as calls:
        check(attention.by_varlen)
    assert calls == [(max(lengths), max(lengths))]
    with xformers_on_the_cpu() as used:
        check(attention.by_xformers)
    assert used == ["Causal" if causal else "Mask"]


def test_the_blocks_of_a_pass_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from photocraft_local.embeddings.qwen import attention

    made: list[tuple[int, ...]] = []
    begin = attention.Blocks.__init__

    def counted(self: Any, ends: Any) -> None:
        begin(self, ends)
        made.append(self.lengths)

    monkeypatch.setattr(attention.Blocks, "__init__", counted)
    *one, ends = drawn([6, 9], 4, 4)
    *other, ends_there = drawn([3, 12], 4, 4)
    for attend in (attention.by_sdpa, attention.by_xformers):
        made.clear()
        with xformers_on_the_cpu():
            layers = [attend(*one, ends, 9, SCALE, causal) for causal in (False, True) * 3]
            assert made == ([(6, 9)] if attend is attention.by_sdpa else [])
            attend(*other, ends_there, 12, SCALE, False)
            attend(*one, ends, 9, SCALE, False)
        for at, causal in enumerate((False, True) * 3):
            expected = padded(*one, ends, 9, SCALE, causal).numpy()
            np.testing.assert_allclose(layers[at].numpy(), expected, atol=2e-6)
        assert made[-2:] == [(3, 12), (6, 9)]


def test_no_block_sees_another() -> None:
    from photocraft_local.embeddings.qwen.attention import by_sdpa

    query, key, value, ends = drawn([6, 9], 4, 4)
    before = by_sdpa(query, key, value, ends, 9, SCALE, False)
    key[6:], value[6:] = 100.0, -100.0
    after = by_sdpa(query, key, value, ends, 9, SCALE, False)
    np.testing.assert_array_equal(before[:6].numpy(), after[:6].numpy())
    assert not np.allclose(before[6:].numpy(), after[6:].numpy())


def test_the_way_is_tried_before_it_is_taken() -> None:
    from photocraft_local.embeddings.qwen.attention import choose, describe

    choose.cache_clear()
    way = choose("cpu", "float32")  # neither of the other two has a kernel for the CPU
    assert way.name == "sdpa"
    assert "xformers: " in way.why
    assert "varlen: " in way.why
    assert "block by block: xformers" in describe(way)
    choose.cache_clear()
    with flash_on_the_cpu():
        assert choose("cpu", "float32").name == "varlen"
    choose.cache_clear()
    with xformers_on_the_cpu():
        assert choose("cpu", "float32").name == "xformers"
    choose.cache_clear()


def test_a_way_with_wrong_numbers_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(query: Any, *_: Any) -> Any:
        return query * 0

    way = chosen_of(monkeypatch, wrong)
    assert way.name == "sdpa"
    assert "its numbers are off" in way.why


def chosen_of(monkeypatch: pytest.MonkeyPatch, attend: Any) -> Any:
    """What is chosen where ``attend`` stands in front."""
    from photocraft_local.embeddings.qwen import attention

    monkeypatch.setattr(attention, "WAYS", (("varlen", attend), ("sdpa", attention.by_sdpa)))
    attention.choose.cache_clear()
    way = attention.choose("cpu", "float32")
    attention.choose.cache_clear()
    return way


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (lambda size, heads, causal: not causal, "no kernel"),  # of the vision tower alone
        (lambda size, heads, causal: causal, "no kernel"),
        (lambda size, heads, causal: size == 72, "no kernel"),  # a head of the 8B's vision tower
        (lambda size, heads, causal: size == 128, "no kernel"),
        (lambda size, heads, causal: heads == 2, "no kernel"),  # keys that heads share
        (lambda size, heads, causal: None, "off by inf"),
    ],
)
def test_a_way_has_to_work_for_text_and_for_pictures(
    monkeypatch: pytest.MonkeyPatch, fails: Any, said: str
) -> None:
    from photocraft_local.embeddings.qwen import attention

    def partly(q: Any, k: Any, v: Any, ends: Any, longest: int, scale: float, causal: bool) -> Any:
        verdict = fails(q.shape[2], k.shape[1], causal)
        if verdict:
            raise RuntimeError("there is no kernel for that")
        made = attention.by_sdpa(q, k, v, ends, longest, scale, causal)
        return made if verdict is not None else made * float("nan")

    way = chosen_of(monkeypatch, partly)
    assert way.name == "sdpa"
    assert said in way.why
