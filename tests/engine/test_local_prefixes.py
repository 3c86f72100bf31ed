"""The tree of kept prefixes against a plain list of everything that was ever kept."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from photocraft_local.serving.transformers import prefixes
from photocraft_local.serving.transformers.prefixes import Keys, Prefixes

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch and transformers")

TOKEN = 2 * 2 * 2 * 3 * 8  # bytes: layers, keys and values, heads, size, float64


def layers_of(keys: Keys) -> list[tuple[Any, Any]]:
    """Each token's values follow from all tokens before it, as a model's do."""
    import torch

    sums = np.cumsum(keys * 0.5 + np.arange(len(keys)) ** 2)
    base = torch.from_numpy(sums)[None, None, :, None].expand(1, 2, -1, 3)
    return [(base + layer, base - layer) for layer in range(2)]


def prompt(chance: random.Random) -> Keys:
    """Few kinds of token, so that prompts share beginnings of every length."""
    return np.array([chance.choice((1, 2, -9)) for _ in range(chance.randrange(1, 40))], np.int64)


def assert_same(got: list[tuple[Any, Any]], keys: Keys) -> None:
    import torch

    for one, two in zip(got, layers_of(keys), strict=True):
        for mine, theirs in zip(one, two, strict=True):
            assert torch.equal(mine, theirs)


def test_without_a_limit_every_beginning_is_kept_exactly() -> None:
    chance, tree, seen = random.Random(1), Prefixes(1 << 30), set[tuple[int, ...]]()
    for _ in range(300):
        keys = prompt(chance)
        known = max((n for n in range(len(keys) + 1) if tuple(keys[:n]) in seen), default=0)
        assert tree.longest(keys) == known
        if known:
            assert_same(tree.layers(keys[:known]), keys[:known])
        # More tensors than keys: a reply whose last token did not get through
        more = np.append(keys, 5)
        tree.keep(keys, layers_of(more))
        seen.update(tuple(keys[:n]) for n in range(1, len(keys) + 1))
        assert tree.num_bytes == TOKEN * len(seen)
    tree.clear()
    assert (tree.num_bytes, tree.longest(keys)) == (0, 0)


def test_within_a_limit_what_was_used_last_stays() -> None:
    chance, tree = random.Random(2), Prefixes(60 * TOKEN)
    system = prompt(chance)[:9]
    for _ in range(300):
        keys = np.concatenate([system, prompt(chance)])
        known = tree.longest(keys)
        if known:
            assert_same(tree.layers(keys[:known]), keys[:known])
        tree.keep(keys, layers_of(keys))
        assert tree.num_bytes <= 60 * TOKEN
        assert tree.longest(keys) == len(keys)
        assert tree.num_bytes == sum(
            piece.num_bytes for piece in _all(tree._root) if len(piece.keys)
        )


def test_what_is_longer_than_the_limit_is_not_kept_and_the_limit_holds() -> None:
    tree = Prefixes(10 * TOKEN)
    keys = np.arange(30, dtype=np.int64)
    tree.keep(keys, layers_of(keys))
    assert (tree.longest(keys), tree.num_bytes) == (0, 0)


def _all(piece: Any) -> Any:
    yield piece
    for one in piece.next.values():
        yield from _all(one)


def test_a_running_prompt_never_changes_what_is_kept() -> None:
    import torch

    tree, keys = Prefixes(1 << 20), np.arange(12, dtype=np.int64)
    tree.keep(keys, layers_of(keys))
    taken = tree.layers(keys[:7])
    grown = [(torch.cat([k, k], -2), torch.cat([v, v], -2)) for k, v in taken]
    tree.keep(np.concatenate([keys[:7], np.full(7, 3)]), grown)
    assert_same(tree.layers(keys), keys)


@pytest.mark.parametrize("at", [1, 2])
def test_an_interrupt_amid_a_split_leaves_the_tree_as_it_was(
    monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    tree, keys = Prefixes(1 << 20), np.arange(12, dtype=np.int64)
    tree.keep(keys, layers_of(keys))
    before, left, copied = tree.num_bytes, [at], prefixes._copied

    def stop(layers: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return copied(layers)

    other = np.concatenate([keys[:7], np.full(7, 3)])
    monkeypatch.setattr(prefixes, "_copied", stop)
    with pytest.raises(KeyboardInterrupt):
        tree.keep(other, layers_of(other))
    assert tree.num_bytes == before
    assert_same(tree.layers(keys), keys)
    tree.keep(other, layers_of(other))
    assert_same(tree.layers(other), other)
    assert_same(tree.layers(keys), keys)
    assert tree.num_bytes == TOKEN * (12 + 7)
