"""The best of some rows for each query, in plain torch and fp32: gathered, multiplied, sorted.

What the kernel of the same stem is compared with.
"""

from __future__ import annotations

import torch


def topk_similarity_reference(
    store: torch.Tensor, rows: torch.Tensor, queries: torch.Tensor, k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores (b, k) fp32 and rows (b, k), best first; equal scores in the order of ``rows``.

    store: (n, dim) of any floating kind; rows: (m,) int64, m >= k; queries: (b, dim).
    """
    scores = queries.float() @ store[rows].float().T
    best, places = torch.sort(scores, dim=1, descending=True, stable=True)
    return best[:, :k], rows[places[:, :k]]
