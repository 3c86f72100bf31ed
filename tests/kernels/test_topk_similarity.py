"""The kernel of filtered search under Triton's interpreter, against the fp32 reference."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="TRITON ABSENT: no torch")
pytest.importorskip("triton", reason="TRITON ABSENT: no triton")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from photocraft_kernels import topk_similarity as kernel  # noqa: E402
from photocraft_kernels.topk_similarity_reference import topk_similarity_reference  # noqa: E402

TOLERANCE = 2e-6  # of scores of about -1 … 1: 22 bits of a query, and fp32 sums in another order


def drawn(n: int, dim: int, batch: int) -> tuple[Any, Any]:
    dice = torch.Generator().manual_seed(0)
    store = torch.randn(n, dim, generator=dice)
    queries = torch.randn(batch, dim, generator=dice)
    unit = torch.nn.functional.normalize
    return unit(store).half(), unit(queries)


def whole_numbers(n: int, dim: int, batch: int, seed: int = 0) -> tuple[Any, Any]:
    """Small ones: every sum is exact, and many are equal."""
    dice = torch.Generator().manual_seed(seed)
    store = torch.randint(-2, 3, (n, dim), generator=dice)
    return store.half(), torch.randint(-2, 3, (batch, dim), generator=dice).float()


def test_it_is_the_interpreter_that_runs() -> None:
    for each in (kernel._scored, kernel._best):
        assert type(each).__name__ == "InterpretedFunction"


@pytest.mark.parametrize(
    ("n", "dim", "batch", "m", "k"),
    [(300, 768, 2, 201, 50), (40, 5, 1, 1, 1), (90, 100, 17, 77, 7), (150, 64, 65, 90, 40)],
)
def test_scores_and_rows(n: int, dim: int, batch: int, m: int, k: int) -> None:
    store, queries = drawn(n, dim, batch)
    rows = torch.randperm(n, generator=torch.Generator().manual_seed(1))[:m].sort().values
    scores, found = kernel.topk_similarity(store, rows, queries, k)
    wanted, _ = topk_similarity_reference(store, rows, queries, k)
    assert scores.shape == found.shape == (batch, k)
    assert (scores - wanted).abs().max() <= TOLERANCE
    # The rows' own scores are those told, and none comes twice.
    own = torch.einsum("bd,bkd->bk", queries, store[found].float())
    assert (own - scores).abs().max() <= TOLERANCE
    assert all(len(set(line)) == k and set(line) <= set(rows.tolist()) for line in found.tolist())


@pytest.mark.parametrize("k", [1, 30, 64, 65, 200])
def test_equal_scores_come_in_the_order_of_the_rows(k: int) -> None:
    store, queries = whole_numbers(260, 3, 5)
    rows = torch.arange(10, 250)
    scores, found = kernel.topk_similarity(store, rows, queries, k, block_rows=64)
    wanted, there = topk_similarity_reference(store, rows, queries, k)
    assert torch.equal(scores, wanted)
    assert torch.equal(found, there)


def test_many_candidates_are_narrowed_in_several_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "WIDTH", 128)
    store, queries = whole_numbers(700, 2, 2)
    rows = torch.arange(700)
    found = kernel.topk_similarity(store, rows, queries, 40, block_rows=64)
    wanted = topk_similarity_reference(store, rows, queries, 40)
    assert all(torch.equal(*pair) for pair in zip(found, wanted, strict=True))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.integers(1, 70), st.integers(1, 9), st.integers(1, 4), st.integers(0, 99), st.integers(1, 70)
)
def test_any_small_shape(n: int, dim: int, batch: int, seed: int, k: int) -> None:
    store, queries = whole_numbers(n, dim, batch, seed)
    rows = torch.arange(n)
    found = kernel.topk_similarity(store, rows, queries, min(k, n), block_rows=32)
    wanted = topk_similarity_reference(store, rows, queries, min(k, n))
    assert all(torch.equal(*pair) for pair in zip(found, wanted, strict=True))


def test_a_longer_query_has_longer_scores_and_a_worse_row_changes_nothing() -> None:
    store, queries = drawn(70, 48, 3)
    rows = torch.arange(60)
    scores, found = kernel.topk_similarity(store, rows, queries, 9)
    twice, same = kernel.topk_similarity(store, rows, 2 * queries, 9)
    assert (twice - 2 * scores).abs().max() <= TOLERANCE  # fp16 keeps less of the smallest
    assert torch.equal(same, found)
    store[65] = 0
    more = torch.cat([rows, torch.tensor([65])])
    again, still = kernel.topk_similarity(store, more, queries, 9)
    assert torch.equal(again, scores)
    assert torch.equal(still, found)


def test_inputs_may_lie_anyhow() -> None:
    padded, queries = drawn(50, 40, 6)
    store, turned = padded[:, :33], queries[:, :33].T.contiguous().T
    rows = torch.arange(100)[::2].flip(0)[:45]
    assert not store.is_contiguous()
    scores, found = kernel.topk_similarity(padded[:, :33], rows // 2, turned, 4)
    wanted = kernel.topk_similarity(store.contiguous(), rows // 2, turned.contiguous(), 4)
    assert torch.equal(scores, wanted[0])
    assert torch.equal(found, wanted[1])


@pytest.mark.parametrize(("batch", "m", "k"), [(3, 0, 0), (0, 5, 2), (2, 5, 0)])
def test_nothing_is_an_empty_answer(batch: int, m: int, k: int) -> None:
    store, queries = drawn(5, 8, batch)
    scores, found = kernel.topk_similarity(store, torch.arange(m), queries, k)
    assert scores.shape == found.shape == (batch, k)


@pytest.mark.parametrize("spoilt", ["nan", "inf", "-inf", "row", "negative row"])
def test_a_damaged_row_or_one_that_is_not_there_is_no_answer(spoilt: str) -> None:
    store, queries = drawn(20, 16, 2)
    rows = torch.arange(20)
    if "row" in spoilt:
        rows[7] = 10**12 if spoilt == "row" else -1
    else:
        store[7, 3] = float(spoilt)
        store[7, 4] = -float(spoilt)
    with pytest.raises(ValueError, match="not in the store, or holds no finite"):
        kernel.topk_similarity(store, rows, queries, 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"store": torch.zeros(9, 8)}, "store is torch.float32"),
        ({"store": torch.zeros(8, 9, dtype=torch.float16).T}, "store is"),
        ({"rows": torch.arange(9, dtype=torch.int32)}, "rows are torch.int32"),
        ({"queries": torch.zeros(2, 7)}, "rows have 8"),
        ({"queries": torch.zeros(2, 8, dtype=torch.float16)}, "queries are torch.float16"),
        ({"k": 10}, "10 results are wanted of 9 rows"),
        ({"k": -1}, "-1 results"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], words: str) -> None:
    given = {
        "store": torch.zeros(9, 8, dtype=torch.float16),
        "rows": torch.arange(9),
        "queries": torch.zeros(2, 8),
        "k": 3,
    }
    with pytest.raises(ValueError, match=words):
        kernel.topk_similarity(**(given | change))


COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from photocraft_kernels.topk_similarity import _best, _scored

def compiled(kernel, capability, types, given):
    types |= {name: "constexpr" for name in given}
    source = ASTSource(fn=kernel, signature=types, constexprs=given)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32),
                          options={"num_warps": 8})

for capability in (80, 90):
    for side in (16, 64):
        types = dict.fromkeys(("store", "high", "low"), "*fp16") | {"rows": "*i64", "keys": "*i64"}
        types |= dict.fromkeys(("stored", "number", "batch", "dim", "stride", "kept"), "i32")
        made = compiled(_scored, capability, types,
                        {"QUERIES": side, "ROWS": 128, "DIM": 64})
        product = "wgmma" in made.asm["ptx"] or "mma.sync" in made.asm["ptx"]
        print(capability, product, len(made.asm["cubin"]))
    types = {"keys": "*i64", "fewer": "*i64", "number": "i32", "kept": "i32"}
    made = compiled(_best, capability, types, {"WIDTH": 2048})
    print(capability, True, len(made.asm["cubin"]))
"""


def test_it_compiles_for_two_generations_without_a_gpu(root: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "TRITON_INTERPRET": "0",
        "TRITON_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(root / "kernels"), *filter(None, sys.path)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["80"] * 3 + ["90"] * 3
    assert all(line[1] == "True" and int(line[2]) > 5_000 for line in lines)
