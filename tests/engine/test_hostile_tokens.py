"""A library of attacks, as the families' own tokenizers and chat templates read its prompts: not a
control token more than its clean twin has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "hostile"))
from attack_texts import CONTROL
from obedient import NUM_STEPS, Obedient, templated
from twins import Twin, ask_model, make_twin

from photocraft_local.serving.tool_calls import Form


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> list[Twin]:
    base = tmp_path_factory.mktemp("twins")
    return [
        make_twin(base / str(kind), shared_cache, hostile=kind, pages=False)
        for kind in (True, False)
    ]


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("family", ["qwen2.5-vl", "qwen3-vl"])
def test_the_families_read_the_same_control_tokens(
    family: str, form: Form, twins: list[Twin], checkpoint: Callable[..., Path]
) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(checkpoint(family))
    added = {number: mark for mark, number in tokenizer.get_added_vocab().items()}
    assert {"<|im_start|>", "<|im_end|>", "<|image_pad|>"} <= set(added.values()) <= set(CONTROL)
    told = []
    for twin in twins:
        model = Obedient(form)
        ask_model(twin, model, "the photos of 2021 that a Nikon took", memory=False)
        assert model.obeyed == ""
        assert len(model.messages) == NUM_STEPS
        texts = [
            tokenizer.apply_chat_template(
                templated(messages, form), tokenize=False, add_generation_prompt=True
            )
            for messages in model.messages
        ]
        ids = tokenizer(texts, add_special_tokens=False)["input_ids"]
        told.append([[added[one] for one in prompt if one in added] for prompt in ids])
    assert told[0] == told[1]
    assert all(len(prompt) >= 7 for prompt in told[0])  # two a message, and the opening
