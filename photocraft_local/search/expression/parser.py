"""Tokens → typed tree, by recursive descent with Python's precedence: or, and, not, comparisons.

All mistakes leave as FilterSyntaxError with the character they stand at and a way out.
"""

from __future__ import annotations

import math
from typing import NoReturn

from photocraft_local.errors import FilterSyntaxError
from photocraft_local.search.expression.errors import Mistake, did_you_mean
from photocraft_local.search.expression.fields import (
    FIELDS,
    FactField,
    Field,
    TextField,
    Value,
)
from photocraft_local.search.expression.functions import FUNCTIONS, Context
from photocraft_local.search.expression.nodes import Node, Words, conjoin, disjoin
from photocraft_local.search.expression.tokens import position_of, tokens_of, unquoted

MAX_DEPTH = 40
MAX_VALUES = 2_000

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS = frozenset({*_MIRRORED, "in", "not"})
_STARTS_NUMBER = frozenset("0123456789.-+")
_INSTEAD = {
    "=": "write == to compare",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    "~": "write == ; camera and address match parts of the text by themselves",
    "AND": "write and",
    "OR": "write or",
    "NOT": "write not",
    "is": "write ==",
    "like": "write == ; camera and address match parts of the text by themselves",
    "between": "write low <= field <= high",
    "None": "write not has_time, not has_gps, not has_place or not has_camera",
}
_CONSTANTS = {"True": True, "False": False, "true": True, "false": False}


def parse(text: str, context: Context) -> Node:
    """The tree of a filter expression. Raises FilterSyntaxError, PlaceNotFound."""
    parser = _Parser(text, context)
    if parser.tokens[0] == "":
        parser.fail("the filter is empty", hint='write a condition such as date == "2021-06"')
    node = parser.disjunction()
    if parser.tokens[parser.at]:
        parser.fail_unexpected("and, or or the end")
    return node


