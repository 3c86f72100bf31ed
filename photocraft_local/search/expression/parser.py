"""Tokens → typed tree, by recursive descent with Python's precedence: or, and, not, comparisons.

All mistakes leave as FilterSyntaxError with the character they stand at and a way out.
"""

from __future__ import annotations

import math
import re
from typing import NoReturn

from photocraft_local.errors import FilterSyntaxError
from photocraft_local.search.expression.context import Context
from photocraft_local.search.expression.errors import Mistake
from photocraft_local.search.expression.fields import (
    FIELDS,
    FactField,
    Field,
    TextField,
    Value,
)
from photocraft_local.search.expression.functions import FUNCTIONS
from photocraft_local.search.expression.hints import EXAMPLE, example_with, unexpected
from photocraft_local.search.expression.nodes import Words
from photocraft_local.search.expression.tokens import position_of, tokens_of, unquoted
from photocraft_local.search.expression.tree import Node, conjoin, disjoin

MAX_DEPTH = 40
MAX_VALUES = 2_000

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS = frozenset({*_MIRRORED, "in", "not"})
_VALUES = (str, int, float)
_QUOTES = frozenset("\"'")
_OPENERS = frozenset({"not", "("})
_SIGNS = frozenset("+-")
_LONGEST_NUMBER = 24  # characters
_STARTS_NUMBER = frozenset("0123456789.-+")
_DATE = re.compile(r"\d{4}-\d\d?(-|$)", re.ASCII)
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
        node = self.conjunction()
        if self.tokens[self.at] != "or":
            return node
        parts = [node]
        while self.tokens[self.at] == "or":
            self.at += 1
            parts.append(self.conjunction())
        return disjoin(parts)

    def conjunction(self) -> Node:
        tokens = self.tokens
        parts: list[Node] = []
        while True:
            word = tokens[self.at]
            parts.append(self.negation(word) if word in _OPENERS else self.condition(word))
            if tokens[self.at] != "and":
                return parts[0] if len(parts) == 1 else conjoin(parts)
            self.at += 1

    def negation(self, word: str) -> Node:
        """``not …`` or ``( … )``."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"the filter is nested more than {MAX_DEPTH} deep", hint="simplify it")
        self.at += 1
        if word == "(":
            node = self.disjunction()
            self.expect(")")
        else:
            word = self.tokens[self.at]
            inner = self.negation(word) if word in _OPENERS else self.condition(word)
            node = inner.negated()
        self.depth -= 1
        return node

    def condition(self, token: str) -> Node:
        """A function, a field that is a condition by itself, or a chain of comparisons."""
        if token in FUNCTIONS:
            return self.call(token)
        tokens, start = self.tokens, self.at
        left = self.operand(token)
        operator = tokens[self.at]
        if operator not in _COMPARISONS:
            return self.alone(left, start)
        parts: list[Node] = []
        while operator in _COMPARISONS:
            where = self.at
            self.at = where + 1
            if operator == "in" or operator == "not":
                parts.append(self.membership(left, where, start))
                break
            start = where + 1
            right = self.operand(tokens[start])
            parts.append(self.comparison(left, operator, right, where))
            left, operator = right, tokens[self.at]
        return parts[0] if len(parts) == 1 else conjoin(parts)

    def comparison(
        self, left: Field | Value, operator: str, right: Field | Value, where: int
    ) -> Node:
        value_at = where + 1
        if not isinstance(right, _VALUES):
            left, right, operator, value_at = right, left, _MIRRORED[operator], where - 1
        try:
            if not isinstance(left, _VALUES) and isinstance(right, _VALUES):
                return left.compare(operator, right, self.context)
        except Mistake as exc:
            self.fail(exc.message, value_at, exc.hint, exc)
        both = "constants" if isinstance(left, _VALUES) else "fields"
        return self.fail(f"two {both} are compared", where, "compare a field with a value")

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
        if isinstance(left, _VALUES):
            self.fail("a constant stands before in", start, hint="write field in (value, value)")
        parts = self.values(left)
        if isinstance(left, TextField):
            words = [part for part in parts if isinstance(part, Words)]
            values = tuple(value for part in words for value in part.values)
            meant = tuple(name for part in words for name in part.meant)
            node = Words(left.name, values, left.contains, meant=meant)
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
            value = self.operand(self.tokens[where])
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
        tokens = self.tokens
        self.at = start + 1
        self.expect("(")
        if name == "match_address" and tokens[self.at : self.at + 2] == ["address", ","]:
            self.at += 2
        arguments: list[Value] = []
        while (token := tokens[self.at]) != ")":
            value = self.operand(token)
            if not isinstance(value, _VALUES):
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

    def operand(self, token: str) -> Field | Value:
        """The field or value that begins with ``token``, the one at hand."""
        first = token[:1]
        if first in _QUOTES:
            if len(token) == 1:
                self.fail("this text is not closed", hint=f"add {first} at its end")
            self.at += 1
            return unquoted(token) if "\\" in token else token[1:-1]
        if first in _STARTS_NUMBER:
            return self.number(token)
        if token not in FIELDS and token not in _CONSTANTS:
            self.fail_unexpected("a field, a function or a value")
        self.at += 1
        return FIELDS[token] if token in FIELDS else _CONSTANTS[token]

    def number(self, token: str) -> int | float:
        negative = False
        while token in _SIGNS:
            negative ^= token == "-"  # noqa: S105
            self.at += 1
            token = self.tokens[self.at]
        try:
            if len(token) <= _LONGEST_NUMBER:
                value = float(token)
                if math.isfinite(value):
                    self.at += 1
                    whole = value.is_integer() and "." not in token
                    number = int(value) if whole else value
                    return -number if negative else number
        except ValueError:
            pass
        token = token[:_LONGEST_NUMBER]
        if _DATE.match(token):
            self.fail(f"the date {token} stands without quotes", hint=f'write "{token}"')
        return self.fail(f"{token!r} is not a number", hint="write it as 12 or 12.5")

    def alone(self, left: Field | Value, start: int) -> Node:
        if isinstance(left, FactField):
            return left.alone()
        if isinstance(left, _VALUES):
            self.fail("a value stands by itself", start, hint=f"compare it: {example_with(left)}")
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
        self.fail(*unexpected(self.tokens, self.at, wanted))

    def fail(
        self,
        message: str,
        index: int | None = None,
        hint: str = "",
        cause: Exception | None = None,
    ) -> NoReturn:
        position = position_of(self.text, self.at if index is None else index)
        raise FilterSyntaxError(
            f"filter, character {position + 1}: {message}", position=position, hint=hint or EXAMPLE
        ) from cause
