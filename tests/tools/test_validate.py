"""The small validator gives JSON Schema's verdict, and messages that mend a call."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from photocraft_local.tools import schema
from photocraft_local.tools.validate import check_schema, normalised, problems

SAMPLE = schema.arguments(
    "text",
    text=schema.words("words", longest=5),
    name=schema.set_name("a set."),
    mode=schema.choice("how", ["fast", "slow"]),
    k=schema.whole("how many", 1, 20),
    km=schema.number("distance", 0, 100.5),
    exact=schema.flag("all"),
    photos=schema.uids("some", most=3),
    evidence=schema.many(
        schema.arguments("rule", rule=schema.words("rule"), photos=schema.uids("which")),
        "why",
        least=0,
    ),
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.sampled_from([0.0, 1.0, 2.5, 20.0, 100.5, 100.6, -0.0]),
    st.sampled_from(["", "fast", "slow", "beach", "a_1", "1a", "toolong", "é"]),
)
keys = st.sampled_from([*SAMPLE["properties"], "rule", "extra", "Text"])
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=12,
)
PLAUSIBLE = {
    "text": st.sampled_from(["dog", "", "toolong", 4]),
    "name": st.sampled_from(["beach", "1", "a b", "x" * 33]),
    "mode": st.sampled_from(["fast", "quick"]),
    "k": st.sampled_from([1, 20, 21, 0, 2.0, 2.5, True, "3"]),
    "km": st.sampled_from([0, 100.5, 101, -0.1, True]),
    "exact": st.sampled_from([True, 0, "true"]),
    "photos": st.lists(st.sampled_from(["p1", "", 3]), max_size=4),
    "evidence": st.lists(st.fixed_dictionaries({"rule": scalars}), max_size=2),
}
plausible = st.fixed_dictionaries({}, optional=PLAUSIBLE)


@given(st.one_of(values, plausible))
@settings(max_examples=800, deadline=None)
def test_the_verdict_equals_the_reference_validator(value: object) -> None:
    reference = jsonschema.Draft202012Validator(SAMPLE)
    assert (not list(problems(value, SAMPLE))) == reference.is_valid(value)


@given(plausible)
@settings(max_examples=300, deadline=None)
def test_normalised_arguments_stay_equal_and_valid(value: dict[str, object]) -> None:
    if list(problems(value, SAMPLE)):
        return
    plain = normalised(value, SAMPLE)
    assert plain == value
    assert type(plain.get("k", 1)) is int


def messages(value: object) -> str:
    return "\n".join(problems(value, SAMPLE))


def test_messages_name_the_argument_and_the_way_out() -> None:
    assert messages({}) == "text is missing: words"
    assert "'txt' is not an argument (did you mean 'text'?)" in messages({"text": "a", "txt": "b"})
    assert "k must be a whole number, got '3'" in messages({"text": "a", "k": "3"})
    zero = messages({"text": "a", "k": 0})
    assert "k is 0, 1 to 20 is allowed; it is: how many" in zero
    assert "one of: fast, slow" in messages({"text": "a", "mode": "quick"})
    assert "evidence[0].photos[1] must be a string" in messages(
        {"text": "a", "evidence": [{"rule": "r", "photos": ["p1", 5]}]}
    )
    assert "photos has 4 items, 1 to 3 are allowed" in messages({"text": "a", "photos": ["p"] * 4})
    assert messages([1]).startswith("the arguments must be an object")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_must_be_finite(number: float) -> None:
    assert "km must be a number" in messages({"text": "a", "km": number})


def test_half_characters_are_refused() -> None:
    assert "unpaired surrogate" in messages({"text": "a\ud800"})
    assert messages({"text": "😀"}) == ""


def test_a_huge_offending_value_is_shown_short() -> None:
    assert len(messages({"text": "a", "mode": "q" * 100_000})) < 200


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "object", "properties": {}},
        {"type": "string", "format": "date"},
        {"type": ["string", "null"]},
        {"type": "object", "properties": {}, "additionalProperties": False, "required": ["x"]},
        {"type": "array", "items": {"type": "null"}},
    ],
)
def test_a_schema_outside_the_subset_is_a_programming_error(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="schema"):
        check_schema(bad)
