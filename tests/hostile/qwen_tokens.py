"""A small tokenizer with all tokens that the Qwen-VL families add, so that a text that holds one
is seen as the engine would see it."""

from __future__ import annotations

from functools import cache
from typing import Any

from attack_texts import CONTROL


@cache
def tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
    from tokenizers.trainers import BpeTrainer

    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(["answer the question by the lake"] * 9, trainer)
    marks = [AddedToken(mark, special="|" in mark, normalized=False) for mark in CONTROL]
    made.add_tokens(marks)
    return made


def control_tokens(text: str) -> list[str]:
    """Those of ``text``, in their order."""
    names = {tokenizer().token_to_id(mark): mark for mark in CONTROL}
    ids = tokenizer().encode(text, add_special_tokens=False).ids
    return [names[one] for one in ids if one in names]
