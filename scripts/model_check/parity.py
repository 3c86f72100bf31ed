"""One family on two devices: the same greedy tokens, kept prefixes, pictures, constrained calls."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from server_check.findings import Report

from model_check.opening import Opened, open_on, picture, user
from photocraft_local.serving.transformers.prefixes import Prefixes
from photocraft_local.serving.transformers.prompts import Prompt

TOKENS = 24
LOGITS = 5e-3  # between devices in 32 bits, where logits are some units wide
FEATURES = 2e-3
SCHEMA = {
    "type": "object",
    "properties": {"uid": {"enum": ["p7k3mq", "k2x9ab"]}, "box": {"enum": [1, 2, 3]}},
    "required": ["uid", "box"],
    "additionalProperties": False,
}


def check_family(report: Report, folder: Path, device: str) -> None:
    """``folder`` is a tiny one, by its family's name."""
    family, here, there = folder.name, open_on(folder, "cpu"), open_on(folder, device)
    messages = conversation(here)
    pictures_alike(report, family, here, there)
    for name, several in messages.items():
        tokens_alike(report, f"{family}, {name}", here, there, several)
    prefix_kept(report, family, there, messages["pictures in both turns"])
    constrained(report, family, there)


def conversation(opened: Opened) -> dict[str, list[dict[str, Any]]]:
    first, second = picture(opened.rule, 1), picture(opened.rule, 2, 144)
    words = "Which of these photos shows the dog on the beach?"
    said = {"role": "assistant", "content": "Look at the first."}
    return {
        "words alone": [user(words)],
        "one picture": [user("p7k3mq", first, words)],
        "pictures in both turns": [user("p7k3mq", first, words), said, user("k2x9ab", second)],
    }


def greedy(
    opened: Opened, prompt: Prompt, layers: Any = (), done: int = 0
) -> tuple[list[int], Any, Any]:
    """Tokens, the scores before each of them, and the run."""
    run = opened.model.start(prompt, layers, done)
    new = [one for one in prompt.pictures if one.end > done]
    features = {one.seen.key: opened.pictures.features(one.seen, one.url) for one in new}
    scores = opened.model.prefill(run, prompt, features)
    tokens, all_scores = [], []
    for _ in range(TOKENS):
        all_scores.append(scores)
        tokens.append(int(scores.argmax()))
        scores = opened.model.step(run, tokens[-1])
    return tokens, all_scores, run


def tokens_alike(
    report: Report, name: str, here: Opened, there: Opened, messages: list[dict[str, Any]]
) -> None:
    one, two = here.prompt(messages), there.prompt(messages)
    tokens, scores, _ = greedy(here, one)
    others, other_scores, _ = greedy(there, two)
    apart = [float((a - b).abs().max()) for a, b in zip(scores, other_scores, strict=True)]
    same = next((k for k in range(TOKENS) if tokens[k] != others[k]), TOKENS)
    # Where two tokens are as likely as each other, either may win; what follows differs then.
    margin = _margin(scores[same]) if same < TOKENS else None
    good = max(apart[: same + 1]) < LOGITS and (margin is None or margin < 2 * LOGITS)
    report.check(
        f"{name}: the tokens of the CPU",
        good and np.array_equal(one.ids, two.ids),
        prompt_tokens=len(one),
        same_tokens=f"{same} of {TOKENS}",
        largest_difference=max(apart[: same + 1]),
    )


def prefix_kept(
    report: Report, family: str, opened: Opened, messages: list[dict[str, Any]]
) -> None:
    """A second turn on the keys and values of the first gives what a whole prompt gives."""
    first, whole = opened.prompt(messages[:1]), opened.prompt(messages)
    _, _, run = greedy(opened, first)
    store = Prefixes(64 << 20)
    store.keep(
        first.keys, [(k[..., : len(first), :], v[..., : len(first), :]) for k, v in run.layers()]
    )
    kept = whole.before(min(store.longest(whole.keys), len(whole) - 1))
    before = opened.model.num_prefilled
    tokens, scores, _ = greedy(opened, whole, store.layers(whole.keys[:kept]), kept)
    computed = opened.model.num_prefilled - before
    fresh, fresh_scores, _ = greedy(opened, whole)
    apart = max(float((a - b).abs().max()) for a, b in zip(scores, fresh_scores, strict=True))
    report.check(
        f"{family}: a kept prefix gives the same tokens",
        tokens == fresh and computed == len(whole) - kept and kept > 0,
        kept=kept,
        computed=computed,
        largest_difference=apart,
    )


def pictures_alike(report: Report, family: str, here: Opened, there: Opened) -> None:
    part = picture(here.rule, 3, 256)
    (one, url), (other, _) = here.pictures.seen(part), there.pictures.seen(part)
    mine, its = here.pictures.features(one, url), there.pictures.features(other, url)
    pairs = [(mine.pooled, its.pooled), *zip(mine.deep, its.deep, strict=True)]
    apart = max(float((a - b.cpu()).abs().max()) for a, b in pairs)
    report.check(
        f"{family}: a picture is seen as on the CPU",
        apart < FEATURES * max(1.0, float(mine.pooled.abs().max())),
        tokens=one.tokens,
        largest_difference=apart,
    )


def constrained(report: Report, family: str, opened: Opened) -> None:
    name = f"{family}: a reply that a schema holds"
    if find_spec("llguidance") is None:
        report.absent(name, "llguidance is not installed")
        return
    from photocraft_local.serving.transformers.grammar import Grammars
    from photocraft_local.serving.transformers.sampling import Sampler

    tokenizer = opened.processor.tokenizer
    sampler = Sampler(0.0, 0, Grammars(tokenizer, opened.model.vocabulary).held_to(SCHEMA))
    prompt = opened.prompt([user("Which?")])
    run = opened.model.start(prompt, [], 0)
    scores, written = opened.model.prefill(run, prompt, {}), []
    while (token := sampler.choose(scores)) != tokenizer.eos_token_id and len(written) < 64:
        sampler.take(token)
        written.append(token)
        scores = opened.model.step(run, token)
    text = tokenizer.decode(written)
    try:
        said = json.loads(text)
        good = said["uid"] in ("p7k3mq", "k2x9ab") and said["box"] in (1, 2, 3)
    except (ValueError, KeyError, TypeError):
        good = False
    report.check(name, good, text=text)


def _margin(scores: Any) -> float:
    best = scores.topk(2).values
    return float(best[0] - best[1])
