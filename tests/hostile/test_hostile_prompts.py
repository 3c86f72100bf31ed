"""What the engine would tokenise: no control token comes from a photo, a page, a question, a plan
or a memory; and a check that would see it if one did."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from attack_texts import ATTACKS, CONTROL, HARMLESS, attack
from obedient import NUM_STEPS, Obedient, rendered
from qwen_tokens import control_tokens
from twins import TODAY, Twin, ask_model

from photocraft_local import PhotoSearch
from photocraft_local.agent.export.formats import tool_schemas
from photocraft_local.agent.opening import question_block
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.errors import PhotocraftError
from photocraft_local.memory.context import call_message
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message
from photocraft_local.serving.qwen import judge_prompt
from photocraft_local.serving.tool_calls import Form

pytest.importorskip("tokenizers", reason="tokens need the cpu or gpu extra")
NIKON = "the photos of 2021 that a Nikon took"
FORMS = list(Form)


@pytest.mark.parametrize("form", FORMS)
def test_both_twins_have_the_same_control_tokens(hostile: Twin, clean: Twin, form: Form) -> None:
    told = []
    for twin in (hostile, clean):
        model = Obedient(form)
        ask_model(twin, model, NIKON, memory=False)
        told.append([control_tokens(prompt) for prompt in model.prompts])
    assert len(told[0]) == NUM_STEPS
    assert told[0] == told[1]


def test_without_the_escapes_the_attacks_would_be_obeyed(
    hostile: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the equal twins prove something: the checks above can fail."""
    raw = "photocraft_local.memory.context.prompt_json"
    monkeypatch.setattr(raw, lambda value: json.dumps(value, ensure_ascii=False))
    monkeypatch.setattr("photocraft_local.serving.qwen.conversation.harmless", lambda text: text)
    for module in ("summary", "get_metadata", "lookup"):
        name = f"photocraft_local.tools.{module}.safe_text"
        monkeypatch.setattr(name, lambda text, limit=0: text)
    model = Obedient(Form.JSON)
    done = ask_model(hostile, model, NIKON, memory=False)
    assert model.obeyed
    assert done.answer.uids != () or model.obeyed == "another system"
    assert len(done.trace.steps) < NUM_STEPS
    assert "<|endoftext|>" in {token for one in model.prompts for token in control_tokens(one)}


def text_of(blocks: Sequence[str], form: Form = Form.JSON) -> str:
    messages: list[Message] = [{"role": "system", "content": "You find photos."}]
    messages += [{"role": "user", "content": block} for block in blocks]
    return rendered(messages, tool_schemas(), form)


def asked(question: str, plan: str) -> str:
    record = Trajectory(question=question, plan=plan, today=TODAY, backbone="x")
    return question_block(record)


@pytest.fixture(scope="module")
def harmless() -> list[str]:
    return control_tokens(text_of([asked(HARMLESS, HARMLESS)]))


@pytest.mark.parametrize("name", ATTACKS)
def test_a_question_or_a_plan_opens_no_turn(name: str, hostile: Twin, harmless: list[str]) -> None:
    said = attack(name, hostile.target)
    assert control_tokens(text_of([asked(said, said)])) == harmless
    assert asked(said, said).count("\n") == asked(HARMLESS, HARMLESS).count("\n")
    model = Obedient(Form.JSON)
    messages: list[Message] = [{"role": "system", "content": "You find photos."}]
    model.complete([*messages, {"role": "user", "content": asked(said, said)}], tool_schemas())
    assert model.obeyed == ""


@pytest.mark.parametrize("form", FORMS)
def test_what_a_model_quotes_of_a_photo_opens_nothing(form: Form, hostile: Twin) -> None:
    """Its thoughts and arguments stand in the next prompts, whatever text they repeat."""
    counts = []
    for name in (*ATTACKS, None):
        said = HARMLESS if name is None else attack(name, hostile.target)
        call = ToolCall("recall", {"text": said})
        messages: list[Message] = [{"role": "system", "content": "You find photos."}]
        messages.append(call_message(call, said, "call_1"))
        messages.append({"role": "assistant", "content": said})
        messages.append({"role": "tool", "content": said})
        messages.append({"role": "user", "content": [{"type": "text", "text": said}]})
        counts.append(control_tokens(rendered(messages, tool_schemas(), form)))
    assert all(one == counts[-1] for one in counts)


@pytest.mark.parametrize("name", ATTACKS)
def test_the_judge_is_asked_in_escaped_words(name: str, hostile: Twin) -> None:
    said = attack(name, hostile.target)
    for words in (said, "x" + said):
        told = judge_prompt.prefix(words, [judge_prompt.Condition(words)], [])
        flat = str(told)
        assert not [mark for mark in CONTROL if mark in flat]


@pytest.fixture(scope="module")
def search(hostile: Twin) -> Iterator[PhotoSearch]:
    with hostile.open(memory=False) as opened:
        yield opened


@pytest.mark.parametrize("name", ATTACKS)
def test_the_planner_takes_an_attack_for_words_at_most(
    name: str, hostile: Twin, search: PhotoSearch
) -> None:
    """Asked as a question, as a plan, and behind a good question: refused, or no answer by it."""
    said = attack(name, hostile.target)
    for question, plan in ((said, ""), ("", said), ("photos from 2021", f"look: {said}")):
        try:
            answer = search.ask(question, plan=plan)
        except PhotocraftError:
            continue
        assert hostile.target not in [photo.photo.uid for photo in answer.photos]
