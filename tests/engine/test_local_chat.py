"""The model in this process: what is kept of earlier turns changes no token of the next one."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.errors import ModelError, PictureUnknown, PromptTooLong

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch and transformers")

from local_model import RecordedChat, asked, noise, same_but_for_ties, says, shown, text

FAMILIES = ("qwen2.5-vl", "qwen3-vl", "qwen3-vl-moe")
DENSE = FAMILIES[:2]
SYSTEM = says("system", "You search a library of photos and answer with their names. " * 6)
Loading = Callable[[str], Any]
Make = Callable[[str], Callable[..., dict[str, Any]]]


@pytest.fixture
def picture(checkpoint: Callable[..., Path]) -> Make:
    return lambda family: shown(checkpoint(family))


def conversation(picture: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """Eight messages, the third and fifth of them with pictures, one of them twice."""
    return [
        SYSTEM,
        says("user", "The library holds 1204 photos of 2019 to 2024. " * 3),
        says("user", text("p1:"), picture(noise(1)), text("p2:"), picture(noise(2, 90, 220))),
        says("assistant", '{"thought":"I look.","call":{"name":"recall","arguments":{}}}'),
        says("user", picture(noise(3)), text("and once more"), picture(noise(1))),
        says("assistant", "A dog, I think."),
        says("user", "<tool_response>\nnothing was found\n</tool_response>"),
        says("user", text("Which of them shows a bus?")),
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_kept_gives_the_tokens_of_a_fresh_prompt(
    loaded: Loading, picture: Make, family: str
) -> None:
    """Random cuts of a conversation, asked one after the other of one chat that keeps."""
    talk, chance = conversation(picture(family)), random.Random(family)
    same = 0
    for _ in range(4):
        keeping = RecordedChat(loaded(family))
        cuts = [*sorted(chance.sample(range(2, len(talk)), 3)), len(talk)]
        for cut in cuts:
            request = asked(talk[:cut])
            fresh = RecordedChat(loaded(family))
            expected, got = fresh.chat(request), keeping.chat(request)
            same += same_but_for_ties(keeping, fresh)
            assert got.usage.prompt == expected.usage.prompt
            assert expected.usage.cached == 0
        assert got.usage.cached > 0.3 * got.usage.prompt
    assert same > 150  # of 192


@pytest.mark.parametrize("family", DENSE)
def test_prompts_that_part_anywhere_share_what_they_have_in_common(
    loaded: Loading, picture: Make, family: str
) -> None:
    """One message is changed in its middle; other pictures stand where the first ones stood."""
    talk, chance = conversation(picture(family)), random.Random(7)
    keeping = RecordedChat(loaded(family))
    for number in range(8):
        at = chance.choice([0, 1, 2, 4])
        changed = list(talk)
        if isinstance(talk[at]["content"], str):
            cut = chance.randrange(1, len(talk[at]["content"]))
            changed[at] = says(talk[at]["role"], f"{talk[at]['content'][:cut]} number {number}.")
        else:
            changed[at] = says("user", text("p1:"), picture(family)(noise(40 + number)))
        fresh = RecordedChat(loaded(family))
        fresh.chat(asked(changed))
        kept = keeping.chat(asked(changed)).usage.cached
        same_but_for_ties(keeping, fresh)
        first, second = keeping.prompt(asked(changed)), keeping.prompt(asked(talk))
        shared = next(n for n, (a, b) in enumerate(zip(first.keys, second.keys)) if a != b)  # noqa: B905
        assert number == 0 or kept >= min(first.before(shared), len(first) - 1)
        keeping.chat(asked(talk))


def cases(picture: Callable[..., dict[str, Any]]) -> dict[str, tuple[list[Any], list[Any]]]:
    one, two, three = (picture(noise(seed)) for seed in (11, 12, 13))
    seen = says("user", one, text("context"))
    return {
        "text, then text": ([SYSTEM], [says("user", "alpha")]),
        "text, then a picture": ([SYSTEM], [says("user", one, text("look"))]),
        "a picture, then text": ([SYSTEM, seen], [says("user", "question")]),
        "pictures both times": ([SYSTEM, seen], [says("user", two, text("compare"), three)]),
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_of_suffix_gives_what_transformers_itself_gives(
    loaded: Loading, picture: Make, family: str
) -> None:
    """Its ``generate`` on the whole prompt knows nothing of our positions, pieces and tree."""
    import torch

    made = loaded(family)
    for name, (before, after) in cases(picture(family)).items():
        chat = RecordedChat(made)
        first = chat.chat(asked([*before, says("user", "x")], tokens=1))
        told = chat.chat(asked([*before, *after], tokens=16))
        assert told.usage.cached >= first.usage.prompt - 12, name
        assert (
            chat.model.num_prefilled == first.usage.prompt + told.usage.prompt - told.usage.cached
        )
        prompt = chat.prompt(asked([*before, *after]))
        inputs: dict[str, Any] = {"input_ids": torch.from_numpy(prompt.ids)[None]}
        if prompt.pictures:
            pictures = [chat.pictures._opened(one.url) for one in prompt.pictures]
            inputs |= made.processor.image_processor(images=pictures, return_tensors="pt")
            marks = inputs["input_ids"] == made.model.config.image_token_id
            inputs["mm_token_type_ids"] = marks.int()
        made.model.model.rope_deltas = None
        out = made.model.generate(
            **inputs, max_new_tokens=16, do_sample=False, return_dict_in_generate=True,
            output_logits=True,
        )  # fmt: skip
        theirs = out.sequences[0, len(prompt) :].tolist()
        for at, token in enumerate(chat.tokens):
            scores = out.logits[at][0]
            torch.testing.assert_close(chat.scores[at], scores.float(), atol=2e-3, rtol=0)
            if token != theirs[at]:
                assert abs(float(scores[token] - scores[theirs[at]])) < 1e-4, name
                break


def test_a_picture_is_encoded_once_for_all_turns_and_places(loaded: Loading, picture: Make) -> None:
    chat, show = RecordedChat(loaded("qwen3-vl")), picture("qwen3-vl")
    part = show(noise(5))
    chat.chat(asked([SYSTEM, says("user", part, text("one"))]))
    chat.chat(asked([SYSTEM, says("user", part, text("one")), says("user", "two")]))
    chat.chat(asked([says("user", text("elsewhere"), part, part)]))
    assert chat.pictures.num_encoded == 1
    chat.chat(asked([says("user", show(noise(6)))]))
    assert chat.pictures.num_encoded == 2


def by_name(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def named(part: dict[str, Any]) -> dict[str, Any]:
        return part | {"image_url": None} if part["type"] == "image_url" else part

    parts = [one["content"] for one in messages]
    return [
        one if isinstance(part, str) else one | {"content": [named(p) for p in part]}
        for one, part in zip(messages, parts, strict=True)
    ]


def test_a_picture_that_was_sent_goes_by_its_name_until_it_is_forgotten(
    loaded: Loading, picture: Make
) -> None:
    chat = RecordedChat(loaded("qwen2.5-vl"))
    talk = conversation(picture("qwen2.5-vl"))
    with pytest.raises(PictureUnknown):
        chat.chat(asked(by_name(talk)))
    first = chat.chat(asked(talk))
    assert chat.chat(asked(by_name(talk))).text == first.text
    chat.forget()
    with pytest.raises(PictureUnknown):
        chat.chat(asked(by_name(talk)))
    assert chat.chat(asked(talk)).text == first.text


def test_a_name_never_shows_another_picture(loaded: Loading, picture: Make) -> None:
    chat, show = RecordedChat(loaded("qwen3-vl")), picture("qwen3-vl")
    parts = [show(noise(seed)) | {"uuid": "same"} for seed in (1, 2)]
    said = [chat.chat(asked([says("user", part)])).text for part in parts]
    fresh = RecordedChat(loaded("qwen3-vl")).chat(asked([says("user", parts[1])])).text
    assert said[0] != said[1] == fresh


@pytest.mark.parametrize("family", DENSE)
def test_four_episodes_at_once_get_their_own_replies(
    loaded: Loading, picture: Make, family: str
) -> None:
    show, chat = picture(family), RecordedChat(loaded(family))

    def episode(number: int) -> list[list[dict[str, Any]]]:
        turns = [SYSTEM, says("user", text(f"question {number}"), show(noise(number)))]
        return [turns, [*turns, says("assistant", "So."), says("user", show(noise(9)))]]

    def run(number: int) -> list[str]:
        return [chat.chat(asked(turn)).text for turn in episode(number)]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, range(4)))
    alone = RecordedChat(loaded(family))
    assert together == [[alone.chat(asked(t)).text for t in episode(n)] for n in range(4)]
    assert len({texts[0] for texts in together}) == 4


class Stop(BaseException):
    """Ctrl-C, at a chosen place."""


@pytest.mark.parametrize("family", DENSE)
@pytest.mark.parametrize("calls", [0, 1, 4])
def test_an_interrupt_in_the_middle_of_a_token_leaves_nothing_wrong_behind(
    loaded: Loading, picture: Make, family: str, calls: int
) -> None:
    """The second layer stops when the first has taken its keys already."""
    made, talk = loaded(family), conversation(picture(family))
    chat, left = RecordedChat(made), [calls]
    chat.chat(asked(talk[:3], tokens=2))

    def stop(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    hook = made.model.model.language_model.layers[1].register_forward_pre_hook(stop)
    try:
        with pytest.raises(Stop):
            chat.chat(asked(talk))
    finally:
        hook.remove()
    chat.chat(asked(talk))
    fresh = RecordedChat(made)
    fresh.chat(asked(talk))
    same_but_for_ties(chat, fresh)


def test_without_memory_all_that_is_kept_goes_and_the_request_is_tried_again(
    loaded: Loading, picture: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    made, talk = loaded("qwen3-vl"), conversation(picture("qwen3-vl"))
    chat = RecordedChat(made)
    before = chat.chat(asked(talk))
    failures = [1]
    forward = made.model.forward

    def scarce(*arguments: Any, **more: Any) -> Any:
        failures[0] -= 1
        if failures[0] >= 0:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return forward(*arguments, **more)

    monkeypatch.setattr(made.model, "forward", scarce)
    after = chat.chat(asked(talk))
    assert (after.text, after.usage.cached) == (before.text, 0)
    failures[0] = 99
    with pytest.raises(ModelError, match="memory") as caught:
        chat.chat(asked(talk))
    assert "smaller row" in caught.value.hint
    failures[0] = 0
    assert chat.chat(asked(talk)).text == before.text


def test_prompt_and_reply_stay_within_the_window(loaded: Loading) -> None:
    chat = RecordedChat(loaded("qwen2.5-vl"), window=200)
    long = [says("user", "a bus and a dog " * 60)]
    with pytest.raises(PromptTooLong, match="the window 200"):
        chat.chat(asked(long))
    short = [says("user", "a bus and a dog " * 20)]
    told = chat.chat(asked(short, tokens=4000))
    assert told.usage.prompt + told.usage.generated <= 200


@pytest.mark.parametrize("family", FAMILIES)
def test_a_small_store_keeps_less_and_says_the_same(
    loaded: Loading, picture: Make, family: str
) -> None:
    talk = conversation(picture(family))
    small, roomy = (
        RecordedChat(loaded(family), kept=200_000, features=1),
        RecordedChat(loaded(family)),
    )
    for cut in (2, 3, 5, 8, 3, 8):
        small.chat(asked(talk[:cut]))
        roomy.chat(asked(talk[:cut]))
        same_but_for_ties(small, roomy)
        assert small._prefixes.num_bytes <= 200_000
