# The C extension of native/vector_search; absent where it could not be built.
from typing import Any

from numpy.typing import NDArray

def top_k(
    store: NDArray[Any],
    rows: NDArray[Any] | None,
    queries: NDArray[Any],
    scores: NDArray[Any],
    found: NDArray[Any],
    vectors: str,
    /,
) -> int | None: ...
def scores(
    store: NDArray[Any],
    rows: NDArray[Any] | None,
    queries: NDArray[Any],
    scores: NDArray[Any],
    vectors: str,
    /,
) -> None: ...
def vectors() -> str: ...
