"""Texts that come from outside, made safe for everything below: a lone surrogate has no UTF-8."""

from __future__ import annotations

from typing import overload


@overload
def plain(text: str) -> str: ...


@overload
def plain(text: None) -> None: ...


def plain(text: str | None) -> str | None:
    """``text`` with each lone surrogate (an undecodable byte of an argument) replaced by "?"."""
    return text if text is None else text.encode("utf-8", "replace").decode("utf-8")
