"""A small byte-level BPE with the families' special tokens, trained on words of this repository.

Knows how Qwen cuts text and which tokens it adds; knows no model. words.tsv holds the pieces of
the pages, prompts and tool descriptions with their counts, as of the day it was made: an edit of
a page changes no tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as cuts
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

WORDS = Path(__file__).resolve().parent / "words.tsv"
LEARNED = 2048  # tokens of bytes and merges, before the added ones

END_OF_TEXT, END_OF_TURN = "<|endoftext|>", "<|im_end|>"
# In the order of the published vocabularies; a decoder that skips special tokens drops these.
SPECIAL = (
    END_OF_TEXT,
    "<|im_start|>",
    END_OF_TURN,
    *(f"<|{what}_{end}|>" for what in ("object_ref", "box", "quad") for end in ("start", "end")),
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
# One token each as well, but text to a decoder.
PLAIN = (
    "<tool_call>",
    "</tool_call>",
    *(f"<|fim_{part}|>" for part in ("prefix", "middle", "suffix", "pad")),
    "<|repo_name|>",
    "<|file_sep|>",
)
PLAIN_SINCE_QWEN3 = ("<tool_response>", "</tool_response>", "<think>", "</think>")


def corpus() -> Iterator[str]:
    """Each piece of words.tsv as often as it was counted."""
    for line in WORDS.read_text("utf-8").splitlines():
        count, piece = line.split("\t")
        yield from [piece] * int(count)


def train(since_qwen3: bool) -> PreTrainedTokenizerFast:
    """The tokenizer of a family: ``LEARNED`` + 22 tokens, 26 since Qwen3."""
    core = Tokenizer(models.BPE())
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = cuts.Sequence(
        [
            cuts.Split(Regex(PRETOKENIZE_REGEX), behavior="isolated"),
            cuts.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    alphabet = cuts.ByteLevel.alphabet()
    core.train_from_iterator(
        corpus(), BpeTrainer(vocab_size=LEARNED, initial_alphabet=alphabet, show_progress=False)
    )
    if core.get_vocab_size() != LEARNED:
        raise ValueError(f"too little text for {LEARNED} tokens: {core.get_vocab_size()}")
    plain = PLAIN + (PLAIN_SINCE_QWEN3 if since_qwen3 else ())
    core.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL]
    )
    core.add_tokens([AddedToken(token, special=False, normalized=False) for token in plain])
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=END_OF_TURN,
        pad_token=END_OF_TEXT,
        additional_special_tokens=list(SPECIAL[1:]),
        model_max_length=262144 if since_qwen3 else 131072,
        clean_up_tokenization_spaces=False,
    )
