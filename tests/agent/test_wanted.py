"""Questions that want words, and questions that want photos."""

from __future__ import annotations

import pytest

from photocraft_local.agent.answers import answer_of
from photocraft_local.agent.wanted import asks_for_words
from photocraft_local.records import Observation, Step, ToolCall

WORDS = """
what does the sign say
What's the number on the door?
how many dogs are there in this picture
when was I in Berlin
in which city was this taken
which camera did I use in Boston
and where is this
is there a dog in this picture
In 2021 we were in Rome. How often?
read the sign
tell me what stands on the menu
Was steht auf dem Schild?
wie viele Hunde sind auf dem Bild
wo war das
combien de chats y a-t-il sur cette photo
qu'est-ce qui est écrit
où est-ce
¿qué dice el cartel?
cuántos perros hay
牌子上写着什么
有几张照片
这是哪里
""".strip().splitlines()

PHOTOS = """
dogs on a beach
photos of a dog
which photos show a dog
what photos did I take in Rome
welche Fotos zeigen einen Hund
quelles photos de Paris
qué fotos tengo de Roma
show me the sign that says stop
the day when we saw the cat
war memorials in Berlin
hat and scarf
all pictures where it rains
more of this
哪些照片里有狗
狗的照片
""".strip().splitlines()


@pytest.mark.parametrize("question", WORDS)
def test_it_wants_words(question: str) -> None:
    assert asks_for_words(question)


def test_a_long_question_costs_little() -> None:
    for piece in ("\n", " ", ", ", ",\n", "and ", "dog "):
        assert not asks_for_words(piece * 100_000)


@pytest.mark.parametrize("question", PHOTOS)
def test_it_wants_photos(question: str) -> None:
    assert not asks_for_words(question)


@pytest.mark.parametrize(
    ("question", "said", "text", "reason"),
    [
        ("what does the sign say", {"text": "STOP"}, "STOP", ""),
        ("what does the sign say", {"text": "", "reason": "no sign"}, "no sign", "no sign"),
        ("how many dogs", {"text": "none", "reason": "no dog"}, "none", "no dog"),
        ("dogs on a beach", {"text": "none is seen"}, "none is seen", "none is seen"),
        ("dogs on a beach", {"text": ""}, "", ""),
        ("my holiday in 2021\nhow many beaches?", {"text": "none"}, "none", ""),
        ("a dog\r\n  what colour is it", {"text": "red"}, "red", ""),
        ("a dog\u2028a cat", {"text": "none is seen"}, "none is seen", "none is seen"),
    ],
)
def test_a_text_without_photos_answers_only_a_question_that_wants_words(
    question: str, said: dict[str, str], text: str, reason: str
) -> None:
    data = {"accepted": True, "photos": [], "evidence": {}, **said}
    call = ToolCall("submit_answer", {})
    answer = answer_of(question, [Step(1, call, Observation("submit_answer", data=data))])
    assert (answer.text, answer.reason) == (text, reason)
