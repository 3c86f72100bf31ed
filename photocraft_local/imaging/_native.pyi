# The C extension of native/crop_resize; absent where it could not be built.
from typing import Any

from numpy.typing import NDArray

def crop_resize(
    pixels: NDArray[Any],
    out: NDArray[Any],
    table: NDArray[Any] | None,
    height: int,
    width: int,
    patch: int,
    merge: int,
    copies: int,
    filter: int,
    vectors: str,
    /,
) -> None: ...
def vectors() -> str: ...