class _Parser:
    __slots__ = ("at", "context", "depth", "text", "tokens")

    def __init__(self, text: str, context: Context) -> None:
        self.text = text
        self.context = context
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = 0

    def disjunction(self) -> Node:
        parts = [self.conjunction()]
        while self.tokens[self.at] == "or":
            self.at += 1
            parts.append(self.conjunction())
        return disjoin(parts)

    def conjunction(self) -> Node:
        parts = [self.negation()]
        while self.tokens[self.at] == "and":
            self.at += 1
            parts.append(self.negation())
        return conjoin(parts)

    def negation(self) -> Node:
        word = self.tokens[self.at]
        if word != "not" and word != "(":
            return self.condition()
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.at -= 1
            self.fail(f"the filter is nested more than {MAX_DEPTH} deep", hint="simplify it")
        if word == "not":
            node = self.negation().negated()
        else:
            node = self.disjunction()
            self.expect(")")
        self.depth -= 1
        return node

    def condition(self) -> Node:
        """A function, a field that is a condition by itself, or a chain of comparisons."""
        start = self.at
        token = self.tokens[start]
        if token in FUNCTIONS:
            return self.call(token)
        left = self.operand()
        if self.tokens[self.at] not in _COMPARISONS:
            return self.alone(left, start)
        parts: list[Node] = []
        while (operator := self.tokens[self.at]) in _COMPARISONS:
            where = self.at
            self.at += 1
            if operator == "in" or operator == "not":
                parts.append(self.membership(left, where, start))
                break
            right_at = self.at
            right = self.operand()
            parts.append(self.comparison(left, operator, right, where))
            left, start = right, right_at
        return conjoin(parts)

    def comparison(
        self, left: Field | Value, operator: str, right: Field | Value, where: int
    ) -> Node:
        if isinstance(right, (str, int, float)):
            field, value = left, right
        else:
            field, value = right, left  # type: ignore[assignment]
            operator = _MIRRORED[operator]
        if isinstance(field, (str, int, float)):
            self.fail("two constants are compared", where, hint="compare a field with a value")
        if not isinstance(value, (str, int, float)):
            self.fail("two fields are compared", where, hint="compare a field with a value")
        try:
            return field.compare(operator, value, self.context.today)
        except Mistake as exc:
            self.fail(exc.message, where - 1 if value is left else where + 1, exc.hint, exc)

    def membership(self, left: Field | Value, where: int, start: int) -> Node:
        negative = self.tokens[where] == "not"
        if negative:
            self.expect("in")
        if isinstance(left, str) and self.tokens[self.at] in FIELDS:  # "Lisbon" in address
            field = FIELDS[self.tokens[self.at]]
            if not isinstance(field, TextField):
                self.fail(f"{field.name} is not a text", hint="write field in (value, value)")
            self.at += 1
            node: Node = self.comparison(field, "==", left, start - 1)
            return node.negated() if negative else node
        if isinstance(left, (str, int, float)):
            self.fail("a constant stands before in", start, hint="write field in (value, value)")
        parts = self.values(left)
        if isinstance(left, TextField):
            words = tuple(v for part in parts if type(part) is Words for v in part.values)
            node = Words(left.name, words, left.contains)
        else:
            node = disjoin(parts)
        return node.negated() if negative else node

    def values(self, field: Field) -> list[Node]:
        """The list after ``in``, each value as field == value."""
        opening = self.tokens[self.at]
        if opening not in ("(", "["):
            self.fail_unexpected('a list such as ("a", "b")')
        closing = ")" if opening == "(" else "]"
        parts: list[Node] = []
        self.at += 1
        while self.tokens[self.at] != closing:
            where = self.at
            value = self.operand()
            if len(parts) >= MAX_VALUES:
                self.fail(f"the list has more than {MAX_VALUES} values", where)
            parts.append(self.comparison(field, "==", value, where - 1))
            if self.tokens[self.at] == ",":
                self.at += 1
            elif self.tokens[self.at] != closing:
                self.fail_unexpected(f"a comma or {closing}")
        self.at += 1
        if not parts:
            self.fail("the list is empty", self.at - 1, hint='write in ("a", "b")')
        return parts

    def call(self, name: str) -> Node:
        start = self.at
        self.at += 1
        self.expect("(")
        arguments: list[Value] = []
        tokens = self.tokens
        if name == "match_address" and tokens[self.at : self.at + 2] == ["address", ","]:
            self.at += 2
        while tokens[self.at] != ")":
            value = self.operand()
            if not isinstance(value, (str, int, float)):
                self.fail(f"{name}() takes values, not fields", self.at - 1)
            arguments.append(value)
            if tokens[self.at] == ",":
                self.at += 1
            elif tokens[self.at] != ")":
                self.fail_unexpected("a comma or )")
        self.at += 1
        try:
            return FUNCTIONS[name](arguments, self.context)
        except Mistake as exc:
            self.fail(exc.message, start, exc.hint, exc)

    def operand(self) -> Field | Value:
        token = self.tokens[self.at]
        field = FIELDS.get(token)
        if field is not None:
            self.at += 1
            return field
        first = token[:1]
        if first == '"' or first == "'":
            if len(token) < 2:
                self.fail("this text is not closed", hint=f"add {first} at its end")
            self.at += 1
            return unquoted(token)
        if first in _STARTS_NUMBER and first:
            return self.number()
        if token in _CONSTANTS:
            self.at += 1
            return _CONSTANTS[token]
        return self.fail_unexpected("a field, a function or a value")

    def number(self) -> int | float:
        sign = 1
        while (digits := self.tokens[self.at]) in ("-", "+"):
            sign = -sign if digits == "-" else sign
            self.at += 1
        try:
            if len(digits) > 30 or not digits.isascii():
                raise ValueError(digits)
            value: int | float = int(digits) if digits.isdecimal() else float(digits)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or digits[0] not in ".0123456789":
            self.fail(f"{digits[:30]!r} is not a number", hint="write it as 12 or 12.5")
        self.at += 1
        return sign * value

    def alone(self, left: Field | Value, start: int) -> Node:
        if isinstance(left, FactField):
            return left.alone()
        if isinstance(left, (str, int, float)):
            self.fail("a value stands by itself", start, hint=f"compare it: {_example(left)}")
        if self.tokens[self.at] in ("", "and", "or", ")"):
            self.fail(
                f"{left.name} stands by itself",
                start,
                hint=f"compare it: {left.name} == …; known fields: {', '.join(FIELDS)}",
            )
        return self.fail_unexpected(f"a comparison after {left.name}")

    def expect(self, token: str) -> None:
        if self.tokens[self.at] != token:
            self.fail_unexpected(token)
        self.at += 1

    # -- mistakes --------------------------------------------------------------------------

    def fail_unexpected(self, wanted: str) -> NoReturn:
        token = self.tokens[self.at]
        if not token:
            self.fail(f"the filter ends where {wanted} should follow", hint="complete it")
        hint = _INSTEAD.get(token, "")
        previous = self.tokens[self.at - 1] if self.at else ""
        if not hint and previous in _INSTEAD and previous not in FIELDS:
            hint = _INSTEAD[previous]
        if not hint and (token[0].isalpha() or token[0] == "_"):
            if self.tokens[self.at + 1 : self.at + 2] == ["("]:
                self.fail(f"unknown function {token[:60]!r}", hint=did_you_mean(token, FUNCTIONS))
            known = [*FIELDS, *FUNCTIONS]
            if "a field" in wanted:
                self.fail(f"unknown field {token[:60]!r}", hint=_field_hint(token, known))
        self.fail(f"{token[:60]!r} where {wanted} should stand", hint=hint)

    def fail(
        self,
        message: str,
        index: int | None = None,
        hint: str = "",
        cause: Exception | None = None,
    ) -> NoReturn:
        position = position_of(self.text, self.at if index is None else index)
        raise FilterSyntaxError(
            f"filter, character {position + 1}: {message}", position=position, hint=hint
        ) from cause


def _field_hint(token: str, known: list[str]) -> str:
    quoted = f'text stands in quotes: "{token[:60]}"'
    return did_you_mean(token, known, f"known fields: {', '.join(FIELDS)}; {quoted}")


def _example(value: Value) -> str:
    if isinstance(value, str):
        return f'city == "{value[:40]}" or place("{value[:40]}")'
    return f"year == {value!r}"
