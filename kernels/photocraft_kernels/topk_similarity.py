"""The best of some rows for each query: gather, product and choice without a copy of the rows.

The first launch multiplies blocks of the rows where they lie and keeps the best of each block; each
further one keeps the best of what is left. What it should give is in the module of the same stem
with ``_reference``. No vector store calls it: whether it beats torch's own calls has not been
measured on a GPU (benchmarks/topk_similarity.py does).
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

MOST = 1024  # results of a query
WIDTH = 2048  # candidates of which one program keeps the best
NONE = tl.constexpr(-(2**63))  # the key of no row


def topk_similarity(
    store: torch.Tensor,
    rows: torch.Tensor,
    queries: torch.Tensor,
    k: int,
    *,
    block_rows: int = 128,
    warps: int = 8,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores (b, k) fp32 and rows (b, k) int64, best first; equal scores in the order of ``rows``.

    store: (n, dim) fp16, numbers of a row side by side; rows: (m,) int64, k <= m < 2**31;
    queries: (b, dim) fp32, of which 22 bits count: each number goes in as two of fp16.
    ValueError for what does not fit, for a row that is not there or holds no finite numbers.
    Not yet run on a GPU: interpreted, and compiled for sm_80 and sm_90.
    """
    _check(store, rows, queries, k)
    batch, number = len(queries), len(rows)
    if batch == 0 or k == 0:
        return queries.new_empty((batch, k)), rows.new_empty((batch, k))
    queries = queries.contiguous()
    high = queries.to(store.dtype)
    low = (queries - high.float()).to(store.dtype)
    kept = min(k, block_rows)
    blocks = triton.cdiv(number, block_rows)
    keys = torch.empty((batch, blocks * kept), dtype=torch.int64, device=store.device)
    side = max(16, min(64, triton.next_power_of_2(batch)))
    _scored[(triton.cdiv(batch, side), blocks)](
        store, rows.contiguous(), high, low, keys, len(store), number, batch,
        store.shape[1], store.stride(0), kept, QUERIES=side, ROWS=block_rows, DIM=64,
        num_warps=warps,
    )  # fmt: skip
    return _unpacked(_narrowed(keys, k), rows)


def _check(store: torch.Tensor, rows: torch.Tensor, queries: torch.Tensor, k: int) -> None:
    if store.dtype != torch.float16 or store.ndim != 2 or store.stride(1) != 1:
        raise ValueError(f"the store is {store.dtype} of {tuple(store.shape)}, not rows of fp16")
    if rows.dtype != torch.int64 or rows.ndim != 1 or len(rows) >= 2**31:
        raise ValueError(f"rows are {rows.dtype} of {tuple(rows.shape)}, not a list of int64")
    if queries.dtype != torch.float32 or queries.shape[1:] != store.shape[1:]:
        raise ValueError(
            f"queries are {queries.dtype} of {tuple(queries.shape)}, rows have {store.shape[1]}"
        )
    if not 0 <= k <= min(MOST, len(rows)):
        raise ValueError(f"{k} results are wanted of {len(rows)} rows, at most {MOST} are given")


def _narrowed(keys: torch.Tensor, kept: int) -> torch.Tensor:
    """(b, any number) → (b, kept), sorted from the best on."""
    while True:
        batch, number = keys.shape
        parts = triton.cdiv(number, WIDTH)
        # A small rest needs no wide program.
        wide = WIDTH if parts > 1 else triton.next_power_of_2(number)
        fewer = torch.empty((batch, parts * kept), dtype=torch.int64, device=keys.device)
        _best[(batch, parts)](keys, fewer, number, kept, WIDTH=wide, num_warps=8)
        keys = fewer
        if parts == 1:
            return keys


def _unpacked(keys: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    ordered = (keys >> 32).to(torch.int32)
    scores = (ordered ^ ((ordered >> 31) & 0x7FFFFFFF)).view(torch.float32)
    if not bool(torch.isfinite(scores).all()):
        raise ValueError("a row is not in the store, or holds no finite numbers")
    return scores, rows[0xFFFFFFFF - (keys & 0xFFFFFFFF)]


@triton.jit
def _scored(
    store, rows, high, low, keys, stored, number, batch, dim, stride, kept,
    QUERIES: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(1)
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    place = block * ROWS + tl.arange(0, ROWS)
    wanted = place < number
    row = tl.load(rows + place, mask=wanted, other=0)
    there = (row >= 0) & (row < stored)
    score = tl.zeros((QUERIES, ROWS), tl.float32)
    for at in range(0, dim, DIM):
        numbers = at + tl.arange(0, DIM)
        inside = (numbers < dim)[None, :]
        held = (there & wanted)[:, None] & inside
        vectors = tl.load(store + row[:, None] * stride + numbers[None, :], mask=held, other=0.0)
        asked = (query < batch)[:, None] & inside
        places = query[:, None].to(tl.int64) * dim + numbers[None, :]
        score = tl.dot(tl.load(high + places, mask=asked, other=0.0), tl.trans(vectors), score)
        score = tl.dot(tl.load(low + places, mask=asked, other=0.0), tl.trans(vectors), score)
    # Infinity stands for whatever is no score: it comes first, so the caller sees it.
    score = tl.where(there[None, :] & (score == score), score + 0.0, float("inf"))
    # One number that sorts as (score, then the earlier place); + 0.0 made -0.0 equal to 0.0.
    bits = score.to(tl.int32, bitcast=True)
    ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.int64)
    key = (ordered << 32) | (0xFFFFFFFF - place.to(tl.int64))[None, :]
    key = tl.where(wanted[None, :], key, NONE)
    line = keys + query.to(tl.int64) * (tl.num_programs(1) * kept) + block * kept
    for at in range(kept):  # no two keys are equal
        best = tl.max(key, 1)
        tl.store(line + at, best, mask=query < batch)
        key = tl.where(key == best[:, None], NONE, key)


@triton.jit
def _best(keys, fewer, number, kept, WIDTH: tl.constexpr):
    query, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    place = part * WIDTH + tl.arange(0, WIDTH)
    key = tl.load(keys + query * number + place, mask=place < number, other=NONE)
    line = fewer + (query * tl.num_programs(1) + part) * kept
    for at in range(kept):
        best = tl.max(key, 0)
        tl.store(line + at, best)
        key = tl.where(key == best, NONE, key)
