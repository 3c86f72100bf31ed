"""Arguments against a JSON schema: the strict subset that the tools' schemas use.

Same verdict as JSON Schema 2020-12 on that subset, but that nan, infinity and unpaired
surrogates are refused: they are no JSON text. Messages are written for a model that has to mend
its call. A schema with any other keyword is refused, never half-checked.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from photocraft_local.records import Json

Schema = Mapping[str, Any]

_KEYWORDS: dict[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "enum"}),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
}
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ALWAYS = frozenset({"type", "description"})


def check_schema(schema: Schema, where: str = "schema") -> None:
    """Raise ValueError for a schema outside the subset: a programming error in a tool."""
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        raise ValueError(f"{where}: type must be one of {sorted(_KEYWORDS)}, got {kind!r}")
    unknown = set(schema) - _KEYWORDS[kind] - _ALWAYS
    if unknown:
        raise ValueError(f"{where}: keywords {sorted(unknown)} are not checked for {kind}")
    if kind == "object":
        _check_object_schema(schema, where)
    if kind == "array":
        check_schema(schema["items"], f"{where}[]")


def _check_object_schema(schema: Schema, where: str) -> None:
    if schema.get("additionalProperties") is not False:
        raise ValueError(f"{where}: additionalProperties must be false")
    properties = schema["properties"]
    missing = set(schema.get("required", ())) - set(properties)
    if missing:
        raise ValueError(f"{where}: required {sorted(missing)} are not properties")
    for name, part in properties.items():
        check_schema(part, f"{where}.{name}")


def problems(value: Json, schema: Schema, where: str = "") -> Iterator[str]:
    """Everything about ``value`` that breaks ``schema``, one sentence each."""
    kind = schema["type"]
    if not _IS[kind](value):
        yield f"{where or 'the arguments'} must be {_article(kind)}, got {_shown(value)}"
        return
    yield from _CHECKS[kind](value, schema, where)


def normalised(value: Json, schema: Schema) -> Json:
    """A valid value in plain form: whole floats become ints where an integer is asked for."""
    kind = schema["type"]
    if kind == "object":
        parts = schema["properties"]
        return {name: normalised(item, parts[name]) for name, item in value.items()}
    if kind == "array":
        return [normalised(item, schema["items"]) for item in value]
    return int(value) if kind == "integer" else value


def close_to(word: str, known: list[str]) -> str:
    """`` (did you mean 'x'?)`` or nothing."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.55)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _object(value: dict[str, Json], schema: Schema, where: str) -> Iterator[str]:
    parts: Mapping[str, Schema] = schema["properties"]
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{_at(where, name)} is missing: {parts[name].get('description', '')}".rstrip()
    for name, item in value.items():
        if name in parts:
            yield from problems(item, parts[name], _at(where, name))
        else:
            near = close_to(str(name), sorted(parts))
            known = ", ".join(sorted(parts)) or "none"
            yield f"{_at(where, _shown(name))} is not an argument{near}; known: {known}"


def _array(value: list[Json], schema: Schema, where: str) -> Iterator[str]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        yield f"{where} has {len(value)} items, {_bounds(least, most)} are allowed"
    for index, item in enumerate(value):
        yield from problems(item, schema["items"], f"{where}[{index}]")


def _string(value: str, schema: Schema, where: str) -> Iterator[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if not least <= len(value) <= most:
        yield f"{where} has {len(value)} characters, {_bounds(least, most)} are allowed"
    if _SURROGATE.search(value):
        yield f"{where} holds half a character (an unpaired surrogate)"
    if "enum" in schema and value not in schema["enum"]:
        choices = ", ".join(schema["enum"])
        yield f"{where} must be one of: {choices}; got {_shown(value)}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where} has the wrong form, got {_shown(value)}; it is: {_meaning(schema)}"


def _number(value: float, schema: Schema, where: str) -> Iterator[str]:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if not least <= value <= most:
        bounds = _bounds(least, most)
        yield f"{where} is {value}, {bounds} is allowed; it is: {_meaning(schema)}"


def _boolean(value: bool, schema: Schema, where: str) -> Iterator[str]:
    yield from ()


def _is_number(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) or math.isfinite(value)


_IS: dict[str, Callable[[Json], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),
}
_CHECKS: dict[str, Callable[[Any, Schema, str], Iterator[str]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
}


def _at(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _article(kind: str) -> str:
    words = {"array": "a list", "boolean": "true or false", "integer": "a whole number"}
    return words.get(kind, f"an {kind}" if kind == "object" else f"a {kind}")


def _bounds(least: float, most: float) -> str:
    if math.isinf(most):
        return f"at least {least}"
    return f"at most {most}" if math.isinf(least) else f"{least} to {most}"


def _meaning(schema: Schema) -> str:
    return str(schema.get("description", "not described"))


def _shown(value: Json) -> str:
    """The offending value, short."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
