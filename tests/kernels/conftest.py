"""Triton's kernels without a GPU: its interpreter runs them on the CPU.

They need torch and triton, which no extra for the CPU brings (scripts/test --kernels does); where
they are missing each test here is skipped and says so, unless PHOTOCRAFT_TEST_KERNELS is set.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
WHY = "TRITON ABSENT: the kernel tests need torch and triton (scripts/test --kernels)"
PRESENT = find_spec("torch") is not None and find_spec("triton") is not None

if os.environ.get("PHOTOCRAFT_TEST_KERNELS") and not PRESENT:
    raise pytest.UsageError("the kernel tests are wanted, and torch or triton is not installed")
if PRESENT:
    os.environ["TRITON_INTERPRET"] = "1"  # read once, when a kernel is defined


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.filterwarnings("ignore"), append=False)
        item.add_marker(pytest.mark.filterwarnings("error:::photocraft_kernels"))
        if not PRESENT:
            item.add_marker(pytest.mark.skip(reason=WHY))
