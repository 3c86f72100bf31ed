"""Inner products with the rows of an fp16 store, block by block, in buffers that are reused.

NumPy's own half-to-single cast goes element by element (1.4 ns each on a Sapphire Rapids core,
FAISS's decoder 1.0 ns). Shifting the bits into place takes 0.6 ns: a half's sign, exponent and
mantissa moved into a float32 read as the value times 2**-112, subnormals included, so that one
exact multiplication by 2**112 gives the value. Infinities and NaN would come out wrong; the
store holds neither.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Halves = NDArray[np.float16]
Singles = NDArray[np.float32]
Rows = NDArray[np.intp]
_Real = TypeVar("_Real", np.float32, np.float64)

_UNBIAS = np.float32(2.0**112)
_SHIFT = np.int32(13)
_SIGN_EXPONENT_MANTISSA = np.int32(-0x7000_2000)  # 0x8FFFE000: drops the copies of the sign

# 2**16 elements a block: halves and singles stay in any L2 cache. Eight queries a product:
# 2**19 multiply-adds are what OpenBLAS still answers on the calling thread with its kernel for
# small matrices. Larger products wake its other threads, which then spin between blocks: twice
# the CPU time on an idle machine, ten times on a busy one.
_BLOCK_ELEMENTS = 1 << 16
_QUERIES = 8


class HalfProducts:
    """Products of queries with rows of one store. Holds buffers: one thread at a time."""

    def __init__(self, store: Halves) -> None:
        self._bits = np.asarray(store).view(np.int16)
        dim = store.shape[1]
        self._block = max(1, _BLOCK_ELEMENTS // max(dim, 1))
        self._gathered = np.empty((self._block, dim), np.int16)
        self._wide = np.empty((self._block, dim), np.int32)
        self._singles = self._wide.view(np.float32)

    def of_rows(self, queries: Singles, rows: Rows, out: Singles) -> None:
        """``out[i, j] = queries[i] · row[rows[j]]``: queries (b, dim), rows (m,) in range, out
        (b, m)."""
        for at in range(0, len(rows), self._block):
            chosen = rows[at : at + self._block]
            _products(queries, self._widened(self._fetched(chosen)), out[:, at : at + len(chosen)])

    def exact_of_rows(self, queries: Singles, rows: Rows, out: Singles) -> None:
        """The same, summed in double precision and rounded once (stores/exact.py)."""
        wide = queries.astype(np.float64)
        for at in range(0, len(rows), self._block):
            chosen = rows[at : at + self._block]
            block = self._widened(self._fetched(chosen)).astype(np.float64)
            _products(wide, block, out[:, at : at + len(chosen)])

    def _fetched(self, rows: Rows) -> NDArray[np.int16]:
        """The rows' bits; a run of rows is read where it lies."""
        first = int(rows[0])
        if int(rows[-1]) - first + 1 == len(rows) and (rows[1:] > rows[:-1]).all():
            return self._bits[first : first + len(rows)]
        gathered = self._gathered[: len(rows)]
        # mode="clip" writes straight into the buffer; the default checks through a copy.
        np.take(self._bits, rows, axis=0, out=gathered, mode="clip")
        return gathered

    def _widened(self, block: NDArray[np.int16]) -> Singles:
        wide, singles = self._wide[: len(block)], self._singles[: len(block)]
        np.copyto(wide, block)
        np.left_shift(wide, _SHIFT, out=wide)
        np.bitwise_and(wide, _SIGN_EXPONENT_MANTISSA, out=wide)
        # Scaling the queries instead would save this pass, but products with subnormal floats
        # take a microcode assist each: the product doubles its time.
        np.multiply(singles, _UNBIAS, out=singles)
        return singles


def _products(queries: NDArray[_Real], block: NDArray[_Real], out: Singles) -> None:
    columns = block.T
    for at in range(0, len(queries), _QUERIES):
        some, to = queries[at : at + _QUERIES], out[at : at + _QUERIES]
        np.matmul(some, columns, out=to, casting="same_kind")
